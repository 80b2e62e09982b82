#include "kindred/runs/run_record.h"

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/methods/policy_search/partitions/alternatives.h"

namespace kindred {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 2;  // 1 did not say which data a run was made from

/// What a record must hold: an object names fields, an array says what each of its elements is, and
/// a text is a kind of value. "number" may be null, which is how JSON writes infinity.
const Json& required_fields() {
  static const Json fields = {
      {"version", "text"},
      {"method", "text"},
      {"command", "text"},
      {"started", "text"},
      {"dataset",
       {{"path", "text"},
        {"format", "text"},
        {"episodes", "count"},
        {"steps", "count"},
        {"obs_dim", "count"},
        {"action", {{"kind", "text"}}},
        {"reading", "object"},
        {"fingerprint",
         {{"episodes", "count"},
          {"steps", "count"},
          {"obs_dim", "count"},
          {"discrete", "flag"},
          {"actions", "count"},
          {"episode_hash", "text"},
          {"observation_hash", "text"},
          {"action_hash", "text"}}}}},
      {"options", "object"},
      {"result",
       {{"k", "count"},
        {"sizes", Json::array({"count"})},
        {"objective", "number"},
        {"rounds", "count"},
        {"converged", "flag"},
        {"best_restart", "count"},
        {"agreement",
         {{"verdict", "text"},
          {"good_restarts", "count"},
          {"same_restarts", "count"},
          {"mean_nmi", "number"},
          {"least_nmi", "number"}}}}},
      {"restarts", Json::array({{{"restart", "count"},
                                 {"rounds", "count"},
                                 {"converged", "flag"},
                                 {"objective", "number"},
                                 {"merges", "array"}}})},
      {"trace", Json::array({{{"restart", "count"},
                              {"round", "count"},
                              {"objective", "number"},
                              {"changed", "count"},
                              {"sizes", Json::array({"count"})},
                              {"seconds", "number"}}})},
      {"timings", {{"fit", "number"}}},
      {"machine", {{"device", "text"}, {"threads", "count"}, {"peak_rss_mb", "number"}}}};
  return fields;
}

/// What it must hold under "result.alternatives", which not every method looks for.
const Json& alternative_fields() {
  static const Json fields = Json::array({{{"v", "number"}, {"nmi", "number"}}});
  return fields;
}

bool is_kind(const Json& value, const std::string& kind) {
  if (kind == "text") return value.is_string();
  if (kind == "count") return value.is_number_integer() && value >= 0;
  if (kind == "number") return value.is_number() || value.is_null();
  if (kind == "flag") return value.is_boolean();
  if (kind == "array") return value.is_array();
  return value.is_object();
}

/// Throws DataFormatError at the first field of `value` that is not as `expected` says.
void require_fields(const Json& value, const Json& expected, const std::string& where,
                    const std::filesystem::path& path) {
  const std::string kind = expected.is_string()  ? expected.get<std::string>()
                           : expected.is_array() ? "array"
                                                 : "object";
  if (!is_kind(value, kind))
    throw DataFormatError("'{}' is damaged: '{}' should be {} {}", path.string(), where,
                          kind == "array" || kind == "object" ? "an" : "a", kind);
  if (expected.is_object())
    for (const auto& [name, field] : expected.items()) {
      const auto inside = where.empty() ? name : where + "." + name;
      if (!value.contains(name))
        throw DataFormatError("'{}' is damaged: '{}' is missing", path.string(), inside);
      require_fields(value.at(name), field, inside, path);
    }
  if (expected.is_array())
    for (std::size_t i = 0; i < value.size(); ++i)
      require_fields(value[i], expected[0], fmt::format("{}[{}]", where, i), path);
}

std::vector<std::int64_t> cluster_sizes(const Clustering& clustering) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(clustering.k()), 0);
  for (const auto label : clustering.labels) ++sizes[static_cast<std::size_t>(label)];
  return sizes;
}

Json describe_restart(const RestartSummary& restart) {
  auto merges = Json::array();
  for (const auto& merge : restart.merges)
    merges.push_back({{"from", merge.from}, {"into", merge.into}, {"objective", merge.objective}});
  return {{"restart", restart.restart},
          {"rounds", restart.iterations},
          {"converged", restart.converged},
          {"objective", restart.objective},
          {"objective_before_merge", restart.objective_before_merge},
          {"merges", merges}};
}

/// How well each number of clusters predicts episodes that were held out.
void describe_considered(const Clustering& clustering, Json& result) {
  auto all = Json::array();
  for (const auto& one : clustering.considered) {
    all.push_back({{"k", one.k},
                   {"v", one.v},
                   {"gain", one.gain},
                   {"gain_error", one.gain_error},
                   {"agreement", one.agreement},
                   {"different", one.relations.different},
                   {"same", one.relations.same},
                   {"never_met", one.relations.never_met},
                   {"undecided", one.relations.undecided},
                   {"least_z", one.relations.least_z},
                   {"conflict", one.conflict}});
  }
  result["considered"] = all;
  if (clustering.k_found && !clustering.count)
    result["almost_as_good"] =
        policy_search::fewer_almost_as_good(clustering.considered, clustering.k());
}

