#include "kindred/methods/policy_search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "kindred/core/stopwatch.h"
#include "kindred/dist/spread.h"
#include "kindred/methods/policy_search/conflicts/partition_conflicts.h"
#include "kindred/methods/policy_search/drift.h"
#include "kindred/methods/policy_search/evidence/table_evidence.h"
#include "kindred/methods/policy_search/partitions/alternatives.h"
#include "kindred/methods/policy_search/partitions/moves.h"
#include "kindred/methods/policy_search/partitions/packed_answers.h"
#include "kindred/methods/policy_search/partitions/ward.h"
#include "kindred/methods/policy_search/sight.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kSpare = 4;             // clusters more than wanted, to begin with
constexpr std::int64_t kRichStarts = 4;        // on many features, where a round costs more
constexpr std::size_t kTriedPerK = 2;          // partitions of each sort of start
constexpr std::int64_t kFewestInACluster = 3;  // episodes, for more clusters to be looked for
constexpr std::int64_t kAlwaysAsked = 2;       // clusters that are tested for conflicts in any case

/// Whether clusters from `cluster` on can be given one of so many colours, those that differ
/// different ones; `colours` holds what was given before.
bool can_colour(const Matrix& differ, std::vector<std::int64_t>& colours, std::int64_t most) {
  const auto cluster = std::ssize(colours);
  if (cluster == differ.rows) return true;
  std::int64_t used = 0;
  for (const auto colour : colours) used = std::max(used, colour + 1);
  for (std::int64_t colour = 0; colour < std::min(most, used + 1); ++colour) {
    bool is_free = true;
    for (std::int64_t other = 0; other < cluster; ++other)
      is_free = is_free && !(differ(cluster, other) > 0.0 &&
                             colours[static_cast<std::size_t>(other)] == colour);
    if (!is_free) continue;
    colours.push_back(colour);
    if (can_colour(differ, colours, most)) return true;
    colours.pop_back();
  }
  return false;
}

/// The fewest policies that explain the clusters: clusters that never conflict may be of one.
std::int64_t least_policies_of(const Answer& answer) {
  Matrix differ(answer.fit.k, answer.fit.k);
  for (const auto& pair : answer.pairs)
    if (pair.relation == Relation::kDifferent)
      differ(pair.first, pair.second) = differ(pair.second, pair.first) = 1.0;
  for (std::int64_t most = 1;; ++most) {
    std::vector<std::int64_t> colours;
    if (can_colour(differ, colours, most)) return most;
  }
}

/// The data in one view and what was found in it.
struct Searched : Sight {
  std::shared_ptr<const Evidence> policies;  // on all features, or tables
  std::vector<Descent> descents;
  std::vector<Answer> answers;  // by k, from 1
  EpisodeEffect episodes;       // where no partition was found to be one of policies

  const Answer& best() const {
    return *std::ranges::max_element(answers, {},
                                     [](const Answer& answer) { return answer.held_out.v; });
  }
  double v_of_best() const { return comparable(best().held_out.v, best().held_out.noise); }
};

class Search {
 public:
  Search(const Trajectories& data, const SearchOptions& options, const RunContext& run)
      : data_(data), options_(options), run_(run) {}

  SearchResult find() {
    if (options_.tables) return find_tables();
    auto sights = look_at_views();
    summarise(sights.front());
    const auto recorded = sights.front().policies;
    const auto common = sights.front().common_policy(options_.ridge);
    auto result = conclude(search_views(std::move(sights), common));
    if (options_.k != 1 && !is_partition_of_policies(result.answer(), rules_) &&
        !data_.actions.is_discrete() && result.count->episodes.known &&
        result.count->episodes.z < kErrors && result.count->episodes.noise > rules_.is_noise) {
      auto by_noise = search_noise(common);
      if (is_partition_of_policies(by_noise.answer(), rules_)) {
        result = std::move(by_noise);
      } else if (result.count->sure && !act_alike(by_noise.count->episodes)) {
        result.count->sure = false;
        result.count->doubt = "noise differs from episode to episode";
      }
    }
    result.recorded = recorded;
    result.statistics_seconds = statistics_seconds_;
    return result;
  }

 private:
  std::vector<Searched> look_at_views() {
    std::vector<Searched> sights;
    for (const auto view : views_of(data_)) sights.push_back(look(view, seen_as(view, data_)));
    return sights;
  }

