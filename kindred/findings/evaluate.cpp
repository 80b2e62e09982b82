#include "kindred/findings/evaluate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/data/draw_order.h"
#include "kindred/experts/rollout.h"
#include "kindred/findings/centre_policy.h"
#include "kindred/nn/policy_stack.h"
#include "kindred/policies/architecture.h"
#include "kindred/policies/exact_centres.h"

namespace kindred {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kHidden = 128;  // as PG-Kmeans' policies are by default
constexpr std::int64_t kHiddenLayers = 2;

/// 0, 1, …, n - 1
std::vector<std::int64_t> numbers_below(std::int64_t n) {
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void require_data_of(const LoadedRun& run, const Trajectories& data) {
  require_same_data(run.record.fingerprint(), fingerprint_of(data), run.record.dataset.at("path"));
  if (const auto* own = dynamic_cast<const PolicyCentres*>(run.centres.get()))
    require_same_dimensions(data, own->obs_dim(), own->discrete(), own->actions());
}

/// The episodes whose return is known: rewards may be missing or not numbers.
std::vector<std::int64_t> with_return(std::span<const double> returns) {
  auto episodes = numbers_below(static_cast<std::int64_t>(returns.size()));
  std::erase_if(episodes,
                [&](auto i) { return !std::isfinite(returns[static_cast<std::size_t>(i)]); });
  return episodes;
}

void require_returns(std::span<const double> returns, const EvaluateOptions& options) {
  if (options.best == 0.0 && options.labelled == 0) return;
  std::vector<double> known;
  for (const auto i : with_return(returns)) known.push_back(returns[static_cast<std::size_t>(i)]);
  if (!known.empty() && std::ranges::min(known) != std::ranges::max(known)) return;
  throw InvalidArgument(
      "{}, so there are no best ones to clone or to pick a cluster by; use --best 0 --labelled 0",
      returns.empty() ? std::string("the episodes have no rewards")
      : known.empty() ? std::string("every episode has a reward that is not a number")
                      : fmt::format("every episode returns {:g}", known[0]));
}

EpisodeGroups episodes_by_cluster(const LoadedRun& run) {
  EpisodeGroups groups(static_cast<std::size_t>(run.centres->count()));
  for (std::size_t i = 0; i < run.labels.size(); ++i) {
    const auto label = run.labels[i];
    if (label < 0 || label >= run.centres->count())
      throw DataFormatError("the run has {} clusters but episode {} is labelled {}",
                            run.centres->count(), run.episodes[i], label);
    groups[static_cast<std::size_t>(label)].push_back(static_cast<std::int64_t>(i));
  }
  return groups;
}

/// What the networks of one evaluation look like and see: as the run's own do, where it has any.
struct NetworkShape {
  NetworkView view;
  PolicyArchitecture architecture;

  NetworkShape(const Centres& centres, const Trajectories& data) {
    if (const auto* networks = dynamic_cast<const NetworkCentres*>(&centres)) {
      view = networks->view();
      architecture = networks->policies().architecture();
      return;
    }
    const bool scaled =
        resolve_standardize(Standardize::kAuto, data.observations) == Standardize::kOn;
    view.inputs = NetworkInputs::from(data.observations, scaled);
    architecture = architecture_for(data, view, kHidden, kHiddenLayers);
  }
};

/// Policies about to act, each with the episodes it stands for.
struct PolicyGroup {
  std::vector<std::string> names;
  EpisodeGroups episodes;
  EpisodeWeights weights{};
  std::vector<CloningSummary> training;
  std::shared_ptr<const PolicyCentres> policies;
};

/// What all cloning of one evaluation shares.
class Cloner {
 public:
  Cloner(const Centres& centres, const Trajectories& data, const EvaluateOptions& options,
         const RunContext& context)
      : data_(data), shape_(centres, data), options_(options), context_(context) {}

  /// Trains `start`, each policy on its own episodes, for at most `rounds`.
  void train(PolicyStack start, std::int64_t rounds, const std::string& stage,
             PolicyGroup& group) const {
    CloningOptions options;
    options.max_rounds = rounds;
    options.buffer_steps = options_.buffer_steps;
    options.seed = options_.seed;
    options.stage = stage;
    group.training =
        clone_policies(data_, shape_.view, group.episodes, options, start, context_, group.weights);
    group.policies = std::make_shared<NetworkCentres>(shape_.view, std::move(start));
  }

  /// The same from new policies; the stage names their random streams too.
  void train_new(std::int64_t rounds, const std::string& stage, PolicyGroup& group) const {
    PolicyStack start(shape_.architecture, static_cast<std::int64_t>(group.episodes.size()));
    for (std::int64_t i = 0; i < start.size(); ++i)
      start.initialise(i, Random(static_cast<std::uint64_t>(options_.seed), stage,
                                 static_cast<std::uint64_t>(i)));
    train(std::move(start), rounds, stage, group);
  }

 private:
  const Trajectories& data_;
  NetworkShape shape_;
  const EvaluateOptions& options_;
  const RunContext& context_;
};

/// The policy of each cluster; `origin` says where they come from.
PolicyGroup cluster_policies(const LoadedRun& run, const Cloner& cloner,
                             const EvaluateOptions& options, std::string& origin) {
  PolicyGroup result;
  result.episodes = episodes_by_cluster(run);
  for (std::size_t c = 0; c < result.episodes.size(); ++c)
    result.names.push_back(fmt::format("cluster {}", c));
  const auto own = std::dynamic_pointer_cast<const PolicyCentres>(run.centres);
  const auto* networks = dynamic_cast<const NetworkCentres*>(own.get());
  const bool closed_form = dynamic_cast<const ExactCentres*>(own.get()) != nullptr;
  if (!own || closed_form) {
    origin = closed_form
                 ? "networks cloned from the clusters"
                 : fmt::format("cloned from the clusters, as the centres of {} are not policies",
                               run.record.method);
    cloner.train_new(options.rounds, "cloning the clusters", result);
  } else if (networks && options.continue_rounds > 0) {
    origin = "the run's own centres, each trained further on its cluster";
    cloner.train(networks->policies().select(numbers_below(networks->count())),
                 options.continue_rounds, "training the centres further", result);
  } else {
    origin = "the run's own centres, as they are";
    result.training.resize(result.episodes.size());
    result.policies = own;
  }
  return result;
}

/// How probable it is that each episode belongs to the cluster.
std::vector<double> posteriors_of(const LoadedRun& run, const Trajectories& data,
                                  std::int64_t cluster, const RunContext& context) {
  if (!run.calibration)
    throw InvalidArgument(
        "the run does not say how sure its labels are, so nothing can be weighted by that; cluster "
        "again, or leave out --weighted");
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(run.centres->count()), 0);
  for (const auto label : run.labels) ++sizes[static_cast<std::size_t>(label)];
  const auto all = run.calibration->posteriors(run.centres->score(data, context), sizes);
  std::vector<double> column;
  for (std::int64_t i = 0; i < all.rows; ++i) column.push_back(all(i, cluster));
  return column;
}

/// `posteriors`: of the picked cluster, or empty.
PolicyGroup reference_policies(const Trajectories& data, std::span<const double> returns,
                               const Cloner& cloner, const EvaluateOptions& options,
                               const std::vector<double>& posteriors) {
  PolicyGroup result;
  result.names = {"all episodes"};
  result.episodes = {numbers_below(data.episodes())};
  if (options.best > 0.0) {
    result.names.push_back(fmt::format("best {:g}%", 100.0 * options.best));
    result.episodes.push_back(best_episodes(returns, options.best));
  }
  if (!posteriors.empty()) {
    result.weights.resize(result.names.size());
    result.names.push_back("weighted");
    result.episodes.push_back(numbers_below(data.episodes()));
    result.weights.push_back(posteriors);
  }
  cloner.train_new(options.rounds, "cloning for comparison", result);
  return result;
}

/// What a policy was made from.
PolicyResult describe_policy(const PolicyGroup& group, std::size_t i,
                             std::span<const double> returns) {
  PolicyResult result;
  result.name = group.names[i];
  result.source_episodes = static_cast<std::int64_t>(group.episodes[i].size());
  result.training = group.training[i];
  double sum = 0.0;
  std::int64_t known = 0;
  for (const auto episode : group.episodes[i]) {
    const auto at = static_cast<std::size_t>(episode);
    if (at < returns.size() && std::isfinite(returns[at])) sum += returns[at], ++known;
  }
  if (known > 0) result.source_return = sum / static_cast<double>(known);
  return result;
}

/// How a policy did.
void add_rollout(const Trajectories& acted, const EnvironmentSpec& spec, PolicyResult& result) {
  result.returns = episode_returns(acted);
  for (std::int64_t i = 0; i < acted.episodes(); ++i) result.lengths.push_back(acted.length(i));
  const auto n = static_cast<double>(result.returns.size());
  result.mean_return = std::accumulate(result.returns.begin(), result.returns.end(), 0.0) / n;
  double squares = 0.0;
  for (const double r : result.returns) squares += std::pow(r - result.mean_return, 2);
  result.deviation = n > 1.0 ? std::sqrt(squares / (n - 1.0)) : 0.0;
  if (spec.reference_returns) {
    const auto [low, high] = *spec.reference_returns;
    result.score = 100.0 * (result.mean_return - low) / (high - low);
  }
}

/// Lets every policy act, all in the same episodes.
std::vector<PolicyResult> roll_out(const PolicyGroup& group, std::span<const double> returns,
                                   const Environment& environment, const EvaluateOptions& options,
                                   const RunContext& context) {
  Progress progress;
  progress.stage = "rolling out";
  context.report(progress);
  GenerateOptions generate;
  generate.per_expert = options.episodes;
  // Not the episodes of a dataset that was generated with the same seed.
  generate.seed = static_cast<std::int64_t>(
      Random(static_cast<std::uint64_t>(options.seed), "evaluate")() >> 1);
  generate.workers = context;
  const auto& spec = environment.spec();
  std::vector<PolicyResult> results(group.episodes.size());
  const auto n = static_cast<std::int64_t>(results.size());
  context.chunks(n, 1, [&](std::int64_t index, std::int64_t) {
    const auto i = static_cast<std::size_t>(index);
    results[i] = describe_policy(group, i, returns);
    const auto policy =
        std::make_shared<CentrePolicy>(results[i].name, group.policies, index, spec,
                                       options.deterministic ? Acting::kMost : Acting::kSample);
    add_rollout(rollout(environment, {policy}, generate), spec, results[i]);
  });
  return results;
}

std::vector<std::int64_t> draw_labelled(std::span<const double> returns,
                                        const EvaluateOptions& options) {
  auto episodes = with_return(returns);
  Random(static_cast<std::uint64_t>(options.seed), "labelled").shuffle(std::span(episodes));
  episodes.resize(std::min(episodes.size(), static_cast<std::size_t>(options.labelled)));
  return episodes;
}

ordered_json to_json(const PolicyResult& result) {
  const auto or_null = [](const std::optional<double>& x) {
    return x ? ordered_json(*x) : nullptr;
  };
  return {{"name", result.name},
          {"episodes", result.source_episodes},
          {"data_return", or_null(result.source_return)},
          {"return", result.mean_return},
          {"return_sd", result.deviation},
          {"score", or_null(result.score)},
          {"returns", result.returns},
          {"lengths", result.lengths},
          {"training",
           {{"rounds", result.training.rounds},
            {"converged", result.training.converged},
            {"loss_before", result.training.loss_before},
            {"loss", result.training.loss}}}};
}

}  // namespace

