#include "kindred/methods/policy_search/evidence/plane_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/data/select.h"
#include "kindred/dist/spread.h"
#include "kindred/methods/policy_search/evidence/held_out_score.h"
#include "kindred/methods/policy_search/evidence/sparse_statistics.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kFirstEpisodes = 10000;  // give the first labels
constexpr std::int64_t kFirstRounds = 30;
constexpr std::int64_t kSpare = 2;  // clusters more than wanted, to begin with
constexpr std::int64_t kMostNetworkRounds = 20;
constexpr std::int64_t kPatience = 3;     // rounds without a better V
constexpr std::int64_t kTrainings = 200;  // most steps of a network in a round
constexpr std::int64_t kFewestTrainings = 30;
constexpr std::int64_t kBatch = 1024;
constexpr std::int64_t kPasses = 2;  // over its own data in a round, between the two
constexpr std::int64_t kHalves = 2;
constexpr std::int64_t kFurther = 2;  // numbers of clusters tried without a better V

}  // namespace

class PlaneSearch {
 public:
  PlaneSearch(const Trajectories& data, const PlaneSearchOptions& options, const RunContext& run)
      : data_(data),
        options_(options),
        run_(run),
        targets_(data.actions),
        half_of_(draw_folds(data.ids, kHalves, 1).front()) {
    const auto sample = sample_by_id(data.ids, kFirstEpisodes, options.links.episodes());
    choose_view(sample);
    everything_ = std::make_unique<SparseStatistics>(data, *view_, targets_, run);
    first_ = everything_->subset(sample);
    first_links_ = options.links.among(sample);
    for (const auto i : sample) first_ids_.push_back(data.ids[static_cast<std::size_t>(i)]);
  }

  PlaneSearchResult find() {
    PlaneSearchResult result;
    result.view = view_;
    const auto least = std::max<std::int64_t>(1, options_.links.least_clusters());
    const auto most = options_.k > 0 ? options_.k : options_.k_max;
    std::int64_t best_k = 0;
    for (std::int64_t k = 1; k <= most && (options_.k > 0 || k <= best_k + kFurther || k <= least);
         ++k) {
      if (k > 1 && (k < least || (options_.k > 0 && k < options_.k))) continue;
      result.answers.push_back(refine(first_labels(k, 0), k));
      const auto i = result.answers.size() - 1;
      auto& answer = result.answers[i];
      if (i > 0) answer.gain = gain(result.answers[i - 1], answer);
      const auto& best = result.answers[result.chosen];
      if (best_k == 0 || k == options_.k || best.k() < least || answer.v > best.v) {
        result.chosen = i;
        best_k = answer.k();
      }
    }
    auto& answer = result.answers[result.chosen];
    if (options_.starts > 1 && answer.k() > 1 && options_.links.empty()) {
      result.again = refine(first_labels(answer.k(), 1), answer.k());
      if (result.again.v > answer.v) std::swap(result.again, answer);
      if (result.chosen > 0) answer.gain = gain(result.answers[result.chosen - 1], answer);
    }
    return result;
  }

  PlaneAnswer judge(std::span<const std::int32_t> labels, std::int64_t k) const {
    return refine({labels.begin(), labels.end()}, k, true);
  }

 private:
  /// The view in which one policy for everything predicts best.
  void choose_view(std::span<const std::int64_t> sample) {
    const auto part = select_episodes(data_, sample);
    const auto v_of_one = [&](const PlaneView& view) {
      const SparseStatistics statistics(part, view, targets_, run_);
      return HeldOut(statistics, part.ids, options_.ridge)
          .quick_score(std::vector<std::int32_t>(part.ids.size(), 0), 1);
    };
    const auto raw = PlaneView::raw(data_);
    if (!raw || !data_.actions.is_discrete())
      throw InvalidArgument("the data are not planes of zeros and ones with discrete actions");
    const auto egocentric = raw->egocentric(data_);
    const bool turned = egocentric && v_of_one(*egocentric) > v_of_one(*raw);
    view_ = std::make_shared<PlaneView>(turned ? *egocentric : *raw);
  }