  Searched look(View view, Trajectories data) {
    run_.report({.stage = "statistics", .fraction = 0.0, .sizes = {}});
    const Stopwatch clock;
    Searched sight;
    static_cast<Sight&>(sight) = Sight::look(view, data_, std::move(data), options_.cosines, run_);
    statistics_seconds_ += clock.seconds();
    return sight;
  }

  void summarise(Searched& sight) {
    const Stopwatch clock;
    sight.features =
        sight.evidence(sight.data, options_.ridge, rules_, run_, run_.device, ranks_of(run_));
    sight.linear = std::make_shared<FeatureEvidence>(
        *sight.features, FeatureMap(sight.data.observations, 0), sight.data.ids);
    sight.policies = sight.features;
    statistics_seconds_ += clock.seconds();
  }

  /// As recorded, and in the view in which one policy predicts best, if it predicts better there:
  /// the one whose policies then do, or the other where only that has clusters that conflict.
  Searched search_views(std::vector<Searched> sights, const CommonPolicy& common) {
    auto& recorded = sights.front();
    search(recorded);
    auto& other = *std::ranges::max_element(sights, {}, &Sight::v_of_one);
    if (other.view == recorded.view) {
      find_conflicts(recorded, common);
      return std::move(recorded);
    }
    summarise(other);
    search(other);
    const bool is_better = other.v_of_best() > recorded.v_of_best();
    auto& first = is_better ? other : recorded;
    auto& second = is_better ? recorded : other;
    if (find_conflicts(first, common) || options_.k > 0 || !find_conflicts(second, common))
      return std::move(first);
    return std::move(second);
  }

  /// The best partition for every k: paths down from many random clusters on linear features, where
  /// they cost little, a few on all features, and Ward's linkage on both; further up as long as
  /// more clusters predict better.
  void search(Searched& sight) const {
    const auto most_possible = data_.episodes() / kFewestInACluster;
    for (auto most = std::max(options_.k, options_.k_max);; most *= 2) {
      auto upto = options_;
      upto.k = 0;
      upto.k_max = most;
      const SearchContext context{data_, upto, run_};
      std::vector<std::vector<Descent>> paths;
      if (sight.features) {
        paths.push_back(paths_on(context, *sight.linear, options_.starts));
        paths.push_back(paths_on(context, *sight.features, kRichStarts));
      } else {
        paths.push_back(descend(context, *sight.policies, options_.starts, most + kSpare));
      }
      sight.answers = best_of(context, *sight.policies, paths);
      sight.descents.clear();
      for (auto& some : paths) std::ranges::move(some, std::back_inserter(sight.descents));
      if (options_.k > 0 || sight.best().fit.k + 1 < most || most >= most_possible) break;
    }
    if (options_.k > 0)
      std::erase_if(sight.answers, [&](const Answer& answer) { return answer.fit.k > options_.k; });
    for (std::size_t i = 0; i < sight.answers.size(); ++i) note_agreement(sight, i);
  }

  static std::vector<Descent> paths_on(const SearchContext& context,
                                       const FeatureEvidence& evidence, std::int64_t starts) {
    auto paths = descend(context, evidence, starts, context.most() + kSpare);
    paths.push_back(descend_by_ward(context, evidence, context.most()));
    return paths;
  }

  /// For each k the partition with the highest V after rounds in this evidence. V of several sorts
  /// of starts cannot be compared, so the best of each are tried.
  std::vector<Answer> best_of(const SearchContext& context, const Evidence& evidence,
                              const std::vector<std::vector<Descent>>& sorts) const {
    std::vector<Answer> tried;
    std::int64_t first = 0;
    for (const auto& descents : sorts) {
      for (std::int64_t k = 1; k <= context.most(); ++k)
        for (const auto start : distinct_starts(descents, k, kTriedPerK)) {
          auto& answer = tried.emplace_back();
          answer.start = first + start;
          answer.fit.labels = descents[static_cast<std::size_t>(start)].fits.at(k).labels;
          answer.fit.k = k;
        }
      first += std::ssize(descents);
    }
    spread(run_, tried, [&](std::int64_t i) {
      auto& answer = tried[static_cast<std::size_t>(i)];
      answer.fit = evidence.fit(std::move(answer.fit.labels), context.links_for(answer.fit.k));
      answer.held_out.v = evidence.quick_score(answer.fit.labels, answer.fit.k);
    });
    std::map<std::int64_t, Answer> best;
    for (auto& answer : tried) {
      const auto found = best.find(answer.fit.k);
      if (found == best.end() || answer.held_out.v > found->second.held_out.v)
        best[answer.fit.k] = std::move(answer);
    }
    std::vector<Answer> answers;
    for (auto& [k, answer] : best) answers.push_back(std::move(answer));
    spread(run_, answers, [&](std::int64_t i) {
      auto& answer = answers[static_cast<std::size_t>(i)];
      answer.held_out = evidence.score(answer.fit.labels, answer.fit.k);
    });
    return answers;
  }

