#include "kindred/policies/partition_search.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/core/shared_progress.h"
#include "kindred/data/select.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/policies/feature_evidence.h"
#include "kindred/policies/plane_view.h"
#include "kindred/policies/separation.h"
#include "kindred/policies/sparse_statistics.h"
#include "kindred/policies/table_evidence.h"

namespace kindred {
namespace {

constexpr std::int64_t kSpareClusters = 4;  // more than wanted, to begin with
constexpr std::size_t kTried = 2;           // answers for a k that are tried with richer features
constexpr std::int64_t kMostForTables = 4000;                 // episodes are searched
constexpr std::int64_t kMostForFeatures = 1000;               // a round costs more
constexpr std::int64_t kFewestEpisodes = 100;                 // are worth searching
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 26;  // of statistics: half a GiB
constexpr double kFarBetter = 0.1;                            // nats per step
// Looking closer:
constexpr double kNearly = 0.25;  // of the separation that was needed
constexpr std::int64_t kFinerCosines = 200;
constexpr double kLengths[] = {1.0, 0.5, 0.3};
constexpr std::int64_t kPieceSteps = 100;  // fewer than a piece has
constexpr std::int64_t kFinerStarts = 12;
constexpr std::int64_t kMostFiner = 6;   // policies
constexpr std::int64_t kSpareFiner = 2;  // clusters more than that, to begin with
constexpr std::int64_t kSimpleStarts = 4;
constexpr std::size_t kMostAlternatives = 6;
constexpr double kAsGood = 0.03;             // of what k clusters gain over one
constexpr double kAlike = 0.9;               // NMI from which two answers say the same
constexpr double kFarApart = 3.0;            // times the separation that is needed
constexpr std::size_t kStartsToCompare = 4;  // fewer say nothing about each other
constexpr std::int64_t kSplitStarts = 4;
constexpr std::int64_t kVotes = 5;  // one piece in so many predicted better elsewhere
constexpr double kSame = 0.9999;    // NMI from which two partitions are one

/// One start's answers.
struct Descent {
  std::map<std::int64_t, ExactFit> fits;  // by k
  std::map<std::int64_t, double> v;
};

class Search {
 public:
  Search(const Trajectories& data, const SearchOptions& options, const RunContext& run)
      : data_(data), options_(options), run_(run), fewest_(options.links.least_clusters()) {
    if (!options.tables) targets_ = std::make_shared<ActionTargets>(data.actions);
  }

  SearchResult find() {
    auto result = first_look();
    if (options_.tables || options_.cosines == 0 || is_clear(result)) return result;
    auto closer = closer_look();
    return closer && closer->answer().held_out.v > result.answer().held_out.v ? std::move(*closer)
                                                                              : std::move(result);
  }

