#include "kindred/methods/pg_kmeans/options.h"

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/data/draw_order.h"
#include "kindred/methods/policy_search/options.h"
#include "kindred/methods/policy_search/partition_judge.h"
#include "kindred/policies/plane_view.h"

namespace kindred::pg_kmeans {

OptionTable Options::describe() {
  constexpr auto kMany = std::numeric_limits<std::int64_t>::max();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return {
      integer_or_auto("k", k, 10000,
                      "How many policies to fit; auto: find out how many there are."),
      integer("merge-to", merge_to, 0, 10000,
              "Merge the k clusters down to this many at the end; 0 keeps all of them."),
      integer("k-max", k_max, 1, 1000, "The most policies to look for where k is auto."),
      integer(
          "restarts", restarts, 0, 1000,
          "Independent random starts, of which the best is taken; 0: 32 where the held-out score "
          "chooses, 4 where networks go on from it, else 5."),
      integer("seed", seed, 0, kMany, "Every random number follows from this seed."),
      choice("policy", policy, {"auto", "features", "mlp", "tabular"},
             "Policy behind a cluster: in closed form on features of observations, a neural "
             "network, or action frequencies per observation (discrete actions, repeating "
             "observations). auto: tabular where that is possible, mlp where observations are wide "
             "planes of zeros and ones or the objective chooses, else features."),
      choice(
          "choose", choose, {"auto", "held-out", "objective"},
          "By what the answer is chosen: how well policies predict episodes they have not seen, "
          "or the paper's objective J, for which k must be given. auto: held-out, but objective "
          "for policy mlp and where observations are as wide as pictures, unless these are planes "
          "of zeros and ones."),
      choice("init", init, {"random", "fingerprint"},
             "First labels: a random equal partition, or k-means on each episode's linear picture "
             "of its policy (continuous actions)."),
      integer("max-rounds", max_rounds, 1, 100000, "Stop fitting after this many rounds."),
      real("change-tolerance", change_tolerance, 0.0, 1.0,
           "Converged when at most this share of labels changes in a round."),
      real_or(
          "common-share", common_share, 0.0, 0.99, {{"auto", kAutoShare}, {"off", 0.0}},
          "Policy mlp: share of one policy cloned from all trajectories in every policy that "
          "scores them, so that no step can say too much against one. auto: 0.05, but off where "
          "log-prob-floor is given."),
      real_or(
          "log-prob-floor", log_prob_floor, -kInfinity, 0.0,
          {{"auto", kAutoFloor}, {"off", kNoFloor}},
          "Least log-probability one step can contribute when trajectories are scored. It depends "
          "on how many numbers an action has. auto: off where common-share is on, else -5."),
      choice("empty-cluster", empty_cluster, {"drop", "reseed"},
             "A cluster empty for two rounds is given up, or refilled with the worst-explained "
             "trajectories."),
      choice("merge-rule", merge_rule, {"least-loss", "printed"},
             "Which pair to merge: the one that lowers the objective least, or the paper's printed "
             "rule."),
      flag(
          "refine", refine,
          "After merging, train new policies on the clusters and go on until labels settle again."),
      choice("standardize", standardize, {"auto", "on", "off"},
             "Scale observations by the dataset's mean and deviation; auto leaves "
             "observations of zeros and ones (gridworlds) as they are."),
      flag(
          "standardize-actions", standardize_actions,
          "Scale continuous actions by the dataset's mean and deviation; policies still act in the "
          "data's own units."),
      integer("hidden", hidden, 1, 65536, "Width of the policy's hidden layers."),
      integer("hidden-layers", hidden_layers, 1, 16, "Number of the policy's hidden layers."),
      real("learning-rate", learning_rate, 1e-9, 1.0, "Adam's learning rate."),
      real("max-gradient-norm", max_gradient_norm, 1e-9, kInfinity,
           "Gradient norm of one policy is clipped to this."),
      integer("max-steps", max_steps, 1, kMany, "Most training steps in one round."),
      integer("plateau-steps", plateau_steps, 1, kMany,
              "Training steps over which the loss is averaged to notice a plateau."),
      real("plateau-tolerance", plateau_tolerance, 0.0, kInfinity,
           "A round's training ends when the loss per step improves by less than this."),
      integer("batch-steps", batch_steps, 1, kMany,
              "Steps of its own trajectories each policy sees in one training step; unused where "
              "counts give the exact gradient."),
      integer("batch-trajectories", batch_trajectories, 0, kMany,
              "Draw whole trajectories, this many, instead of single steps; 0: single steps."),
      buffer_option(buffer_steps),
      real("smoothing", smoothing, 0.0, kInfinity,
           "Tabular policies: added to every action's count in observations a cluster has seen."),
      integer("cosines", cosines, 0, 4096,
              "Features: random cosines of the observation by which answers are judged; 0: none."),
      real("ridge", ridge, 1e-9, kInfinity,
           "Features: steps of doing nothing that every policy has seen besides its own."),
      real("separation", separation, 0.0, kInfinity, "Of version 0.1; read no more."),
      text("seeds", seeds,
           "CSV file of what is known of some episodes: columns episode and label, or episode, "
           "other and link ('together' or 'apart')."),
  };
}

namespace {

/// Whether steps are counted: minibatches are not needed then.
bool is_counted(const Trajectories& data) {
  return data.observations.is_interned() && data.actions.is_discrete();
}

/// A minibatch may repeat what little data there is, but beyond that more of it than there is data
/// teaches nothing, and one training step would take for ever.
void require_sensible_batch(const char* name, std::int64_t asked, std::int64_t present) {
  constexpr std::int64_t kAlwaysAllowed = 1 << 16;
  const auto most = std::max(kAlwaysAllowed, present);
  if (asked > most)
    throw InvalidArgument("{} is {}, but the data hold only {}; choose at most {}", name, asked,
                          present, most);
}

/// Which of the two bounds what one step can say about a policy: what was given, or else the share
/// of a common policy, which networks can have.
void resolve_step_bound(Options& options) {
  constexpr double kShare = 0.05, kFloor = -5.0;
  const bool networks = options.policy == PolicyKind::kMlp;
  if (options.common_share == Options::kAutoShare)
    options.common_share = networks && options.log_prob_floor == Options::kAutoFloor ? kShare : 0.0;
  if (options.common_share > 0.0 && !networks)
    throw InvalidArgument("common-share is for policy 'mlp'; leave it out, or give log-prob-floor");
  if (options.log_prob_floor == Options::kAutoFloor)
    options.log_prob_floor = options.common_share > 0.0 ? Options::kNoFloor : kFloor;
}

}  // namespace

void Options::use_paper_setting() {
  policy = PolicyKind::kMlp;
  choose = Choose::kObjective;
  init = Initialisation::kRandom;
  restarts = 5;
  merge_rule = MergeRule::kLeastLoss;
  common_share = 0.0;
  log_prob_floor = -5.0;
  standardize_actions = false;
}

Options resolve(Options options, const Trajectories& data) {
  const bool counted = is_counted(data);
  // Networks look at planes of zeros and ones from a start in closed form.
  const bool planes = !counted && data.actions.is_discrete() &&
                      options.policy != PolicyKind::kFeatures &&
                      options.choose != Choose::kObjective && PlaneView::suits(data);
  const bool wide = options.policy == PolicyKind::kAuto && options.choose == Choose::kAuto &&
                    !planes && policy_search::too_wide_for_closed_form(data);
  if (wide && options.k == 0)
    throw InvalidArgument(
        "{} numbers per observation are too many to find out how many policies there are; give the "
        "number of clusters with -k, and networks will be trained",
        data.observations.dim());
  if (options.choose == Choose::kAuto) {
    const bool networks = wide || (options.policy == PolicyKind::kMlp && !planes) ||
                          options.init == Initialisation::kEpisodeRegression;
    options.choose = networks ? Choose::kObjective : Choose::kHeldOut;
  }
  if (options.policy == PolicyKind::kAuto) {
    if (!options.searches() || planes)
      options.policy = PolicyKind::kMlp;
    else
      options.policy = policy_search::policy_class_for(data) == policy_search::PolicyClass::kTables
                           ? PolicyKind::kTabular
                           : PolicyKind::kFeatures;
  }
  if (options.restarts == 0) options.restarts = !options.searches() ? 5 : planes ? 4 : 32;
  if (options.searches() && options.policy == PolicyKind::kMlp && !planes)
    throw InvalidArgument(
        "networks are chosen by the held-out score only where observations are wide planes of "
        "zeros and ones and actions discrete; leave out choose, or take policy 'features'");
  if (!options.searches() && !options.seeds.empty())
    throw InvalidArgument(
        "seeds need an answer that the held-out score chooses; leave out choose, policy 'mlp' and "
        "init");
  if (!options.searches() && options.policy == PolicyKind::kFeatures)
    throw InvalidArgument(
        "policy 'features' is chosen by the held-out score; leave out choose, or take policy "
        "'mlp'");
  if (options.policy == PolicyKind::kTabular && !counted)
    throw InvalidArgument(
        "policy 'tabular' needs discrete actions and observations that repeat; "
        "this data has {} and {}; use policy '{}'",
        data.actions.is_discrete() ? "discrete actions" : "continuous actions",
        data.observations.is_interned() ? "repeating observations"
                                        : "observations that do not repeat",
        options.searches() ? "features" : "mlp");
  if (options.k == 0) {
    if (!options.searches())
      throw InvalidArgument("k must be given, unless the held-out score chooses");
    if (options.merge_to > 0)
      throw InvalidArgument("merge-to is {}, but k is to be found; give k, or leave out merge-to",
                            options.merge_to);
    return options;
  }
  options.merge_to = resolve_merge_to(options.k, options.merge_to, data);
  if (options.searches()) return options;
  resolve_step_bound(options);
  if (options.init == Initialisation::kEpisodeRegression && data.actions.is_discrete())
    throw InvalidArgument("init 'fingerprint' needs continuous actions; use init 'random'");
  if (!counted) {
    require_sensible_batch("batch-steps", options.batch_steps, data.steps());
    require_sensible_batch("batch-trajectories", options.batch_trajectories, data.episodes());
    options.buffer_steps = resolve_buffer(options.buffer_steps, data);
  }
  options.standardize = resolve_standardize(options.standardize, data.observations);
  return options;
}

// The search on planes runs on the CPU.
Options resolve_for(const RunContext& run, const Options& requested, const Trajectories& data) {
  auto options = resolve(requested, data);
  if (run.device == "cpu" || !options.searches() || options.policy != PolicyKind::kMlp ||
      requested.k == 0 || requested.choose != Choose::kAuto)
    return options;
  auto by_objective = requested;
  by_objective.choose = Choose::kObjective;
  return resolve(by_objective, data);
}

std::vector<UnusedOptions> unused_options(const Options& requested, const Trajectories& data,
                                          const RunContext& run) {
  const Options options = resolve_for(run, requested, data);
  const bool searches = options.searches();
  const bool networks = options.policy == PolicyKind::kMlp;
  const bool tables = options.policy == PolicyKind::kTabular;
  const bool features = options.policy == PolicyKind::kFeatures;
  const std::string and_k = options.k == 0 ? " and '-k'" : "";
  const std::string objective =
      "answers that the objective chooses; add '--choose objective'" + and_k;

  std::vector<UnusedOptions> unused;
  const auto add = [&](std::vector<std::string> names, std::string purpose) {
    unused.push_back({std::move(names), std::move(purpose)});
  };
  if (searches)
    add({"init", "max-rounds", "change-tolerance", "log-prob-floor", "empty-cluster", "merge-rule",
         "refine"},
        objective);
  else if (options.merge_to == options.k)
    add({"merge-rule", "refine"}, "merging; add a '--merge-to' below '-k'");

  if (searches || !networks)
    add({"common-share", "standardize", "standardize-actions", "hidden", "hidden-layers",
         "learning-rate", "max-gradient-norm", "max-steps", "plateau-steps", "plateau-tolerance",
         "batch-steps", "batch-trajectories", "buffer-steps"},
        networks ? objective : "policies that are networks; add '--policy mlp'" + and_k);
  else if (is_counted(data))
    add({"batch-steps", "batch-trajectories", "buffer-steps"},
        "minibatches, which this data does not need; leave it out");
  else if (options.batch_trajectories > 0)
    add({"batch-steps"}, "minibatches of single steps; leave out '--batch-trajectories'");
  if (!searches && networks && data.actions.is_discrete())
    add({"standardize-actions"}, "continuous actions; leave it out");

  if (searches || !tables)
    add({"smoothing"},
        "tables that the objective chooses; add '--policy tabular' and '--choose objective'");
  if (!searches || !features) add({"cosines"}, "policies on features; add '--policy features'");
  if (!searches || tables) add({"ridge"}, "policies on features; add '--policy features'");
  // Of k-max a search for a given k still takes how many clusters it starts from, not an answer.
  if (searches && networks)
    add({"restarts"}, "answers that the objective chooses or policies on features; leave it out");
  if (options.k > 0) add({"k-max"}, "'-k auto'; leave it out");
  add({"separation"}, "a test that conflicts have replaced; leave it out");
  return unused;
}

}  // namespace kindred::pg_kmeans