  static void note_agreement(Searched& sight, std::size_t i) {
    auto& answer = sight.answers[i];
    if (i > 0) answer.gain = sight.policies->gain(sight.answers[i - 1].held_out, answer.held_out);
    const auto others = agreements(sight.descents, answer);
    if (!others.empty())
      answer.agreement =
          std::accumulate(others.begin(), others.end(), 0.0) / static_cast<double>(others.size());
  }

  /// States are compared as recorded; actions relative to the state are compared as such.
  bool find_conflicts(Searched& sight, const CommonPolicy& common) const {
    run_.report({.stage = "conflicts", .fraction = 0.0, .sizes = {}});
    const bool as_seen = sight.view == View::kRelative || sight.view == View::kNoise;
    const PartitionConflicts conflicts(
        as_seen ? sight.data : data_, sight.data,
        as_seen ? sight.common_policy(options_.ridge) : common,
        [&](const Trajectories& half) {
          return sight.evidence(half, options_.ridge, rules_, run_);
        },
        rules_, run_);
    return find_conflicts(sight, conflicts);
  }

  /// Asks, from many clusters to few, whether groups act differently in like states, until they do.
  /// Returns whether they do.
  bool find_conflicts(Searched& sight, const PartitionConflicts& conflicts) const {
    bool is_found = false;
    for (auto i = sight.answers.size() - 1; i > 0; --i) {
      auto& answer = sight.answers[i];
      if (answer.fit.k > kAlwaysAsked && answer.fit.k != options_.k &&
          (is_found || !predicts_better(sight, i)))
        continue;
      conflicts.judge(answer);
      is_found =
          is_found || (is_partition_of_policies(answer, rules_) && predicts_better(sight, i));
    }
    if (!is_found) sight.episodes = conflicts.episode_effect();
    return is_found;
  }

  /// Observations repeat and actions are discrete: a table knows all of a policy.
  SearchResult find_tables() {
    run_.report({.stage = "statistics", .fraction = 0.0, .sizes = {}});
    const Stopwatch clock;
    Searched sight;
    sight.data = data_;
    sight.policies = std::make_shared<TableEvidence>(data_, run_);
    statistics_seconds_ = clock.seconds();
    search(sight);
    run_.report({.stage = "conflicts", .fraction = 0.0, .sizes = {}});
    find_conflicts(sight, PartitionConflicts(data_, rules_, run_));
    auto result = conclude(std::move(sight));
    result.statistics_seconds = statistics_seconds_;
    return result;
  }

  /// Where episodes act alike on average, there may still be policies that differ in their noise.
  SearchResult search_noise(const CommonPolicy& common) {
    auto sight =
        look(View::kNoise, with_noise_as_action(data_, common, ActionTargets(data_.actions), run_));
    summarise(sight);
    search(sight);
    find_conflicts(sight, common);
    auto result = conclude(std::move(sight));
    result.count->least = 1;
    result.count->sure = false;
    result.count->doubt = "they differ in their noise alone";
    return result;
  }

  /// Whether episodes have been in like states and hardly acted more differently from one another
  /// than from themselves.
  bool act_alike(const EpisodeEffect& episodes) const {
    return episodes.known && episodes.z < rules_.differ_little &&
           episodes.share + kErrors * episodes.error < rules_.episode_share;
  }

  /// The most clusters of which no two are the same policy and some differ, and which predict
  /// better than fewer; as many as were asked for where a number was.
  std::size_t choose(const Searched& sight) const {
    const auto& answers = sight.answers;
    if (options_.k > 0) return answers.size() - 1;
    const auto fewest = options_.links.least_clusters();
    for (auto i = answers.size() - 1; i > 0 && answers[i].fit.k > fewest; --i)
      if (is_partition_of_policies(answers[i], rules_) && predicts_better(sight, i)) return i;
    const auto found =
        std::ranges::find_if(answers, [&](const Answer& answer) { return answer.fit.k >= fewest; });
    return found == answers.end() ? answers.size() - 1
                                  : static_cast<std::size_t>(found - answers.begin());
  }

