#include "kindred/policies/partition_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "kindred/core/error.h"
#include "kindred/core/stopwatch.h"
#include "kindred/dist/spread.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/policies/alternatives.h"
#include "kindred/policies/feature_evidence.h"
#include "kindred/policies/moves.h"
#include "kindred/policies/packed_answers.h"
#include "kindred/policies/separation.h"
#include "kindred/policies/table_evidence.h"

namespace kindred {
namespace {

constexpr std::int64_t kSpareClusters = 4;  // more than wanted, to begin with
constexpr std::size_t kTried = 2;           // answers for a k that are tried with richer features
constexpr std::int64_t kMostForTables = 4000;                 // episodes are searched
constexpr std::int64_t kMostForFeatures = 1000;               // a round costs more
constexpr std::int64_t kFewestEpisodes = 100;                 // are worth searching
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 26;  // of statistics: half a GiB
// Looking closer:
constexpr double kNearly = 0.25;  // of the separation that was needed
constexpr std::int64_t kFinerCosines = 200;
constexpr double kLengths[] = {1.0, 0.5, 0.3};
constexpr std::int64_t kPieceSteps = 100;  // fewer than a piece has
constexpr std::int64_t kFinerStarts = 12;
constexpr std::int64_t kMostFiner = 6;       // policies
constexpr std::int64_t kSpareFiner = 2;      // clusters more than that, to begin with
constexpr double kFarApart = 3.0;            // times the separation that is needed
constexpr std::size_t kStartsToCompare = 4;  // fewer say nothing about each other

class Search {
 public:
  Search(const Trajectories& data, const SearchOptions& options, const RunContext& run)
      : search_{data, options, run}, data_(data), options_(options), run_(run) {
    if (options.tables) return;
    targets_ = std::make_shared<ActionTargets>(data.actions);
    numbers_.emplace(data.observations, 0);
  }

  SearchResult find() {
    auto result = first_look();
    if (!options_.tables && options_.cosines > 0 && !is_clear(result)) {
      auto closer = closer_look(result.answer().fit.k);
      if (closer && closer->answer().held_out.v > result.answer().held_out.v)
        result = std::move(*closer);
    }
    result.statistics_seconds = statistics_seconds_;
    return result;
  }

 private:
  SearchResult first_look() {
    run_.report({.stage = "statistics", .fraction = 0.0, .sizes = {}});
    View view, richer;
    if (options_.tables) {
      view.evidence = std::make_shared<TableEvidence>(data_, run_);
    } else if (options_.cosines == 0) {
      view = with_features(*numbers_);
    } else {
      const auto map = numbers_->with_cosines(options_.cosines);
      const auto evidence = evidence_with(map);
      richer = {evidence, map};
      view = {std::make_shared<FeatureEvidence>(*evidence, *numbers_, data_.ids), *numbers_};
    }
    const auto most = std::max(options_.k, options_.k_max) + kSpareClusters;
    const auto descents = descend(search_, *view.evidence, options_.starts, most);
    auto answers = best_of(*view.evidence, descents);
    if (richer.evidence) {
      auto refined = best_of(*richer.evidence, descents);
      if (best_v(refined) > best_v(answers)) {
        view = std::move(richer);
        answers = std::move(refined);
      }
    }
    judge(*view.evidence, descents, answers);
    return conclude(view, descents, std::move(answers));
  }

  /// Whether other starts led to the answer, none other is as good, and one policy is not an answer
  /// for want of little.
  bool is_clear(const SearchResult& result) const {
    const auto& answer = result.answer();
    const auto same = std::ranges::count_if(result.restarts, [&](const RestartSummary& restart) {
      return normalized_mutual_information(restart.labels, answer.fit.labels) > kAlike;
    });
    const bool nearly_two = options_.k == 0 && answer.fit.k == 1 && result.answers.size() > 1 &&
                            result.answers[1].separation > kNearly * result.answers[1].needed;
    return result.alternatives.empty() && (same > 1 || options_.starts == 1) && !nearly_two;
  }