 private:
  SearchResult first_look() {
    run_.report({.stage = "statistics", .fraction = 0.0, .sizes = {}});
    View view = plain();
    const auto most = std::max(options_.k, options_.k_max) + kSpareClusters;
    const auto descents = descend(*view.evidence, options_.starts, most);
    auto answers = best_of(*view.evidence, descents);
    if (!options_.tables && options_.cosines > 0) {
      run_.report({.stage = "richer statistics", .fraction = 0.0, .sizes = {}});
      View richer = with_features(FeatureMap(data_.observations, options_.cosines));
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
    return result.alternatives.empty() && same > 1 && !nearly_two;
  }

  /// The search once more on features of their own for policies that change within short distances,
  /// of those tried the ones with which one policy predicts best. Nothing where their statistics
  /// would need too much memory.
  std::optional<SearchResult> closer_look() {
    run_.report({.stage = "finer statistics", .fraction = 0.0, .sizes = {}});
    View view;
    double best = -std::numeric_limits<double>::infinity();
    for (const double length : kLengths) {
      const FeatureMap map(data_.observations, kFinerCosines, length);
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
        (options_.k > 0 ? options_.k : std::min(options_.k_max, kMostFiner)) + kSpareFiner;
    const auto descents = descend(*view.evidence, std::min(options_.starts, kFinerStarts), most);
    auto answers = best_of(*view.evidence, descents);
    judge(*view.evidence, descents, answers);
    return conclude(view, descents, std::move(answers));
  }

  /// What is seen of the data.
  struct View {
    std::shared_ptr<const Evidence> evidence;
    std::optional<FeatureMap> map;  // none where policies are tables
  };

  View plain() const {
    if (options_.tables) return {std::make_shared<TableEvidence>(data_, run_), std::nullopt};
    return with_features(FeatureMap(data_.observations, 0));
  }

  /// Fewer clusters than links keep apart are looked at only to compare with.
  const Links& links_for(std::int64_t k) const {
    static const Links kNone;
    return k < fewest_ ? kNone : options_.links;
  }

  View with_features(const FeatureMap& map) const {
    return {std::make_shared<FeatureEvidence>(data_, map, targets_, options_.ridge, run_), map};
  }

  /// A random partition into more clusters than wanted, and from there down to one.
  Descent descend_from(std::int64_t start, const Evidence& evidence, std::int64_t most) const {
    const auto episodes = data_.episodes();
    const auto clusters = std::min(episodes, most);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(episodes));
    for (std::size_t i = 0; i < labels.size(); ++i)
      labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(clusters));
    Random random(static_cast<std::uint64_t>(options_.seed), "init",
                  static_cast<std::uint64_t>(start));
    random.shuffle(std::span(labels));
    options_.links.enforce(labels, clusters);
    Descent result;
    for (auto k = clusters;;) {
      auto fit = evidence.fit(std::move(labels), links_for(k));
      k = fit.k;
      labels = fit.labels;
      result.v[k] = evidence.quick_score(fit.labels, k);
      result.fits[k] = std::move(fit);
      if (k == 1) return result;
      join_closest(evidence, links_for(k - 1), labels, k);
      --k;
    }
  }

  /// From `starts` partitions into `most` clusters.
  std::vector<Descent> descend(const Evidence& evidence, std::int64_t starts,
                               std::int64_t most) const {
    std::vector<Descent> descents(static_cast<std::size_t>(starts));
    SharedProgress done(starts, [&](double fraction) {
      run_.report({.stage = "searching", .fraction = fraction, .sizes = {}});
    });
    run_.chunks(
        starts, 1,
        [&](std::int64_t begin, std::int64_t end) {
          for (auto r = begin; r < end; ++r) {
            descents[static_cast<std::size_t>(r)] = descend_from(r, evidence, most);
            done.add();
          }
        },
        [&] { done.tell(); });
    return descents;
  }

  /// The starts with an answer for k, the best by V first, each partition once.
  static std::vector<std::int64_t> distinct_starts(const std::vector<Descent>& descents,
                                                   std::int64_t k, std::size_t most) {
    std::vector<std::int64_t> order;
    for (std::size_t r = 0; r < descents.size(); ++r)
      if (descents[r].v.contains(k)) order.push_back(static_cast<std::int64_t>(r));
    const auto of = [&](std::int64_t r) -> const Descent& {
      return descents[static_cast<std::size_t>(r)];
    };
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::int64_t r) { return of(r).v.at(k); });
    std::vector<std::int64_t> distinct;
    for (const auto r : order) {
      const bool known = std::ranges::any_of(distinct, [&](std::int64_t other) {
        return normalized_mutual_information(of(r).fits.at(k).labels, of(other).fits.at(k).labels) >
               kSame;
      });
      if (!known) distinct.push_back(r);
      if (distinct.size() == most) break;
    }
    return distinct;
  }

