#include "kindred/runs/export.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kindred/core/embedded.h"
#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/staged_file.h"
#include "kindred/core/version.h"
#include "kindred/data/npy.h"
#include "kindred/policies/plain_policy.h"
#include "kindred/policies/torch_script.h"

namespace kindred {

std::span<const EmbeddedFile> export_files();  // cmake/KindredEmbed.cmake

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr std::int64_t kMostObservations = 256;

/// The folder by its plain name: not "policies/", not "."
fs::path plain_path(const fs::path& folder) {
  if (folder.empty()) throw InvalidArgument("the folder for the policies has no name");
  const auto path = fs::absolute(folder).lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

void require_free(const fs::path& folder) {
  std::error_code error;  // where the system does not tell, writing will
  if (!fs::exists(folder, error)) return;
  if (!fs::is_directory(folder, error))
    throw InvalidArgument("'{}' is a file; name a folder for the policies", folder.string());
  if (!fs::is_empty(folder, error))
    throw InvalidArgument("'{}' holds files already; name a new folder for the policies",
                          folder.string());
}

std::string file_name(std::int64_t centre, const std::string& kind) {
  return fmt::format("policy_{}.{}", centre, kind);
}

void write_arrays(const fs::path& path, const std::vector<PlainArray>& arrays) {
  zip::Writer archive(path);
  npy::ArrayWriter out(archive);
  for (const auto& array : arrays)
    std::visit([&](const auto& values) { out.write(array.name, std::span(values), array.shape); },
               array.values);
  archive.close();
}

/// What Kindred computes, all centres one after the other.
struct Answers {
  std::vector<float> first;   // probabilities, or means
  std::vector<float> second;  // standard deviations
  std::vector<std::int64_t> most_likely;
};

Answers answers_of(const PolicyCentres& policies, std::span<const float> observations) {
  const auto width = policies.actions();
  const auto rows = static_cast<std::int64_t>(observations.size()) / policies.obs_dim();
  const std::int64_t parts = policies.discrete() ? 1 : 2;
  std::vector<float> block(static_cast<std::size_t>(rows * parts * width));
  Answers answers;
  for (std::int64_t centre = 0; centre < policies.count(); ++centre) {
    policies.distribution(centre, observations, block);
    for (auto row = block.begin(); row != block.end(); row += parts * width) {
      answers.first.insert(answers.first.end(), row, row + width);
      if (policies.discrete())
        answers.most_likely.push_back(std::max_element(row, row + width) - row);
      else
        answers.second.insert(answers.second.end(), row + width, row + 2 * width);
    }
  }
  return answers;
}

void write_check(const PolicyCentres& policies, std::span<const float> observations,
                 const fs::path& path) {
  const auto rows = static_cast<std::int64_t>(observations.size()) / policies.obs_dim();
  auto answers = answers_of(policies, observations);
  const std::vector<std::int64_t> shape = {policies.count(), rows, policies.actions()};
  std::vector<PlainArray> arrays = {{"observations",
                                     {rows, policies.obs_dim()},
                                     std::vector<float>(observations.begin(), observations.end())}};
  if (policies.discrete()) {
    arrays.push_back({"probabilities", shape, std::move(answers.first)});
    arrays.push_back({"actions", {policies.count(), rows}, std::move(answers.most_likely)});
  } else {
    arrays.push_back({"mean", shape, answers.first});
    arrays.push_back({"std", shape, std::move(answers.second)});
    arrays.push_back({"actions", shape, std::move(answers.first)});
  }
  write_arrays(path, arrays);
}

/// Every step of the computation as a sentence.
std::vector<std::string> recipe(const PlainPolicy& policy) {
  if (policy.kind == PlainKind::kTable)
    return {"Find the row of 'table' that equals the observation, bit for bit as float32.",
            "The same row of 'probabilities' holds the chance of each action.",
            "Where there is no such row, every action is equally likely.",
            "The most likely action is the first with the highest probability."};
  std::vector<std::string> steps = {
      "Take the numbers 'input_columns' of the observation, as float32.",
      "x = (numbers - input_mean) * input_scale"};
  if (policy.kind == PlainKind::kClosedForm) {
    steps.insert(steps.end(), {"x = x as float64, within -5 and 5",
                               "cosines = sqrt(2) * cos(x @ cosine_weight + cosine_bias)",
                               "y = [1, x, cosines] @ weight"});
    if (policy.discrete)
      steps.insert(steps.end(),
                   {"y = max(y, 1e-6); probabilities = y / sum(y)",
                    "The most likely action is the first with the highest probability."});
    else
      steps.insert(steps.end(),
                   {"mean = y; 'std' is the same everywhere",
                    "The action is Gaussian, each of its numbers on its own; the most likely is "
                    "mean.",
                    "Nothing is squashed or clipped: clip to the environment's bounds yourself."});
    return steps;
  }
  for (const auto& layer : policy.hidden)
    steps.push_back(fmt::format("x = max(0, x @ {0}_weight + {0}_bias)", layer));
  if (policy.discrete) {
    steps.insert(steps.end(),
                 {"probabilities = softmax(x @ logits_weight + logits_bias)",
                  "The most likely action is the first with the highest probability."});
  } else {
    steps.insert(
        steps.end(),
        {"mean = (x @ mean_weight + mean_bias) * action_scale + action_mean",
         "std = (softplus(x @ std_weight + std_bias) + 1e-5) * action_scale, softplus(z) = log(1 + "
         "exp(z)); 0 for a number that never varied in the data",
         "The action is Gaussian, each of its numbers on its own; the most likely is mean.",
         "Nothing is squashed or clipped: clip to the environment's bounds yourself."});
  }
  return steps;
}

ordered_json describe_layers(const PlainPolicy& policy) {
  auto layers = ordered_json::array();
  const auto add = [&](const std::string& name, const std::string& activation) {
    const auto& weight = *std::ranges::find(policy.arrays, name + "_weight", &PlainArray::name);
    layers.push_back({{"name", name},
                      {"inputs", weight.shape[0]},
                      {"outputs", weight.shape[1]},
                      {"weight", name + "_weight"},
                      {"bias", name + "_bias"},
                      {"activation", activation}});
  };
  for (const auto& name : policy.hidden) add(name, "relu");
  for (const auto& name : policy.heads)
    add(name, name == "logits" ? "softmax"
              : name == "std"  ? "softplus, then + 1e-5, then * action_scale"
                               : "none, then * action_scale + action_mean");
  return layers;
}

ordered_json describe_arrays(const PlainPolicy& policy) {
  constexpr const char* kTypes[] = {"float32", "int64", "float64"};
  auto arrays = ordered_json::object();
  for (const auto& array : policy.arrays)
    arrays[array.name] = {{"dtype", kTypes[array.values.index()]}, {"shape", array.shape}};
  return arrays;
}

ordered_json describe(const PlainPolicy& first, const ExportOrigin& origin, std::int64_t count) {
  constexpr const char* kKinds[] = {"network", "table", "linear policy on features"};
  ordered_json json = {
      {"kindred_policies", 1},
      {"version", kVersion},
      {"run", origin.run},
      {"method", origin.method},
      {"source", origin.source == PolicySource::kCentres
                     ? "the run's own centres"
                     : "the policies that 'kindred evaluate' let act"},
      {"kind", kKinds[static_cast<std::size_t>(first.kind)]},
      {"obs_dim", first.obs_dim},
      {"discrete", first.discrete},
      {"actions", first.actions},
      {"output", first.discrete ? "the probability of each action"
                                : "mean and standard deviation of each number of the action"}};
  if (first.kind == PlainKind::kNetwork) json["layers"] = describe_layers(first);
  json["arrays"] = describe_arrays(first);
  json["how_to"] = recipe(first);
  for (std::int64_t c = 0; c < count; ++c)
    json["policies"].push_back({{"cluster", c},
                                {"episodes", origin.episodes.at(static_cast<std::size_t>(c))},
                                {"torchscript", file_name(c, "pt")},
                                {"arrays", file_name(c, "npz")}});
  return json;
}

void write_all(const PolicyCentres& policies, const ExportOrigin& origin,
               std::span<const float> observations, const fs::path& folder) {
  for (std::int64_t c = 0; c < policies.count(); ++c) {
    const auto policy = plain_policy(policies, c);
    save_torch_script(policy, {origin.method, c}, folder / file_name(c, "pt"));
    write_arrays(folder / file_name(c, "npz"), policy.arrays);
  }
  const auto described = describe(plain_policy(policies, 0), origin, policies.count());
  // A run's path need not be UTF-8; JSON must be.
  write_text(folder / "policies.json",
             described.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  if (!observations.empty()) write_check(policies, observations, folder / "check.npz");
  write_text(folder / "example.py", export_files().front().bytes);
}

}  // namespace

std::shared_ptr<const PolicyCentres> policies_of(const RunFolder& folder, const LoadedRun& run,
                                                 PolicySource source) {
  const bool evaluated = fs::exists(folder.policies());
  if (source == PolicySource::kEvaluated) {
    if (!evaluated)
      throw InvalidArgument("the run in '{}' was not evaluated yet; run 'kindred evaluate' on it",
                            folder.path().string());
    return std::dynamic_pointer_cast<const PolicyCentres>(
        load_policy_centres(ArrayFileReader(folder.policies())));
  }
  auto own = std::dynamic_pointer_cast<const PolicyCentres>(run.centres);
  if (!own)
    throw InvalidArgument(
        "the centres of {} cannot act; {} with '--policies evaluated'", run.record.method,
        evaluated ? "export those that 'kindred evaluate' cloned from the clusters"
                  : "let 'kindred evaluate' clone one from each cluster, then export them");
  return own;
}

std::vector<float> check_observations(const PolicyCentres& policies, const Trajectories& data) {
  require_same_dimensions(data, policies.obs_dim(), policies.discrete(), policies.actions());
  const auto n = std::min(kMostObservations, data.steps());
  std::vector<float> rows(static_cast<std::size_t>(n * policies.obs_dim()));
  for (std::int64_t i = 0; i < n; ++i) {
    const auto step = i * data.steps() / n;
    data.observations.copy(step, step + 1, rows.data() + i * policies.obs_dim());
  }
  return rows;
}

void export_policies(const PolicyCentres& policies, const ExportOrigin& origin,
                     std::span<const float> observations, const fs::path& folder) {
  const auto target = plain_path(folder);
  require_free(target);
  StagedFolder staged(target);
  write_all(policies, origin, observations, staged.path());
  staged.commit();
}

}  // namespace kindred