  /// The search once more on features of their own for policies that change within short distances,
  /// of those tried the ones with which one policy predicts best, for at least as many policies as
  /// were `found`. Nothing where their statistics would need too much memory.
  std::optional<SearchResult> closer_look(std::int64_t found) {
    run_.report({.stage = "finer statistics", .fraction = 0.0, .sizes = {}});
    View view;
    double best = -std::numeric_limits<double>::infinity();
    for (const double length : kLengths) {
      const auto map = numbers_->with_cosines(kFinerCosines, length);
      const StatisticsLayout layout{map.count(), targets_->count()};
      if (layout.size() * (2 * data_.episodes() + data_.steps() / kPieceSteps) > kMostNumbers)
        return std::nullopt;
      auto finer = with_features(map);
      const double v = finer.evidence->quick_score(
          std::vector<std::int32_t>(static_cast<std::size_t>(data_.episodes()), 0), 1);
      if (v <= best) continue;
      best = v;
      view = std::move(finer);
    }
    const auto most =
        std::max({options_.k, found, search_.fewest, std::min(options_.k_max, kMostFiner)}) +
        kSpareFiner;
    const auto descents =
        descend(search_, *view.evidence, std::min(options_.starts, kFinerStarts), most);
    auto answers = best_of(*view.evidence, descents);
    judge(*view.evidence, descents, answers);
    return conclude(view, descents, std::move(answers));
  }

  /// What is seen of the data.
  struct View {
    std::shared_ptr<const Evidence> evidence;
    std::optional<FeatureMap> map;  // none where policies are tables
  };

  View with_features(const FeatureMap& map) { return {evidence_with(map), map}; }

  std::shared_ptr<const FeatureEvidence> evidence_with(const FeatureMap& map) {
    const Stopwatch clock;
    auto evidence = std::make_shared<FeatureEvidence>(data_, map, targets_, options_.ridge, run_,
                                                      run_.device, ranks_of(run_));
    statistics_seconds_ += clock.seconds();
    return evidence;
  }

  /// For each k the partition with the highest V in this view, after rounds in it.
  std::vector<Answer> best_of(const Evidence& evidence,
                              const std::vector<Descent>& descents) const {
    struct Trial {
      std::int64_t k, start;
    };
    std::vector<Trial> trials;
    for (std::int64_t k = 1; k <= search_.most(); ++k)
      for (const auto start : distinct_starts(descents, k, kTried)) trials.push_back({k, start});
    std::vector<Answer> tried(trials.size());
    spread(run_, tried, [&](std::int64_t piece) {
      const auto& [k, start] = trials[static_cast<std::size_t>(piece)];
      auto& answer = tried[static_cast<std::size_t>(piece)];
      answer.start = start;
      answer.fit = evidence.fit(descents[static_cast<std::size_t>(start)].fits.at(k).labels,
                                search_.links_for(k));
      answer.held_out = evidence.score(answer.fit.labels, answer.fit.k);
    });
    std::map<std::int64_t, Answer> best;
    for (auto& answer : tried) {
      const auto found = best.find(answer.fit.k);
      if (found == best.end() || answer.held_out.v > found->second.held_out.v)
        best[answer.fit.k] = std::move(answer);
    }
    std::vector<Answer> answers;
    for (auto& [k, answer] : best) answers.push_back(std::move(answer));
    return answers;
  }

  static double best_v(std::span<const Answer> answers) {
    double best = -std::numeric_limits<double>::infinity();
    for (const auto& answer : answers) best = std::max(best, answer.held_out.v);
    return best;
  }

  void judge(const Evidence& evidence, const std::vector<Descent>& descents,
             std::vector<Answer>& answers) const {
    const auto at = [&](std::int64_t i) -> Answer& { return answers[static_cast<std::size_t>(i)]; };
    spread(run_, {.pieces = std::ssize(answers),
                  .work =
                      [&](std::int64_t i) {
                        if (!at(i).judged && at(i).fit.k > 1)
                          at(i).separation = separation(evidence, data_, at(i));
                      },
                  .pack = [&](std::int64_t i, Packer& to) { to.add(at(i).separation); },
                  .unpack = [&](std::int64_t i, Unpacker& from) { from.take(at(i).separation); },
                  .meanwhile = {}});
    for (std::size_t i = 0; i < answers.size(); ++i) {
      auto& answer = answers[i];
      if (!answer.judged) answer.needed = options_.separation;
      answer.judged = true;
      if (i > 0) answer.gain = evidence.gain(answers[i - 1].held_out, answer.held_out);
      const auto others = agreements(descents, answer);
      if (!others.empty())
        answer.agreement =
            std::accumulate(others.begin(), others.end(), 0.0) / static_cast<double>(others.size());
    }
  }