OptionTable EvaluateOptions::describe() {
  constexpr auto kMany = std::numeric_limits<std::int64_t>::max();
  return {
      integer("episodes", episodes, 1, 1'000'000, "Episodes each policy acts in."),
      integer("continue", continue_rounds, 0, 100'000,
              "Train each of the run's centres further on its cluster's episodes, for at most this "
              "many rounds of 500 minibatches; 0 takes them as they are."),
      integer("rounds", rounds, 1, 100'000,
              "Most rounds of 500 minibatches for policies cloned from scratch."),
      real("best", best, 0.0, 1.0,
           "Share of episodes, by return, that the second reference is cloned from; 0: none."),
      integer("labelled", labelled, 0, kMany,
              "Random episodes whose returns pick the best cluster; 0 picks none."),
      flag(
          "weighted", weighted,
          "Clone a third reference from all episodes, each counting as much as it probably belongs "
          "to the picked cluster."),
      flag("deterministic", deterministic,
           "Act by the mean, or the most likely action, instead of drawing one."),
      buffer_option(buffer_steps),
      integer("seed", seed, 0, kMany, "Names the random streams."),
  };
}

std::vector<std::int64_t> best_episodes(std::span<const double> returns, double share) {
  auto order = with_return(returns);
  std::ranges::stable_sort(order, std::greater<>{},
                           [&](std::int64_t i) { return returns[static_cast<std::size_t>(i)]; });
  const auto wanted = std::llround(share * static_cast<double>(returns.size()));
  order.resize(std::min(order.size(), static_cast<std::size_t>(std::max(1LL, wanted))));
  return order;
}

