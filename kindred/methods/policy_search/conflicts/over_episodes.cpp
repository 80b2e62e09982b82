#include "kindred/methods/policy_search/conflicts/over_episodes.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kindred/methods/policy_search/evidence/evidence.h"

namespace kindred::policy_search {
namespace {

constexpr double kMostOfAnEpisode = 5.0;  // times the usual distance from the middle
constexpr double kNoError = 1e-9;

}  // namespace

double EpisodeMean::z() const { return as_normal(mean / error, freedom); }

EpisodeMean over_episodes(const std::map<std::int32_t, EpisodeSum>& episodes) {
  std::vector<double> values, weights;
  for (const auto& [episode, of] : episodes) {
    values.push_back(of.sum / of.steps);
    weights.push_back(std::sqrt(of.steps));
  }
  const double middle = median(values);
  std::vector<double> distance;
  for (const double value : values) distance.push_back(std::abs(value - middle));
  const double most = kMostOfAnEpisode * (median(distance) + kNoError);
  double total = 0.0, sum = 0.0, squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = std::clamp(values[i], middle - most, middle + most);
    total += weights[i];
    sum += weights[i] * values[i];
  }
  EpisodeMean result;
  result.mean = sum / total;
  result.freedom = static_cast<double>(values.size()) - 1.0;
  const double few = std::sqrt((result.freedom + 1.0) / result.freedom);
  std::size_t i = 0;
  for (const auto& [episode, of] : episodes) {
    const double move = few * weights[i] * (values[i] - result.mean) / total;
    result.moves[episode] = move;
    squares += move * move;
    ++i;
  }
  result.error = std::sqrt(squares) + kNoError;
  return result;
}

EpisodeMean sum_of(const EpisodeMean& a, const EpisodeMean& b) {
  EpisodeMean result;
  const double variance = a.error * a.error + b.error * b.error;
  result.mean = a.mean + b.mean;
  result.error = std::sqrt(variance);
  result.freedom =
      variance * variance / (std::pow(a.error, 4) / a.freedom + std::pow(b.error, 4) / b.freedom);
  result.moves = a.moves;
  for (const auto& [episode, move] : b.moves) result.moves[episode] += move;
  return result;
}

double as_normal(double t, double freedom) {
  const double z = (8.0 * freedom + 1.0) / (8.0 * freedom + 3.0) *
                   std::sqrt(freedom * std::log1p(t * t / freedom));
  return t < 0.0 ? -z : z;
}

}  // namespace kindred::policy_search