  /// The most clusters that predict better than fewer, of which every two are told apart, and to
  /// which more than one start leads; the asked number where it was asked for.
  std::size_t choose(const View& view, const std::vector<Descent>& descents,
                     std::vector<Answer>& answers) const {
    if (options_.k > 0) return answers.size() - 1;
    SeparationCheck check;
    if (view.map && options_.cosines > 0)
      check = [&](const Answer& answer) {
        return checked_separation(data_, *view.evidence, *view.map, targets_, options_, answer,
                                  run_, ranks_of(run_));
      };
    const auto fewest = fewest_answer(answers);
    for (auto i = answers.size() - 1; i > fewest; --i)
      if (is_believed(answers[i], best_v(std::span(answers).first(i)), check) &&
          is_found_again(descents, answers[i]))
        return i;
    return fewest;
  }

  /// Whether another start led to much the same, or the clusters are so far apart that one start is
  /// enough.
  static bool is_found_again(const std::vector<Descent>& descents, const Answer& answer) {
    return answer.separation > kFarApart * answer.needed || descents.size() < kStartsToCompare ||
           std::ranges::any_of(agreements(descents, answer),
                               [](double nmi) { return nmi > kAlike; });
  }

  /// The fewest clusters that keep apart what is known to be apart.
  std::size_t fewest_answer(const std::vector<Answer>& answers) const {
    const auto found = std::ranges::find_if(
        answers, [&](const Answer& answer) { return answer.fit.k >= search_.fewest; });
    return found == answers.end() ? answers.size() - 1
                                  : static_cast<std::size_t>(found - answers.begin());
  }

  /// Whether one of the clusters hides two policies: the best answer with one more cluster that
  /// splitting gives, in place of the one found so far if it is better. Returns whether it is.
  bool split_best(const Evidence& evidence, const std::vector<Descent>& descents,
                  std::vector<Answer>& answers, std::size_t chosen) const {
    const auto& from = answers[chosen];
    std::vector<Answer> tried(static_cast<std::size_t>(from.fit.k));
    spread(run_, tried, [&](std::int64_t j) {
      auto& answer = tried[static_cast<std::size_t>(j)];
      answer.start = from.start;
      answer.fit = evidence.fit(
          split_cluster(search_, evidence, from, static_cast<std::int32_t>(j)), options_.links);
      if (answer.fit.k != from.fit.k + 1) return;  // it fell together again
      answer.held_out = evidence.score(answer.fit.labels, answer.fit.k);
    });
    std::erase_if(tried, [&](const Answer& answer) { return answer.fit.k != from.fit.k + 1; });
    if (tried.empty()) return false;
    auto best = std::ranges::max_element(tried, {}, [](const Answer& a) { return a.held_out.v; });
    const auto next = answers.begin() + static_cast<std::ptrdiff_t>(chosen) + 1;
    if (next != answers.end() && next->fit.k == best->fit.k) {
      if (best->held_out.v <= next->held_out.v) return false;
      *next = std::move(*best);
    } else {
      answers.insert(next, std::move(*best));
    }
    judge(evidence, descents, answers);
    return true;
  }

  /// Puts another partition with as many clusters in an answer's place, and that in its.
  static void exchange(Answer& answer, Answer& other) {
    std::swap(answer.fit, other.fit);
    std::swap(answer.held_out, other.held_out);
    std::swap(answer.start, other.start);
    std::swap(answer.simple, other.simple);
  }

  /// Each start at the k of the answer, in its view, so that objectives can be compared.
  std::vector<ExactFit> at_k(const Evidence& evidence, const std::vector<Descent>& descents,
                             const Answer& answer) const {
    // Of starts that led to the same labels, the first is fitted for all.
    std::map<std::vector<std::int32_t>, std::size_t> first;
    std::vector<std::optional<std::size_t>> like(descents.size());
    for (std::size_t r = 0; r < descents.size(); ++r) {
      const auto found = descents[r].fits.find(answer.fit.k);
      if (found != descents[r].fits.end() && static_cast<std::int64_t>(r) != answer.start)
        like[r] = first.try_emplace(found->second.labels, r).first->second;
    }
    std::vector<ExactFit> fits(descents.size());
    spread(run_, fits, [&](std::int64_t start) {
      const auto r = static_cast<std::size_t>(start);
      if (start == answer.start)
        fits[r] = answer.fit;
      else if (like[r] == r)
        fits[r] =
            evidence.fit(descents[r].fits.at(answer.fit.k).labels, search_.links_for(answer.fit.k));
    });
    for (std::size_t r = 0; r < fits.size(); ++r)
      if (like[r]) fits[r] = fits[*like[r]];
    return fits;
  }