Pick pick_cluster(std::span<const std::int32_t> labels, std::int64_t k,
                  std::span<const double> returns, std::span<const std::int64_t> seen) {
  Pick pick;
  pick.labelled.assign(static_cast<std::size_t>(k), 0);
  std::vector<double> sums(static_cast<std::size_t>(k), 0.0);
  for (const auto episode : seen) {
    const auto cluster = static_cast<std::size_t>(labels[static_cast<std::size_t>(episode)]);
    const double value = returns[static_cast<std::size_t>(episode)];
    if (!std::isfinite(value)) continue;
    ++pick.labelled[cluster];
    sums[cluster] += value;
  }
  for (std::size_t c = 0; c < sums.size(); ++c)
    pick.mean_return.push_back(pick.labelled[c] > 0
                                   ? std::optional(sums[c] / static_cast<double>(pick.labelled[c]))
                                   : std::nullopt);
  // An empty optional compares lower than any return.
  const auto better = [&](std::size_t a, std::size_t b) {
    return std::pair(pick.mean_return[a], pick.labelled[a]) >
           std::pair(pick.mean_return[b], pick.labelled[b]);
  };
  std::size_t chosen = 0;
  for (std::size_t c = 1; c < sums.size(); ++c)
    if (better(c, chosen)) chosen = c;
  pick.cluster = static_cast<std::int64_t>(chosen);
  return pick;
}