/// What conflicts say of the number of policies and of every two clusters.
void describe_count(const PolicyCount& count, Json& result) {
  const auto described = [](const PairVerdict& pair) {
    return Json{{"clusters", {pair.first, pair.second}},
                {"relation", name_of(pair.relation)},
                {"z", pair.z},
                {"foretold", pair.foretold},
                {"met", pair.met},
                {"steps", pair.example}};
  };
  auto pairs = Json::array();
  for (const auto& pair : count.pairs) pairs.push_back(described(pair));
  result.update({{"k_least", count.least},
                 {"k_most", count.most},
                 {"sure", count.sure},
                 {"doubt", count.doubt},
                 {"view", count.view},
                 {"persistence", count.persistence},
                 {"pairs", pairs}});
  if (const auto& two = count.best_two)
    result["best_two"] = {{"sizes", two->sizes}, {"v", two->v}, {"pair", described(two->pair)}};
  if (count.episodes.known)
    result["episodes_differ"] = {{"z", count.episodes.z},
                                 {"share", count.episodes.share},
                                 {"error", count.episodes.error},
                                 {"met", count.episodes.met}};
}

}  // namespace

void RunRecord::write(const std::filesystem::path& path) const {
  const Json document = {{"kindred_run", kFormatVersion},
                         {"version", version},
                         {"method", method},
                         {"command", command},
                         {"started", started},
                         {"dataset", dataset},
                         {"options", options},
                         {"result", result},
                         {"restarts", restarts},
                         {"timings", timings},
                         {"machine", machine},
                         {"trace", trace}};
  // File names need not be UTF-8; JSON must be.
  write_text(path, document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

RunRecord RunRecord::read(const std::filesystem::path& path) {
  const auto document = Json::parse(read_text(path), nullptr, false);
  if (!document.is_object() || !document.contains("kindred_run") ||
      !document["kindred_run"].is_number_integer())
    throw DataFormatError("'{}' is not a run record", path.string());
  const std::int64_t format = document["kindred_run"];
  if (format > kFormatVersion)
    throw DataFormatError("'{}' has run format {}, this program knows up to {}; use a newer one",
                          path.string(), format, kFormatVersion);
  if (format < kFormatVersion)
    throw DataFormatError(
        "'{}' has run format {}, which does not say what data it was made from; repeat the run "
        "with 'kindred cluster'",
        path.string(), format);
  require_fields(document, required_fields(), "", path);
  if (document["dataset"].contains("files"))
    require_fields(document["dataset"]["files"], Json::array({"text"}), "dataset.files", path);
  if (document["result"].contains("alternatives"))
    require_fields(document["result"]["alternatives"], alternative_fields(), "result.alternatives",
                   path);
  return {document["version"], document["method"],  document["command"], document["started"],
          document["dataset"], document["options"], document["result"],  document["restarts"],
          document["trace"],   document["timings"], document["machine"]};
}

std::optional<std::int64_t> asked_k(const nlohmann::ordered_json& options) {
  if (!options.is_object() || !options.contains("k") || !options["k"].is_number_integer())
    return std::nullopt;
  const auto merge_to = options.value("merge-to", std::int64_t{0});
  return merge_to > 0 ? merge_to : options["k"].get<std::int64_t>();
}

void describe_clustering(const Clustering& clustering, RunRecord& record) {
  const auto agreement = restart_agreement(clustering);
  const auto& best = clustering.restarts.at(static_cast<std::size_t>(clustering.best_restart));
  record.method = clustering.method;
  record.options = clustering.options;
  record.timings = clustering.timings;
  record.timings["fit"] = clustering.seconds;
  record.result = {{"k", clustering.k()},
                   {"sizes", cluster_sizes(clustering)},
                   {"objective", clustering.objective},
                   {"objective_before_merge", best.objective_before_merge},
                   {"rounds", clustering.iterations},
                   {"converged", clustering.converged},
                   {"best_restart", clustering.best_restart},
                   {"agreement",
                    {{"verdict", agreement.verdict},
                     {"good_restarts", agreement.good},
                     {"same_restarts", agreement.same},
                     {"mean_nmi", agreement.mean_nmi},
                     {"least_nmi", agreement.least_nmi}}}};
  record.result["k_found"] = clustering.k_found;
  if (const auto asked = asked_k(clustering.options); asked && !clustering.k_found)
    record.result["k_asked"] = *asked;
  if (!clustering.considered.empty()) describe_considered(clustering, record.result);
  if (clustering.judgement)
    record.result.update({{"v", clustering.judgement->v},
                          {"v_of_one", clustering.judgement->v_of_one},
                          {"v_gain", clustering.judgement->gain},
                          {"v_gain_error", clustering.judgement->gain_error},
                          {"v_judged", clustering.judgement->judged}});
  if (clustering.count) describe_count(*clustering.count, record.result);
  if (clustering.searched > 0) {  // others do not look for alternatives
    record.result["searched"] = clustering.searched;
    record.result["mixed_episodes"] = clustering.mixed_episodes;
    Json alternatives = Json::array();
    for (const auto& other : clustering.alternatives)
      alternatives.push_back({{"v", other.v}, {"nmi", other.nmi}});
    record.result["alternatives"] = alternatives;
  }
  record.restarts = Json::array();
  for (const auto& restart : clustering.restarts)
    record.restarts.push_back(describe_restart(restart));
  record.trace = Json::array();
  for (const auto& entry : clustering.trace)
    record.trace.push_back({{"restart", entry.restart},
                            {"round", entry.iteration},
                            {"objective", entry.objective},
                            {"changed", entry.changed},
                            {"sizes", entry.sizes},
                            {"seconds", entry.seconds}});
}

}  // namespace kindred
