#include "kindred/segments/sticky_chain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kindred/methods/policy_search/evidence/evidence.h"

namespace kindred {
namespace {

constexpr double kUnseenSteps =
    200.0;                         // as if so many steps without a switch had been seen besides
constexpr double kOutside = 0.05;  // chance on either side of a boundary's interval
constexpr std::int64_t kEpisodesAtATime = 16;
constexpr int kRateRounds = 30;
constexpr double kSettled = 0.01;  // a rate that grows by less
constexpr double kMostRate = 0.25;

struct Transition {
  double stay, go;

  /// Of one policy alone it stays with it.
  Transition(double rate, std::int64_t k)
      : stay(k > 1 ? std::log1p(-rate) : 0.0),
        go(std::log(rate / static_cast<double>(std::max<std::int64_t>(1, k - 1)))) {}
};

double log_sum(std::span<const double> values) {
  const double most = *std::ranges::max_element(values);
  double sum = 0.0;
  for (const double value : values) sum += std::exp(value - most);
  return most + std::log(sum);
}

/// What comes after `before` by chance alone: log Σ_i exp(before_i) P(i → j).
void spread(std::span<const double> before, const Transition& transition, std::span<double> after) {
  const double any = log_sum(before) + transition.go;
  const double more = transition.stay + std::log1p(-std::exp(transition.go - transition.stay));
  for (std::size_t j = 0; j < before.size(); ++j) {
    const double own = before[j] + more;
    const double most = std::max(own, any);
    after[j] = most + std::log(std::exp(own - most) + std::exp(any - most));
  }
}

void find_actors(const Matrix& nats, std::int64_t begin, std::int64_t end,
                 const Transition& transition, std::int32_t* actors) {
  const auto k = static_cast<std::size_t>(nats.columns);
  std::vector<std::int32_t> from(static_cast<std::size_t>(end - begin) * k);
  const auto first = nats.row(begin);
  std::vector<double> best(first.begin(), first.end());
  for (auto t = begin + 1; t < end; ++t) {
    const auto row = nats.row(t);
    auto* back = from.data() + static_cast<std::size_t>(t - begin) * k;
    const auto leader = static_cast<std::int32_t>(std::ranges::max_element(best) - best.begin());
    const double taken_over = best[static_cast<std::size_t>(leader)] + transition.go;
    for (std::size_t j = 0; j < k; ++j) {
      const double stayed = best[j] + transition.stay;
      back[j] = stayed >= taken_over ? static_cast<std::int32_t>(j) : leader;
      best[j] = std::max(stayed, taken_over) + row[j];
    }
  }
  auto actor = static_cast<std::int32_t>(std::ranges::max_element(best) - best.begin());
  for (auto t = end - 1; t >= begin; --t) {
    actors[t] = actor;
    actor = from[static_cast<std::size_t>(t - begin) * k + static_cast<std::size_t>(actor)];
  }
}

/// Walks an episode from its last step to its first with the forward and backward sums of all
/// policies: visit(t, forward of t - 1 or nothing, forward of t, backward of t).
template <class Visit>
void forward_backward(const Matrix& nats, std::int64_t begin, std::int64_t end,
                      const Transition& transition, const Visit& visit) {
  const auto k = static_cast<std::size_t>(nats.columns);
  std::vector<double> forward(static_cast<std::size_t>(end - begin) * k);
  const auto at = [&](std::int64_t t) {
    return std::span(forward).subspan(static_cast<std::size_t>(t - begin) * k, k);
  };
  std::ranges::copy(nats.row(begin), forward.begin());
  for (auto t = begin + 1; t < end; ++t) {
    spread(at(t - 1), transition, at(t));
    const auto row = nats.row(t);
    for (std::size_t j = 0; j < k; ++j) at(t)[j] += row[j];
  }
  std::vector<double> backward(k, 0.0), ahead(k);
  for (auto t = end - 1; t >= begin; --t) {
    visit(t, t > begin ? at(t - 1) : std::span<double>(), at(t), std::span(backward));
    const auto row = nats.row(t);
    for (std::size_t j = 0; j < k; ++j) ahead[j] = backward[j] + row[j];
    spread(ahead, transition, backward);
  }
}

/// What one episode adds to a fit.
struct EpisodeFit {
  double switches = 0.0;
  double log_likelihood = 0.0;
};

/// Writes the episode's rows of `posteriors` where there are any to write.
EpisodeFit fit_episode(const Matrix& nats, std::int64_t begin, std::int64_t end,
                       const Transition& transition, Matrix* posteriors) {
  const auto k = static_cast<std::size_t>(nats.columns);
  std::vector<double> both(k), stayed(k);
  EpisodeFit fit;
  forward_backward(nats, begin, end, transition,
                   [&](std::int64_t t, auto before, auto forward, auto backward) {
                     const auto row = nats.row(t);
                     for (std::size_t j = 0; j < k; ++j) both[j] = forward[j] + backward[j];
                     const double all = log_sum(both);
                     if (t + 1 == end) fit.log_likelihood = all - std::log(static_cast<double>(k));
                     for (std::size_t j = 0; posteriors && j < k; ++j)
                       (*posteriors)(t, static_cast<std::int64_t>(j)) = std::exp(both[j] - all);
                     if (before.empty()) return;
                     for (std::size_t j = 0; j < k; ++j)
                       stayed[j] = before[j] + transition.stay + row[j] + backward[j];
                     fit.switches += 1.0 - std::exp(log_sum(stayed) - all);
                   });
  return fit;
}

/// Of all episodes; the sum does not depend on threads.
EpisodeFit fit_episodes(const StepScores& scores, double rate, const Workers& workers,
                        Matrix* posteriors) {
  const auto episodes = std::ssize(scores.offsets) - 1;
  const Transition transition(rate, scores.nats.columns);
  std::vector<EpisodeFit> fits(static_cast<std::size_t>(episodes));
  workers.chunks(episodes, kEpisodesAtATime, [&](std::int64_t first, std::int64_t last) {
    for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(last); ++e)
      fits[e] = fit_episode(scores.nats, scores.offsets[e], scores.offsets[e + 1], transition,
                            posteriors);
  });
  EpisodeFit all;
  for (const auto& one : fits) {
    all.switches += one.switches;
    all.log_likelihood += one.log_likelihood;
  }
  return all;
}

}  // namespace