Evaluation evaluate(const LoadedRun& run, const Trajectories& data, const Environment& environment,
                    const EvaluateOptions& requested, const RunContext& context) {
  Evaluation result;
  result.options = requested;
  result.options.buffer_steps = resolve_buffer(requested.buffer_steps, data);
  const auto& options = result.options;
  const auto returns = episode_returns(data);
  require_data_of(run, data);
  require_returns(returns, options);
  if (options.weighted && options.labelled == 0)
    throw InvalidArgument("--weighted needs a picked cluster, so --labelled cannot be 0");
  require_acts_in(environment.spec(), data.observations.dim(), data.actions.is_discrete(),
                  data.actions.is_discrete() ? data.actions.count() : data.actions.dim());

  result.environment = environment.spec().name;
  result.environment_options = environment.options();
  const Cloner cloner(*run.centres, data, options, context);
  const auto clusters = cluster_policies(run, cloner, options, result.origin);
  if (options.labelled > 0)
    result.pick =
        pick_cluster(run.labels, run.centres->count(), returns, draw_labelled(returns, options));
  const auto posteriors = options.weighted ? posteriors_of(run, data, result.pick->cluster, context)
                                           : std::vector<double>();
  const auto references = reference_policies(data, returns, cloner, options, posteriors);
  result.clusters = roll_out(clusters, returns, environment, options, context);
  result.references = roll_out(references, returns, environment, options, context);
  result.policies = clusters.policies;
  return result;
}

ordered_json to_json(const Evaluation& evaluation) {
  ordered_json json = {{"environment", evaluation.environment},
                       {"environment_options", evaluation.environment_options},
                       {"origin", evaluation.origin},
                       {"clusters", ordered_json::array()},
                       {"references", ordered_json::array()},
                       {"pick", nullptr}};
  for (const auto& result : evaluation.clusters) json["clusters"].push_back(to_json(result));
  for (const auto& result : evaluation.references) json["references"].push_back(to_json(result));
  if (evaluation.pick) {
    const auto& pick = *evaluation.pick;
    json["pick"] = {{"cluster", pick.cluster}, {"labelled", pick.labelled}};
    for (const auto& mean : pick.mean_return)
      json["pick"]["labelled_return"].push_back(mean ? ordered_json(*mean) : nullptr);
    for (const char* key : {"return", "return_sd", "score"})
      json["pick"][key] = json["clusters"][static_cast<std::size_t>(pick.cluster)][key];
  }
  return json;
}

void save_evaluation(const RunFolder& folder, const Evaluation& evaluation,
                     const ordered_json& record) {
  ArrayFileWriter policies(folder.policies());
  evaluation.policies->save(policies);
  policies.close();
  // Names of files need not be UTF-8, JSON must be.
  write_text(folder.evaluation(),
             record.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
}

}  // namespace kindred
