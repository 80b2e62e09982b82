#include "kindred/methods/policy_search/search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kindred/core/stopwatch.h"
#include "kindred/dist/spread.h"
#include "kindred/methods/policy_search/conflicts/partition_conflicts.h"
#include "kindred/methods/policy_search/evidence/table_evidence.h"
#include "kindred/methods/policy_search/partitions/alternatives.h"
#include "kindred/methods/policy_search/partitions/moves.h"
#include "kindred/methods/policy_search/partitions/packed_answers.h"
#include "kindred/methods/policy_search/policy_count.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kAlwaysAsked = 2;  // clusters that are tested for conflicts in any case

class Search {
 public:
  Search(const Trajectories& data, const SearchOptions& options, const RunContext& run)
      : data_(data), options_(options), run_(run) {}

  SearchResult find() {
    if (options_.tables) return find_tables();
    auto sights = look_at_views();
    summarise(sights.front());
    const auto recorded = sights.front().features;
    constexpr std::int64_t kParts = 4;  // of the episodes, of which one is held out
    const auto parts = draw_folds(data_.ids, kParts, 1).front();
    for (const auto part : parts) held_out_.push_back(part == 0 ? 1 : 0);
    auto result = conclude(search_views(std::move(sights)));
    if (options_.k != 1 && !is_partition_of_policies(result.answer(), rules_) &&
        !data_.actions.is_discrete() && result.count->episodes.known &&
        result.count->episodes.z < kErrors && result.count->episodes.noise > rules_.is_noise) {
      auto by_noise = search_noise();
      if (is_partition_of_policies(by_noise.answer(), rules_)) {
        result = std::move(by_noise);
      } else if (result.count->sure && !act_alike(by_noise.count->episodes, rules_)) {
        result.count->sure = false;
        result.count->doubt = "noise differs from episode to episode";
      }
    }
    result.recorded = recorded;
    result.statistics_seconds = statistics_seconds_;
    return result;
  }

 private:
  std::vector<Proposals> look_at_views() {
    std::vector<Proposals> sights;
    for (const auto view : views_of(data_)) sights.push_back(look(view, seen_as(view, data_)));
    return sights;
  }

  Proposals look(View view, Trajectories data) {
    run_.report({.stage = "statistics", .fraction = 0.0, .sizes = {}});
    const Stopwatch clock;
    Proposals sight;
    static_cast<Sight&>(sight) = Sight::look(view, data_, std::move(data), options_.cosines, run_);
    statistics_seconds_ += clock.seconds();
    return sight;
  }

  void summarise(Proposals& sight) {
    const Stopwatch clock;
    sight.features =
        sight.evidence(sight.data, *sight.map, options_.ridge, run_, run_.device, ranks_of(run_));
    if (!sight.is_learned)
      sight.linear = std::make_shared<FeatureEvidence>(*sight.features, sight.map->with_cosines(0),
                                                       sight.data.ids);
    statistics_seconds_ += clock.seconds();
  }

  /// As recorded; in the view in which one policy predicts best, if it predicts better there; and
  /// what a network learns in either. Of those whose clusters conflict the one in which policies
  /// predict best, or of all where no clusters do.
  Proposals search_views(std::vector<Proposals> sights) {
    std::vector<Proposals> searched;
    const auto other = static_cast<std::size_t>(
        std::ranges::max_element(sights, {}, &Sight::v_of_one) - sights.begin());
    search_in(std::move(sights.front()), searched);
    if (other != 0 && !is_sure(searched.back())) search_in(std::move(sights[other]), searched);
    for (std::size_t i = 0, views = searched.size(); i < views && !is_sure(searched.back()); ++i)
      search_in(learned(searched[i]), searched);
    for (std::size_t i = 1; i < searched.size(); ++i)
      if (searched[i].is_learned) compare_with_learned(searched[i], searched);
    std::size_t best = 0;
    for (std::size_t i = 1; i < searched.size(); ++i)
      if (is_better(searched[i], searched[best])) best = i;
    return std::move(searched[best]);
  }