std::vector<std::int32_t> most_likely_actors(const StepScores& scores, double rate,
                                             const Workers& workers) {
  std::vector<std::int32_t> actors(static_cast<std::size_t>(scores.nats.rows), 0);
  if (scores.nats.columns == 1) return actors;
  const Transition transition(rate, scores.nats.columns);
  workers.chunks(
      std::ssize(scores.offsets) - 1, kEpisodesAtATime, [&](std::int64_t first, std::int64_t last) {
        for (auto e = static_cast<std::size_t>(first); e < static_cast<std::size_t>(last); ++e)
          find_actors(scores.nats, scores.offsets[e], scores.offsets[e + 1], transition,
                      actors.data());
      });
  return actors;
}

ChainFit fit_chain(const StepScores& scores, double rate, const Workers& workers) {
  ChainFit fit{.posteriors = Matrix(scores.nats.rows, scores.nats.columns)};
  const auto all = fit_episodes(scores, rate, workers, &fit.posteriors);
  fit.switches = all.switches;
  fit.log_likelihood = all.log_likelihood;
  return fit;
}

std::int64_t count_switches(std::span<const std::int32_t> actors,
                            std::span<const std::int64_t> offsets) {
  std::int64_t count = 0;
  for (std::size_t e = 0; e + 1 < offsets.size(); ++e)
    for (auto t = offsets[e] + 1; t < offsets[e + 1]; ++t)
      count += actors[static_cast<std::size_t>(t)] != actors[static_cast<std::size_t>(t - 1)];
  return count;
}

double switch_rate(std::int64_t switches, std::int64_t steps) {
  return (static_cast<double>(switches) + 1.0) / (static_cast<double>(steps) + kUnseenSteps);
}

double likely_rate(const StepScores& scores, double rate, const Workers& workers) {
  if (scores.nats.columns == 1) return rate;
  const auto episodes = std::ssize(scores.offsets) - 1;
  const double least = rate, places = static_cast<double>(scores.nats.rows - episodes);
  for (int round = 0; round < kRateRounds; ++round) {
    const double all = fit_episodes(scores, rate, workers, nullptr).switches;
    const double next = std::clamp(all / std::max(1.0, places), least, kMostRate);
    const bool settled = next < rate * (1.0 + kSettled);
    rate = next;
    if (settled) break;
  }
  return rate;
}

double naming_cost(std::span<const std::int32_t> actors, std::span<const std::int64_t> offsets,
                   std::int64_t k) {
  std::vector<std::int32_t> first;
  for (std::size_t e = 0; e + 1 < offsets.size(); ++e)
    first.push_back(actors[static_cast<std::size_t>(offsets[e])]);
  double cost = 0.0;
  for (const double one : policy_search::naming_costs(first)) cost += one;
  const auto switches = count_switches(actors, offsets);
  if (switches == 0) return cost;  // that nobody switches is said once for all
  const auto places = static_cast<double>(std::ssize(actors) - std::ssize(first));
  const Transition transition(switch_rate(switches, std::ssize(actors)), k);
  const auto happened = static_cast<double>(switches);
  return cost - happened * transition.go - (places - happened) * transition.stay;
}

Boundary locate(const Matrix& nats, std::int64_t begin, std::int64_t step, std::int64_t end,
                std::int32_t before, std::int32_t after) {
  // How much likelier the boundary is at begin + 1 + i than at begin + 1.
  std::vector<double> weights{0.0};
  for (auto t = begin + 1; t + 1 < end; ++t)
    weights.push_back(weights.back() + nats(t, before) - nats(t, after));
  const double all = log_sum(weights);
  Boundary result{.step = step, .earliest = step, .latest = step};
  double passed = 0.0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto here = begin + 1 + static_cast<std::int64_t>(i);
    if (passed <= kOutside) result.earliest = std::min(step, here);
    passed += std::exp(weights[i] - all);
    if (passed >= 1.0 - kOutside) {
      result.latest = std::max(step, here);
      break;
    }
  }
  return result;
}

}  // namespace kindred