  SearchResult conclude(const View& view, const std::vector<Descent>& descents,
                        std::vector<Answer> answers) const {
    SearchResult result;
    const auto& evidence = *view.evidence;
    result.evidence = view.evidence;
    result.chosen = choose(view, descents, answers);
    // No start may have an answer with as many as were asked for.
    while (answers[result.chosen].fit.k < options_.k &&
           split_best(evidence, descents, answers, result.chosen))
      ++result.chosen;
    while (options_.k == 0 && answers[result.chosen].fit.k < options_.k_max &&
           split_best(evidence, descents, answers, result.chosen)) {
      const auto chosen = choose(view, descents, answers);
      if (chosen <= result.chosen) break;
      result.chosen = chosen;
    }
    improve(search_, evidence, answers[result.chosen]);
    result.answers = std::move(answers);
    auto& answer = result.answers[result.chosen];
    if (answer.fit.k > 1) {
      const auto k = answer.fit.k;
      const double v_of_one = result.answers.front().held_out.v;
      auto others = other_answers(search_, evidence, descents, answer, k, v_of_one);
      for (auto& other : others)
        if (other.fit.k == k && other.held_out.v > answer.held_out.v) exchange(answer, other);
      result.alternatives = as_good(evidence, std::move(others), answer, k, v_of_one);
      const auto simple = std::ranges::find_if(result.alternatives, &Answer::simple);
      if (!answer.simple && simple != result.alternatives.end()) exchange(answer, *simple);
    } else {
      result.alternatives = told_by_labels_alone(search_, evidence, descents, result.answers);
    }
    const auto fits = at_k(evidence, descents, answer);
    for (std::size_t r = 0; r < fits.size(); ++r) {
      const auto& fit = fits[r];
      if (fit.rounds.empty()) continue;  // it had no answer for this k
      const auto number = std::ssize(result.restarts);
      if (static_cast<std::int64_t>(r) == answer.start) result.best_restart = number;
      RestartSummary summary;
      summary.restart = number;
      summary.iterations = std::ssize(fit.rounds);
      summary.converged = fit.converged;
      summary.objective = summary.objective_before_merge = fit.objective();
      summary.labels = fit.labels;
      result.restarts.push_back(std::move(summary));
      for (std::size_t round = 0; round < fit.rounds.size(); ++round)
        result.trace.push_back({.restart = number,
                                .iteration = static_cast<std::int64_t>(round) + 1,
                                .objective = fit.rounds[round].objective,
                                .changed = fit.rounds[round].changed,
                                .sizes = fit.rounds[round].sizes});
    }
    return result;
  }

  SearchContext search_;
  const Trajectories& data_;
  const SearchOptions& options_;
  const RunContext& run_;
  std::shared_ptr<const ActionTargets> targets_;  // none where policies are tables
  std::optional<FeatureMap> numbers_;             // without cosines; likewise
  double statistics_seconds_ = 0.0;
};

}  // namespace

std::vector<std::int64_t> episodes_to_search(const Trajectories& data,
                                             const SearchOptions& options) {
  std::int64_t most = options.tables ? kMostForTables : kMostForFeatures;
  if (!options.tables) {
    const auto numbers = [&](std::int64_t cosines) {
      const StatisticsLayout layout{
          1 + data.observations.dim() + cosines,
          data.actions.is_discrete() ? data.actions.count() : data.actions.dim()};
      const auto pieces = std::ssize(pieces_of(0, data.steps() / data.episodes()));
      return layout.size() * (pieces > 1 ? 1 + pieces : 1);
    };
    most = std::min(most, kMostNumbers / numbers(options.cosines));
    if (most < std::min(data.episodes(), kFewestEpisodes))
      throw InvalidArgument(
          "{} numbers per observation are too many for policies in closed form; give the number of "
          "clusters with -k, and policy 'mlp'",
          data.observations.dim());
  }
  return sample_by_id(data.ids, most, options.links.episodes());
}

SearchResult search_partitions(const Trajectories& data, const SearchOptions& options,
                               const RunContext& run) {
  return Search(data, options, run).find();
}

}  // namespace kindred