  /// Than any answer with fewer clusters.
  static bool predicts_better(const Searched& sight, std::size_t i) {
    const auto fewer = std::span(sight.answers).first(i);
    return std::ranges::all_of(fewer, [&](const Answer& answer) {
      return answer.held_out.v < sight.answers[i].held_out.v;
    });
  }

  static std::optional<BestTwo> best_two(const std::vector<Answer>& answers) {
    const auto found =
        std::ranges::find_if(answers, [](const Answer& answer) { return answer.fit.k == 2; });
    if (found == answers.end() || found->pairs.empty()) return std::nullopt;
    const auto second = std::ranges::count(found->fit.labels, 1);
    return BestTwo{.sizes = {std::ssize(found->fit.labels) - second, second},
                   .v = found->held_out.v,
                   .pair = found->pairs.front()};
  }

  PolicyCount count_policies(const Searched& sight, std::size_t chosen) const {
    const auto& answers = sight.answers;
    const auto& answer = answers[chosen];
    PolicyCount count;
    count.view = name_of(sight.view);
    count.pairs = answer.pairs;
    count.persistence = answer.persistence;
    count.episodes = sight.episodes;
    count.least = least_policies_of(answer);
    count.most = answer.fit.k;
    for (std::size_t i = chosen + 1; i < answers.size(); ++i)
      if (none_same(answers[i], rules_) && predicts_better(sight, i)) count.most = answers[i].fit.k;
    if (answer.fit.k == 1) count.best_two = best_two(answers);
    const auto drift = drift_of(sight, answer);
    if (std::min(drift.z, drift.z_within) >= rules_.different) {
      count.least = 1;
      count.doubt = in_words(drift, sight.data.ids);
    } else {
      count.doubt =
          answer.fit.k > 1 ? doubt_of_several(answer.fit.k, count) : doubt_of_one(sight, count);
    }
    count.sure = count.doubt.empty();
    return count;
  }

  static Drift drift_of(const Searched& sight, const Answer& answer) {
    const auto& evidence = *sight.policies;
    const auto of_pieces =
        evidence.costs_everywhere(answer.fit.labels, answer.fit.k, answer.held_out);
    Matrix costs(evidence.episodes(), answer.fit.k);
    for (std::int64_t i = 0; i < costs.rows; ++i)
      for (auto p = evidence.first_piece(i); p < evidence.first_piece(i + 1); ++p)
        for (std::int64_t j = 0; j < costs.columns; ++j)
          costs(i, j) += of_pieces(p, j) / static_cast<double>(sight.data.length(i));
    return look_for_drift(answer.fit.labels, costs);
  }

  /// Why the number is not sure; nothing where it is.
  std::string doubt_of_several(std::int64_t k, const PolicyCount& count) const {
    if (count.least < k)
      return fmt::format("{} would explain the data as well as anything seen", count.least);
    if (count.most > k) return fmt::format("up to {} may be different", count.most);
    if (count.persistence < rules_.surely_persists)
      return fmt::format("half of the steps leads to other labels (NMI {:.2f})", count.persistence);
    if (std::ranges::any_of(count.pairs, &PairVerdict::alike_later))
      return "some act alike later: one policy that chooses once an episode would explain them";
    for (const auto& pair : count.pairs)
      if (const double z = std::min(pair.z, pair.foretold); z < rules_.surely_different)
        return fmt::format("two differ by {:.1f} standard errors; from {:.0f} on it would be sure",
                           z, rules_.surely_different);
    return "";
  }

  std::string doubt_of_one(const Searched& sight, const PolicyCount& count) const {
    const auto& episodes = sight.episodes;
    if (count.most > 1)
      return fmt::format("whether {} groups differ could not be decided", count.most);
    if (!episodes.known) return "too few episodes have been in like states";
    if (episodes.z >= rules_.differ_little)
      return "episodes act differently in like states, but no groups of them do";
    if (!act_alike(episodes)) return "too few like states to see a small difference";
    const auto& one = sight.answers.front();
    for (const auto& other : std::span(sight.answers).subspan(1)) {
      const auto gain = sight.policies->gain(one.held_out, other.held_out);
      if (gain.mean > kErrors * gain.error)
        return fmt::format("{} predict better, though they act alike", other.fit.k);
      for (const auto& pair : other.pairs)
        if (pair.relation != Relation::kSame || pair.z >= rules_.differ_little)
          return fmt::format("of {} groups, two may differ", other.fit.k);
    }
    return "";
  }