  /// Labels of all episodes by policies in closed form: those of the start with the best V, or the
  /// next best.
  std::vector<std::int32_t> first_labels(std::int64_t k, std::size_t rank) const {
    std::vector<std::int32_t> none(static_cast<std::size_t>(data_.episodes()), 0);
    if (k == 1) return none;
    if (rank == 0 && k == options_.links.least_clusters()) return labels_from_links(k);
    const HeldOut held_out(*first_, first_ids_, options_.ridge);
    std::vector<std::vector<std::int32_t>> found(static_cast<std::size_t>(options_.starts));
    std::vector<double> v(found.size(), -std::numeric_limits<double>::infinity());
    run_.report({.stage = fmt::format("first labels, k = {}", k), .fraction = 0.0, .sizes = {}});
    const auto begin = [&](std::int64_t start) {
      auto labels = random_partition(first_->episodes(), k + kSpare,
                                     Random(static_cast<std::uint64_t>(options_.seed), "init",
                                            static_cast<std::uint64_t>(start)));
      first_links_.enforce(labels, k + kSpare);
      auto fit =
          fit_down_to(k, *first_, std::move(labels), options_.ridge, first_links_, kFirstRounds);
      if (fit.k == k) v[static_cast<std::size_t>(start)] = held_out.quick_score(fit.labels, k);
      found[static_cast<std::size_t>(start)] = std::move(fit.labels);
    };
    spread(run_, {.pieces = options_.starts,
                  .work = begin,
                  .pack =
                      [&](std::int64_t start, Packer& to) {
                        to.add(v[static_cast<std::size_t>(start)]);
                        to.add(found[static_cast<std::size_t>(start)]);
                      },
                  .unpack =
                      [&](std::int64_t start, Unpacker& from) {
                        from.take(v[static_cast<std::size_t>(start)]);
                        from.take(found[static_cast<std::size_t>(start)]);
                      },
                  .meanwhile = {}});
    std::vector<std::size_t> order(found.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t s) { return v[s]; });
    const auto& best = found[order[std::min(rank, order.size() - 1)]];
    return extend(solve_policies(*first_, best, k, options_.ridge), k);
  }

  /// Labels by policies that know the linked episodes alone.
  std::vector<std::int32_t> labels_from_links(std::int64_t k) const {
    std::vector<std::int32_t> known(static_cast<std::size_t>(data_.episodes()), 0);
    options_.links.enforce(known, k);
    std::vector<std::uint8_t> linked(known.size(), 0);
    for (const auto i : options_.links.episodes()) linked[static_cast<std::size_t>(i)] = 1;
    for (std::size_t i = 0; i < known.size(); ++i)
      if (linked[i] == 0) known[i] = -1;
    return extend(solve_policies(*everything_, known, k, options_.ridge), k, known);
  }

  /// Every episode to the policy that misses least of it.
  std::vector<std::int32_t> extend(const ExactPolicies& policies, std::int64_t k,
                                   std::vector<std::int32_t> labels = {}) const {
    labels.resize(static_cast<std::size_t>(data_.episodes()), 0);
    for (auto& label : labels) label = std::max(label, 0);
    options_.links.enforce(labels, k);
    const auto costs = everything_->episode_costs(policies.weights, k, policies.noise);
    options_.links.assign(costs, labels);
    return labels;
  }

  /// Rounds of networks from given labels, up to the best V. Labels that are kept are only judged.
  PlaneAnswer refine(std::vector<std::int32_t> labels, std::int64_t k, bool keep = false) const {
    const auto actions = data_.actions.count();
    std::vector<SparseNetwork> networks;
    for (std::int64_t n = 0; n < kHalves * k; ++n)
      networks.emplace_back(view_->columns(), actions,
                            Random(static_cast<std::uint64_t>(options_.seed), "network",
                                   static_cast<std::uint64_t>(k << 32 | n)));
    PlaneAnswer best;
    best.v = -std::numeric_limits<double>::infinity();
    std::vector<ExactRound> rounds;
    std::int64_t best_round = 0;
    for (std::int64_t round = 0; round < kMostNetworkRounds && round <= best_round + kPatience;
         ++round) {
      run_.report({.stage = fmt::format("networks, k = {}", k),
                   .fraction = static_cast<double>(round) / static_cast<double>(kMostNetworkRounds),
                   .sizes = {}});
      const auto scores = train_and_score(labels, k, round, networks);
      auto& done = rounds.emplace_back();
      done.sizes.resize(static_cast<std::size_t>(k));
      auto costs = naming_costs(labels);
      for (std::size_t i = 0; i < labels.size(); ++i) {
        ++done.sizes[static_cast<std::size_t>(labels[i])];
        const double own = scores(static_cast<std::int64_t>(i), labels[i]);
        done.objective += own;
        costs[i] -= own;
      }
      const double v =
          -std::accumulate(costs.begin(), costs.end(), 0.0) / static_cast<double>(data_.steps());
      if (!keep) {
        Matrix misfits = scores;
        for (auto& x : misfits.values) x = -x;
        done.changed = options_.links.assign(misfits, labels);
      }
      if (v > best.v) {
        best_round = round;
        best.v = v;
        best.labels = labels;
        best.scores = scores;
        best.costs = std::move(costs);
        best.networks = networks;
      }
      std::vector<std::int64_t> sizes(static_cast<std::size_t>(k), 0);
      for (const auto label : labels) ++sizes[static_cast<std::size_t>(label)];
      if (std::ranges::find(sizes, 0) != sizes.end()) break;  // a network would learn from nothing
    }
    best.rounds.assign(rounds.begin(), rounds.begin() + best_round + 1);
    exchange(best.networks);
    return best;
  }

  /// Networks stay with the process that trains them until they are needed by all.
  void exchange(std::vector<SparseNetwork>& networks) const {
    const auto at = [&](std::int64_t n) -> SparseNetwork& {
      return networks[static_cast<std::size_t>(n)];
    };
    spread(run_, {.pieces = std::ssize(networks),
                  .work = [](std::int64_t) {},
                  .pack = [&](std::int64_t n, Packer& to) { to.add(at(n).parameters()); },
                  .unpack =
                      [&](std::int64_t n, Unpacker& from) {
                        std::vector<float> parameters;
                        from.take(parameters);
                        at(n).adopt(std::move(parameters));
                      },
                  .meanwhile = {}});
  }

  /// Trains every network on its cluster's episodes of the other half, then lets it judge its own.
  Matrix train_and_score(std::span<const std::int32_t> labels, std::int64_t k, std::int64_t round,
                         std::vector<SparseNetwork>& networks) const {
    const auto taken = data_.actions.ints().span();
    const auto& rows = everything_->rows();
    Matrix scores(data_.episodes(), k);
    const auto train = [&](std::int64_t n) {
      auto& network = networks[static_cast<std::size_t>(n)];
      const auto half = n / k, cluster = n % k;
      std::vector<std::int64_t> own;
      for (std::int64_t i = 0; i < data_.episodes(); ++i)
        if (labels[static_cast<std::size_t>(i)] == cluster &&
            half_of_[static_cast<std::size_t>(i)] != half)
          for (auto t = data_.offsets[i]; t < data_.offsets[i + 1]; ++t) own.push_back(t);
      Random random(static_cast<std::uint64_t>(options_.seed), "batches",
                    static_cast<std::uint64_t>((k << 32 | n) << 16 | round));
      std::vector<std::int64_t> batch(static_cast<std::size_t>(std::min(kBatch, std::ssize(own))));
      const auto trainings =
          std::clamp(kPasses * std::ssize(own) / kBatch, kFewestTrainings, kTrainings);
      for (std::int64_t step = 0; step < trainings && !own.empty(); ++step) {
        run_.throw_if_stopped();
        for (auto& t : batch) t = own[random.below(own.size())];
        network.train(rows, taken, batch);
      }
      std::vector<double> log_probs(static_cast<std::size_t>(data_.actions.count()));
      for (std::int64_t i = 0; i < data_.episodes(); ++i) {
        if (half_of_[static_cast<std::size_t>(i)] != half) continue;
        run_.throw_if_stopped();
        for (auto t = data_.offsets[i]; t < data_.offsets[i + 1]; ++t) {
          network.log_probs(rows.of(t), log_probs);
          scores(i, cluster) +=
              log_probs[static_cast<std::size_t>(taken[static_cast<std::size_t>(t)])];
        }
      }
    };
    const auto judged = [&](std::int64_t n, const auto& visit) {
      for (std::int64_t i = 0; i < data_.episodes(); ++i)
        if (half_of_[static_cast<std::size_t>(i)] == n / k) visit(scores(i, n % k));
    };
    spread(run_,
           {.pieces = kHalves * k,
            .work = train,
            .pack = [&](std::int64_t n, Packer& to) { judged(n, [&](double& x) { to.add(x); }); },
            .unpack = [&](std::int64_t n,
                          Unpacker& from) { judged(n, [&](double& x) { from.take(x); }); },
            .meanwhile = {}});
    return scores;
  }

  PairedGain gain(const PlaneAnswer& from, const PlaneAnswer& to) const {
    return paired_gain(from.costs, to.costs, static_cast<double>(data_.steps()));
  }

  const Trajectories& data_;
  PlaneSearchOptions options_;
  RunContext run_;
  ActionTargets targets_;
  std::vector<std::int32_t> half_of_;  // [episodes]
  std::shared_ptr<const PlaneView> view_;
  std::unique_ptr<const SparseStatistics> everything_;
  std::unique_ptr<const EpisodeStatistics> first_;  // of the episodes that give the first labels
  Links first_links_;
  std::vector<std::string> first_ids_;
};

namespace {

RunContext without_watchers(const Workers& workers) {
  RunContext run;
  static_cast<Workers&>(run) = workers;
  return run;
}

}  // namespace

PlaneJudge::PlaneJudge(const Trajectories& data, const Workers& workers)
    : search_(
          std::make_unique<PlaneSearch>(data, PlaneSearchOptions{}, without_watchers(workers))) {}

PlaneJudge::~PlaneJudge() = default;

HeldOutScore PlaneJudge::score(std::span<const std::int32_t> labels, std::int64_t k) const {
  const auto answer = search_->judge(labels, k);
  HeldOutScore result;
  result.v = answer.v;
  result.naming = naming_costs(labels);
  for (std::size_t i = 0; i < labels.size(); ++i)
    result.errors.push_back(answer.costs[i] - result.naming[i]);
  return result;
}

PlaneSearchResult search_planes(const Trajectories& data, const PlaneSearchOptions& options,
                                const RunContext& run) {
  return PlaneSearch(data, options, run).find();
}

}  // namespace kindred::policy_search