  void search_in(Proposals sight, std::vector<Proposals>& searched) {
    if (!sight.features) summarise(sight);
    propose({data_, options_, run_}, searched, sight);
    find_conflicts(sight);
    searched.push_back(std::move(sight));
  }

  /// Nats of every episode that no network sees: [those].
  std::vector<double> nats_of_held_out(const Proposals& sight, const Answer& answer) const {
    const auto nats = sight.by->costs(answer.held_out, answer.held_out);
    double of_step = 0.0;
    for (const double variance : answer.held_out.noise) of_step += 0.5 * std::log(variance);
    std::vector<double> result;
    for (std::size_t i = 0; i < nats.size(); ++i)
      if (held_out_[i] != 0)
        result.push_back(nats[i] +
                         of_step * static_cast<double>(data_.length(static_cast<std::int64_t>(i))));
    return result;
  }

  bool clearly_predicts_better(const Proposals& sight, const Answer& answer,
                               const Proposals& than) const {
    const auto gain = paired_gain(nats_of_held_out(than, than.best(options_.k)),
                                  nats_of_held_out(sight, answer), 1.0);
    return gain.mean > kErrors * gain.error;
  }

  /// One policy deserves as good features as several have: where learned ones predict better, more
  /// clusters must predict better by them too, or far better than whatever they predict.
  void compare_with_learned(const Proposals& learned, std::vector<Proposals>& searched) const {
    for (auto& sight : searched) {
      if (sight.is_learned || sight.view != learned.view ||
          sight.v_of(sight.answers.front(), held_out_) >=
              learned.v_of(learned.answers.front(), held_out_))
        continue;
      for (auto& answer : sight.answers)
        for (std::size_t i = 1; i < learned.answers.size(); ++i)
          if (learned.answers[i].fit.k == answer.fit.k)
            answer.is_one_policy_as_well = !learned.predicts_better(i, rules_) &&
                                           !clearly_predicts_better(sight, answer, learned);
      sight.conflicts = std::ranges::any_of(sight.answers, [&](const Answer& answer) {
        return is_partition_of_policies(answer, rules_);
      });
    }
  }

  bool is_sure(const Proposals& sight) const {
    return options_.k == 0 && sight.conflicts && count_policies(sight, choose(sight), rules_).sure;
  }

  /// A network has seen most episodes, so what it learned is compared by those that it has not.
  bool is_better(const Proposals& a, const Proposals& b) const {
    if (options_.k == 0 && a.conflicts != b.conflicts) return a.conflicts;
    return v_of_best(a, a.is_learned || b.is_learned) > v_of_best(b, a.is_learned || b.is_learned);
  }
  double v_of_best(const Proposals& sight, bool on_held_out) const {
    const auto marked =
        on_held_out ? std::span<const std::uint8_t>(held_out_) : std::span<const std::uint8_t>();
    return sight.v_of(sight.best(options_.k), marked);
  }

  Proposals learned(const Proposals& from) {
    run_.report({.stage = "features", .fraction = 0.0, .sizes = {}});
    const Stopwatch clock;
    Proposals sight;
    static_cast<Sight&>(sight) =
        from.Sight::learned(held_out_, static_cast<std::uint64_t>(options_.seed), run_);
    statistics_seconds_ += clock.seconds();
    return sight;
  }

  void find_conflicts(Proposals& sight) {
    run_.report({.stage = "conflicts", .fraction = 0.0, .sizes = {}});
    const PartitionConflicts conflicts(
        background_of(sight), sight.data,
        [&](const Trajectories& half) {
          return sight.evidence(half, sight.by->map(), options_.ridge, run_);
        },
        rules_, run_);
    find_conflicts(sight, conflicts);
  }

  /// States are compared as recorded, and actions after what the best policy of all episodes
  /// expects; actions relative to the state, and the size of noise, as such.
  const Background& background_of(const Proposals& sight) {
    const auto own = [&] {
      return Background{sight.states, *sight.metric, sight.data,
                        sight.common_policy(options_.ridge)};
    };
    if (sight.view == View::kRelative || sight.view == View::kNoise)
      return other_background_.emplace(own());
    if (sight.view == View::kRecorded) {
      const double v = sight.v_of(sight.answers.front(), held_out_);
      if (v > v_of_common_) background_.emplace(own());
      v_of_common_ = std::max(v, v_of_common_);
    }
    return *background_;
  }