  SearchResult conclude(Searched sight) const {
    SearchResult result;
    result.evidence = sight.policies;
    result.chosen = choose(sight);
    while (sight.answers[result.chosen].fit.k < options_.k && split_for_more(sight, result.chosen))
      ++result.chosen;  // no start may have led to as many as were asked for
    result.count = count_policies(sight, result.chosen);
    const SearchContext context{data_, options_, run_};
    auto& answer = sight.answers[result.chosen];
    improve(context, *sight.policies, answer);
    if (answer.fit.k > 1) {
      const double v_of_one = sight.answers.front().held_out.v;
      result.alternatives = as_good(
          *sight.policies,
          other_answers(context, *sight.policies, sight.descents, answer, answer.fit.k, v_of_one),
          answer, answer.fit.k, v_of_one);
    } else if (options_.tables) {
      result.alternatives =
          told_by_labels_alone(context, *sight.policies, sight.descents, sight.answers);
    }
    add_restarts(sight, answer, result);
    result.answers = std::move(sight.answers);
    return result;
  }

  /// The best answer with one more cluster that splitting one of the answer's gives. Returns
  /// whether there is one.
  bool split_for_more(Searched& sight, std::size_t chosen) const {
    const SearchContext context{data_, options_, run_};
    const auto& from = sight.answers[chosen];
    std::vector<Answer> tried(static_cast<std::size_t>(from.fit.k));
    spread(run_, tried, [&](std::int64_t j) {
      auto& answer = tried[static_cast<std::size_t>(j)];
      answer.start = from.start;
      answer.fit = sight.policies->fit(
          split_cluster(context, *sight.policies, from, static_cast<std::int32_t>(j)),
          options_.links);
      if (answer.fit.k == from.fit.k + 1)
        answer.held_out = sight.policies->score(answer.fit.labels, answer.fit.k);
    });
    std::erase_if(tried, [&](const Answer& answer) { return answer.fit.k != from.fit.k + 1; });
    if (tried.empty()) return false;
    sight.answers.push_back(*std::ranges::max_element(
        tried, {}, [](const Answer& answer) { return answer.held_out.v; }));
    note_agreement(sight, sight.answers.size() - 1);
    return true;
  }

  /// Where each start ended at the answer's k, as objectives of the same features.
  void add_restarts(const Searched& sight, const Answer& answer, SearchResult& result) const {
    const SearchContext context{data_, options_, run_};
    std::vector<ExactFit> fits(sight.descents.size());
    spread(run_, fits, [&](std::int64_t start) {
      const auto& found = sight.descents[static_cast<std::size_t>(start)].fits;
      auto& fit = fits[static_cast<std::size_t>(start)];
      if (start == answer.start)
        fit = answer.fit;
      else if (found.contains(answer.fit.k))
        fit = sight.policies->fit(found.at(answer.fit.k).labels, context.links_for(answer.fit.k));
    });
    for (std::size_t start = 0; start < fits.size(); ++start) {
      const auto& fit = fits[start];
      if (fit.rounds.empty()) continue;  // it had no answer for this k
      RestartSummary summary;
      summary.restart = std::ssize(result.restarts);
      summary.iterations = std::ssize(fit.rounds);
      summary.converged = fit.converged;
      summary.objective = summary.objective_before_merge = fit.objective();
      summary.labels = fit.labels;
      if (static_cast<std::int64_t>(start) == answer.start) result.best_restart = summary.restart;
      for (std::size_t round = 0; round < fit.rounds.size(); ++round)
        result.trace.push_back({.restart = summary.restart,
                                .iteration = static_cast<std::int64_t>(round) + 1,
                                .objective = fit.rounds[round].objective,
                                .changed = fit.rounds[round].changed,
                                .sizes = fit.rounds[round].sizes});
      result.restarts.push_back(std::move(summary));
    }
  }

  const Trajectories& data_;
  const SearchOptions& options_;
  const RunContext& run_;
  Rules rules_;
  double statistics_seconds_ = 0.0;
};

}  // namespace

SearchResult search_by_conflicts(const Trajectories& data, const SearchOptions& options,
                                 const RunContext& run) {
  return Search(data, options, run).find();
}

}  // namespace kindred::policy_search