  /// For each k the partition with the highest V in this view, after rounds in it.
  std::vector<Answer> best_of(const Evidence& evidence,
                              const std::vector<Descent>& descents) const {
    struct Trial {
      std::int64_t k, start;
    };
    const auto most = options_.k > 0 ? options_.k : options_.k_max;
    std::vector<Trial> trials;
    for (std::int64_t k = 1; k <= most; ++k)
      for (const auto start : distinct_starts(descents, k, kTried)) trials.push_back({k, start});
    std::vector<Answer> tried(trials.size());
    run_.chunks(
        static_cast<std::int64_t>(trials.size()), 1, [&](std::int64_t begin, std::int64_t end) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            const auto& from = descents[static_cast<std::size_t>(trials[i].start)];
            auto& answer = tried[i];
            answer.start = trials[i].start;
            answer.fit = evidence.fit(from.fits.at(trials[i].k).labels, links_for(trials[i].k));
            answer.held_out = evidence.score(answer.fit.labels, answer.fit.k);
          }
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
    run_.chunks(
        static_cast<std::int64_t>(answers.size()), 1, [&](std::int64_t begin, std::int64_t end) {
          for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
            auto& answer = answers[i];
            if (!answer.checked) {
              if (answer.fit.k > 1) answer.separation = separation(evidence, data_, answer);
              answer.needed = options_.separation;
            }
            if (i > 0) answer.gain = evidence.gain(answers[i - 1].held_out, answer.held_out);
            answer.agreement = agreement(descents, answer);
          }
        });
  }

  static double agreement(const std::vector<Descent>& descents, const Answer& answer) {
    double sum = 0.0, count = 0.0;
    for (std::size_t r = 0; r < descents.size(); ++r) {
      const auto found = descents[r].fits.find(answer.fit.k);
      if (found == descents[r].fits.end() || static_cast<std::int64_t>(r) == answer.start) continue;
      sum += normalized_mutual_information(found->second.labels, answer.fit.labels);
      ++count;
    }
    return count > 0.0 ? sum / count : 1.0;
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
                                  run_);
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
    if (answer.separation > kFarApart * answer.needed || descents.size() < kStartsToCompare)
      return true;
    for (std::size_t r = 0; r < descents.size(); ++r) {
      const auto found = descents[r].fits.find(answer.fit.k);
      if (found != descents[r].fits.end() && static_cast<std::int64_t>(r) != answer.start &&
          normalized_mutual_information(found->second.labels, answer.fit.labels) > kAlike)
        return true;
    }
    return false;
  }

  /// The fewest clusters that keep apart what is known to be apart.
  std::size_t fewest_answer(const std::vector<Answer>& answers) const {
    const auto found = std::ranges::find_if(
        answers, [&](const Answer& answer) { return answer.fit.k >= fewest_; });
    return found == answers.end() ? answers.size() - 1
                                  : static_cast<std::size_t>(found - answers.begin());
  }

  /// One of the clusters in two, as the best of a few random starts would have it.
  std::vector<std::int32_t> split(const Evidence& evidence, const Answer& answer,
                                  std::int32_t cluster) const {
    std::vector<std::int64_t> members;
    for (std::int64_t i = 0; i < data_.episodes(); ++i)
      if (answer.fit.labels[static_cast<std::size_t>(i)] == cluster) members.push_back(i);
    auto result = answer.fit.labels;
    if (members.size() < 2) return result;
    const auto own = evidence.subset(members);
    ExactFit best;
    for (std::int64_t start = 0; start < kSplitStarts; ++start) {
      Random random(static_cast<std::uint64_t>(options_.seed), "split",
                    static_cast<std::uint64_t>(start));
      std::vector<std::int32_t> halves(members.size());
      for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::int32_t>(i % 2);
      random.shuffle(std::span(halves));
      auto fit = own->fit(std::move(halves), {});
      if (best.rounds.empty() || fit.objective() > best.objective()) best = std::move(fit);
    }
    for (std::size_t i = 0; i < members.size(); ++i)
      if (best.labels[i] == 1)
        result[static_cast<std::size_t>(members[i])] = static_cast<std::int32_t>(answer.fit.k);
    options_.links.enforce(result, answer.fit.k + 1);
    return result;
  }

  /// Whether one of the clusters hides two policies: the best answer with one more cluster that
  /// splitting gives, in place of the one found so far if it is better. Returns whether it is.
  bool split_best(const Evidence& evidence, const std::vector<Descent>& descents,
                  std::vector<Answer>& answers, std::size_t chosen) const {
    const auto& from = answers[chosen];
    std::vector<Answer> tried(static_cast<std::size_t>(from.fit.k));
    run_.chunks(from.fit.k, 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto j = begin; j < end; ++j) {
        auto& answer = tried[static_cast<std::size_t>(j)];
        answer.start = from.start;
        answer.fit =
            evidence.fit(split(evidence, from, static_cast<std::int32_t>(j)), options_.links);
        answer.held_out = evidence.score(answer.fit.labels, answer.fit.k);
      }
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

  /// Moves that may raise V, by policies that have not seen the episode: every episode to the
  /// cluster that predicts it best; and from one cluster to another those episodes together of
  /// which some pieces are predicted better there. Episodes that went astray support each other
  /// wherever they are, so only together do they find back.
  std::vector<std::vector<std::int32_t>> moves(const Evidence& evidence,
                                               const Answer& answer) const {
    const auto& labels = answer.fit.labels;
    const auto k = answer.fit.k;
    const auto costs = evidence.costs_everywhere(labels, k, answer.held_out);
    auto all = labels;
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int32_t>> groups;
    for (std::int64_t i = 0; i < evidence.episodes(); ++i) {
      const auto own = labels[static_cast<std::size_t>(i)];
      std::vector<double> sums(static_cast<std::size_t>(k), 0.0);
      std::vector<std::int64_t> votes(static_cast<std::size_t>(k), 0);
      for (auto p = evidence.first_piece(i); p < evidence.first_piece(i + 1); ++p) {
        for (std::int64_t j = 0; j < k; ++j) sums[static_cast<std::size_t>(j)] += costs(p, j);
        const auto row = costs.row(p);
        ++votes[static_cast<std::size_t>(std::ranges::min_element(row) - row.begin())];
      }
      all[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(std::ranges::min_element(sums) - sums.begin());
      const auto pieces = evidence.first_piece(i + 1) - evidence.first_piece(i);
      for (std::int32_t j = 0; j < k; ++j)
        if (j != own && kVotes * votes[static_cast<std::size_t>(j)] >= pieces)
          groups.try_emplace({own, j}, labels).first->second[static_cast<std::size_t>(i)] = j;
    }
    std::vector<std::vector<std::int32_t>> result{std::move(all)};
    for (auto& [move, moved] : groups) result.push_back(std::move(moved));
    std::erase_if(result, [&](const auto& moved) {
      return moved == labels || 1 + *std::ranges::max_element(moved) < k ||
             consecutive_labels(moved) != moved ||  // a cluster would be empty
             !links_for(k).kept(moved);
    });
    return result;
  }

  void improve(const Evidence& evidence, Answer& answer) const {
    for (bool rose = true; rose;) {
      rose = false;
      auto tried = moves(evidence, answer);
      std::vector<HeldOutScore> scores(tried.size());
      run_.chunks(std::ssize(tried), 1, [&](std::int64_t begin, std::int64_t end) {
        for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i)
          scores[i] = evidence.score(tried[i], answer.fit.k);
      });
      for (std::size_t i = 0; i < tried.size(); ++i) {
        if (scores[i].v <= answer.held_out.v) continue;
        answer.held_out = scores[i];
        answer.fit.labels = tried[i];
        rose = true;
      }
    }
  }

  /// Each start at the k of the answer, in its view, so that objectives can be compared.
  std::vector<ExactFit> at_k(const Evidence& evidence, const std::vector<Descent>& descents,
                             const Answer& answer) const {
    std::vector<ExactFit> fits(descents.size());
    run_.chunks(std::ssize(descents), 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto r = static_cast<std::size_t>(begin); r < static_cast<std::size_t>(end); ++r) {
        const auto found = descents[r].fits.find(answer.fit.k);
        if (static_cast<std::int64_t>(r) == answer.start)
          fits[r] = answer.fit;
        else if (found != descents[r].fits.end())
          fits[r] = evidence.fit(found->second.labels, links_for(answer.fit.k));
      }
    });
    return fits;
  }

  /// Tables know nothing of how observations resemble each other, so where several answers are as
  /// good most of them mean nothing to anybody. Policies that are linear in the cells of planes, as
  /// they lie or as seen from the acting one, have answers that can be put in words.
  std::vector<std::vector<std::int32_t>> simple_partitions(std::int64_t k) const {
    std::vector<std::vector<std::int32_t>> result;
    if (!options_.tables || k == 1) return result;
    const ActionTargets targets(data_.actions);
    for (const auto& view : {PlaneView::raw(data_), PlaneView::egocentric(data_)}) {
      if (!view) continue;
      const SparseStatistics statistics(data_, *view, targets, run_);
      std::vector<ExactFit> fits(kSimpleStarts);
      run_.chunks(kSimpleStarts, 1, [&](std::int64_t start, std::int64_t) {
        std::vector<std::int32_t> labels(static_cast<std::size_t>(data_.episodes()));
        for (std::size_t i = 0; i < labels.size(); ++i)
          labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(k + kSpareClusters));
        Random random(static_cast<std::uint64_t>(options_.seed), "simple",
                      static_cast<std::uint64_t>(start));
        random.shuffle(std::span(labels));
        auto& fit = fits[static_cast<std::size_t>(start)];
        for (;;) {
          fit = fit_exact(statistics, std::move(labels), options_.ridge);
          if (fit.k <= k) return;
          const auto pair =
              kindred::closest_pairs(statistics, fit.labels, fit.k, options_.ridge, 1);
          labels = consecutive_labels(joined_labels(fit.labels, pair.front()));
        }
      });
      const auto best = std::ranges::max_element(fits, {}, [&](const ExactFit& fit) {
        return fit.k == k ? fit.objective() : -std::numeric_limits<double>::infinity();
      });
      if (best->k == k) result.push_back(best->labels);
    }
    return result;
  }

  /// Partitions unlike the answer that predict as well, as far as the folds can tell.
  std::vector<Answer> alternatives(const Evidence& evidence, const std::vector<Descent>& descents,
                                   const Answer& answer, std::int64_t k, double v_of_one) const {
    std::vector<Answer> tried;
    for (const auto start : distinct_starts(descents, k, kMostAlternatives)) {
      auto& other = tried.emplace_back();
      other.start = start;
      other.fit.labels = descents[static_cast<std::size_t>(start)].fits.at(k).labels;
    }
    auto result = as_good(evidence, std::move(tried), answer, k, v_of_one);
    if (result.empty()) return result;
    std::vector<Answer> simple;
    for (auto& labels : simple_partitions(k)) simple.emplace_back().fit.labels = std::move(labels);
    for (auto& other : result) simple.push_back(std::move(other));
    return as_good(evidence, std::move(simple), answer, k, v_of_one);
  }

  /// Those of the partitions, after rounds from them, that predict as well as the answer and are
  /// unlike it and each other.
  std::vector<Answer> as_good(const Evidence& evidence, std::vector<Answer> tried,
                              const Answer& answer, std::int64_t k, double v_of_one) const {
    run_.chunks(std::ssize(tried), 1, [&](std::int64_t begin, std::int64_t end) {
      for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
        tried[i].fit = evidence.fit(std::move(tried[i].fit.labels), links_for(k));
        tried[i].held_out = evidence.score(tried[i].fit.labels, tried[i].fit.k);
      }
    });
    std::ranges::stable_sort(tried, std::greater<>(), [](const Answer& a) { return a.held_out.v; });
    std::vector<Answer> result;
    const auto like = [](const Answer& a, const Answer& b) {
      return normalized_mutual_information(a.fit.labels, b.fit.labels) > kAlike;
    };
    for (auto& other : tried) {
      const auto lost = evidence.gain(other.held_out, answer.held_out);
      const bool is_as_good =
          answer.held_out.v - other.held_out.v <
          std::max(kAsGood * (answer.held_out.v - v_of_one), kErrors * lost.error);
      if (other.fit.k == k && is_as_good && !like(other, answer) &&
          std::ranges::none_of(result, [&](const Answer& kept) { return like(other, kept); }))
        result.push_back(std::move(other));
    }
    return result;
  }

  /// Partitions into two that would predict far better than one policy, were it not that their
  /// labels say as much as they gain: such episodes are too short to tell two policies from one
  /// that does now this, now that.
  std::vector<Answer> told_by_labels_alone(const Evidence& evidence,
                                           const std::vector<Descent>& descents,
                                           const std::vector<Answer>& answers) const {
    if (options_.k == 1 || answers.size() < 2 || answers[1].fit.k != 2) return {};
    const auto free_of_charge = [&](const Answer& answer) {
      double paid = 0.0;
      for (const double nats : answer.held_out.naming) paid += nats;
      return answer.held_out.v + paid / evidence.steps();
    };
    auto result = alternatives(evidence, descents, answers[0], 2, answers[0].held_out.v);
    std::erase_if(result, [&](const Answer& other) {
      return free_of_charge(other) < answers[0].held_out.v + kFarBetter;
    });
    return result;
  }

  SearchResult conclude(const View& view, const std::vector<Descent>& descents,
                        std::vector<Answer> answers) const {
    SearchResult result;
    const auto& evidence = *view.evidence;
    result.evidence = view.evidence;
    result.chosen = choose(view, descents, answers);
    while (options_.k == 0 && answers[result.chosen].fit.k < options_.k_max &&
           split_best(evidence, descents, answers, result.chosen)) {
      const auto chosen = choose(view, descents, answers);
      if (chosen <= result.chosen) break;
      result.chosen = chosen;
    }
    improve(evidence, answers[result.chosen]);
    result.answers = std::move(answers);
    const auto& answer = result.answers[result.chosen];
    result.alternatives = answer.fit.k > 1
                              ? alternatives(evidence, descents, answer, answer.fit.k,
                                             result.answers.front().held_out.v)
                              : told_by_labels_alone(evidence, descents, result.answers);
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

  const Trajectories& data_;
  SearchOptions options_;
  const RunContext& run_;
  std::int64_t fewest_;                           // clusters that links allow
  std::shared_ptr<const ActionTargets> targets_;  // none where policies are tables
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
  std::vector<std::int64_t> episodes(static_cast<std::size_t>(data.episodes()));
  std::iota(episodes.begin(), episodes.end(), 0);
  if (std::ssize(episodes) <= most) return episodes;
  std::vector<std::uint64_t> place;
  for (const auto& id : data.ids) place.push_back(Random(0, "sample/" + id)());
  for (const auto i : options.links.episodes()) place[static_cast<std::size_t>(i)] = 0;
  std::ranges::nth_element(episodes, episodes.begin() + most, {}, [&](std::int64_t i) {
    return std::pair(place[static_cast<std::size_t>(i)], i);
  });
  episodes.resize(static_cast<std::size_t>(most));
  std::ranges::sort(episodes);
  return episodes;
}

SearchResult search_partitions(const Trajectories& data, const SearchOptions& options,
                               const RunContext& run) {
  return Search(data, options, run).find();
}

}  // namespace kindred