  /// Asks, from many clusters to few, whether groups act differently in like states, until they do.
  void find_conflicts(Proposals& sight, const PartitionConflicts& conflicts) const {
    bool& is_found = sight.conflicts;
    for (auto i = sight.answers.size() - 1; i > 0; --i) {
      auto& answer = sight.answers[i];
      if (answer.fit.k > kAlwaysAsked && answer.fit.k != options_.k &&
          (is_found || !sight.predicts_better(i, rules_)))
        continue;
      conflicts.judge(answer);
      is_found = is_found ||
                 (is_partition_of_policies(answer, rules_) && sight.predicts_better(i, rules_));
    }
    if (!is_found) sight.episodes = conflicts.episode_effect();
  }

  /// Observations repeat and actions are discrete: a table knows all of a policy.
  SearchResult find_tables() {
    run_.report({.stage = "statistics", .fraction = 0.0, .sizes = {}});
    const Stopwatch clock;
    Proposals sight;
    sight.data = data_;
    sight.policies = std::make_shared<TableEvidence>(data_, run_);
    statistics_seconds_ = clock.seconds();
    propose({data_, options_, run_}, {}, sight);
    run_.report({.stage = "conflicts", .fraction = 0.0, .sizes = {}});
    find_conflicts(sight, PartitionConflicts(data_, rules_, run_));
    auto result = conclude(std::move(sight));
    result.statistics_seconds = statistics_seconds_;
    return result;
  }

  /// Where episodes act alike on average, there may still be policies that differ in their noise.
  SearchResult search_noise() {
    rules_.differ_little = rules_.different;  // squares vary too much for less to count
    auto sight =
        look(View::kNoise, with_noise_as_action(data_, background_->seen, background_->common,
                                                ActionTargets(data_.actions), run_));
    summarise(sight);
    propose({data_, options_, run_}, {}, sight);
    find_conflicts(sight);
    auto result = conclude(std::move(sight));
    result.count->least = 1;
    result.count->sure = false;
    result.count->doubt = "they differ in their noise alone";
    return result;
  }

  /// The most clusters of which no two are the same policy and some differ, and which predict
  /// better than fewer; as many as were asked for where a number was.
  std::size_t choose(const Proposals& sight) const {
    const auto& answers = sight.answers;
    if (options_.k > 0) return answers.size() - 1;
    const auto fewest = options_.links.least_clusters();
    for (auto i = answers.size() - 1; i > 0 && answers[i].fit.k > fewest; --i)
      if (is_partition_of_policies(answers[i], rules_) && sight.predicts_better(i, rules_))
        return i;
    const auto found =
        std::ranges::find_if(answers, [&](const Answer& answer) { return answer.fit.k >= fewest; });
    return found == answers.end() ? answers.size() - 1
                                  : static_cast<std::size_t>(found - answers.begin());
  }

  SearchResult conclude(Proposals sight) const {
    SearchResult result;
    result.evidence = sight.policies;
    result.chosen = choose(sight);
    while (sight.answers[result.chosen].fit.k < options_.k &&
           split_for_more({data_, options_, run_}, result.chosen, sight))
      ++result.chosen;  // no start may have led to as many as were asked for
    result.count = count_policies(sight, result.chosen, rules_);
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

  /// Where each start ended at the answer's k, as objectives of the same features.
  void add_restarts(const Proposals& sight, const Answer& answer, SearchResult& result) const {
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
  std::vector<std::uint8_t> held_out_;  // [episodes], that no network sees
  double v_of_common_ = -std::numeric_limits<double>::infinity();  // in the background
  std::optional<Background> background_, other_background_;
  double statistics_seconds_ = 0.0;
};

}  // namespace

SearchResult search_by_conflicts(const Trajectories& data, const SearchOptions& options,
                                 const RunContext& run) {
  return Search(data, options, run).find();
}

}  // namespace kindred::policy_search
