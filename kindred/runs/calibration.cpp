#include "kindred/runs/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "kindred/core/error.h"

namespace kindred {
namespace {

/// What lies beyond the largest surprise but this many follows a smooth tail.
constexpr double kLeastInTail = 5.0;
/// The mean by which a standard normal exceeds what a tenth of it exceeds: tails of centres that
/// are exactly right look like that, and none is taken to be shorter.
constexpr double kNormalExcess = 0.47;
constexpr double kMostSurprised = 1e9;

double score_of_step(const Centres& centres, const Matrix& scores, const Trajectories& data,
                     std::int64_t episode, std::int32_t label) {
  const double per = centres.sums_over_steps() ? static_cast<double>(data.length(episode)) : 1.0;
  return scores(episode, label) / per;
}

double below_usual(double score, double usual, double spread) {
  return std::clamp((usual - score) / spread, -kMostSurprised, kMostSurprised);
}

/// Sets the mean and the deviation of each centre's own scores.
void measure_own_scores(const Clustering& clustering, const Trajectories& data,
                        Calibration& result) {
  const auto k = static_cast<std::size_t>(clustering.k());
  std::vector<std::vector<double>> own(k);
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto label = clustering.labels[static_cast<std::size_t>(i)];
    const double score = score_of_step(*clustering.centres, clustering.scores, data, i, label);
    if (std::isfinite(score)) own[static_cast<std::size_t>(label)].push_back(score);
  }
  for (const auto& scores : own) {
    const double n = std::max(1.0, static_cast<double>(scores.size()));
    double mean = 0.0, square = 0.0;
    for (const double score : scores) mean += score / n;
    for (const double score : scores) square += (score - mean) * (score - mean) / n;
    result.usual.push_back(mean);
    // Scores that are all the same still have the precision of the numbers they were made of.
    result.spread.push_back(std::max(std::sqrt(square), 1e-6 * (1.0 + std::abs(mean))));
  }
}

/// Distances become log-likelihoods of points around centres: by how far own points lie, as a
/// variance per dimension.
double distance_temperature(const Clustering& clustering) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < clustering.scores.rows; ++i)
    sum -= clustering.scores(i, clustering.labels[static_cast<std::size_t>(i)]);
  const auto dimensions = std::max<std::int64_t>(1, clustering.latents.columns);
  const double variance = sum / static_cast<double>(clustering.scores.rows * dimensions);
  return std::max(std::numeric_limits<double>::min(), 2.0 * variance);
}

}  // namespace

Calibration Calibration::of(const Clustering& clustering, const Trajectories& data) {
  Calibration result;
  const auto& fit = clustering.held_out_fit;
  result.held_out = fit && !fit->surprises.empty();
  if (result.held_out) {
    result.surprises = fit->surprises;
    result.temperature = std::max(1.0, fit->dispersion);
  } else {
    measure_own_scores(clustering, data, result);
    result.surprises =
        result.surprises_of(*clustering.centres, clustering.scores, clustering.labels, data, {});
    if (clustering.score_meaning == "negative squared distance")
      result.temperature = distance_temperature(clustering);
  }
  std::ranges::sort(result.surprises, std::greater<>());
  return result;
}

std::vector<double> Calibration::surprises_of(const Centres& centres, const Matrix& scores,
                                              std::span<const std::int32_t> labels,
                                              const Trajectories& data,
                                              const RunContext& run) const {
  std::vector<double> result;
  if (held_out) {
    result = centres.surprises(data, labels, run);
    if (result.size() != labels.size())
      throw DataFormatError("the centres cannot tell what fits them, but the run says they did");
    return result;
  }
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto label = labels[static_cast<std::size_t>(i)];
    const auto c = static_cast<std::size_t>(label);
    result.push_back(
        below_usual(score_of_step(centres, scores, data, i, label), usual[c], spread[c]));
  }
  return result;
}

double Calibration::misfit(double surprise) const {
  const auto n = static_cast<double>(surprises.size());
  const auto in_tail = std::min(n, std::max(kLeastInTail, std::ceil(std::sqrt(n))));
  const auto tail = std::span(surprises).first(static_cast<std::size_t>(in_tail));
  const double begins = tail.back();
  if (surprise <= begins) {
    const auto as_large = std::ranges::upper_bound(surprises, surprise, std::greater<>());
    return (1.0 + static_cast<double>(as_large - surprises.begin())) / (n + 1.0);
  }
  // An exponential tail, whose length is itself known from so few episodes only; one of them may
  // be as strange as what is looked for.
  const double measured = std::max(1.0, in_tail - 1.0);
  double excess = 0.0;
  for (const double own : tail.subspan(1)) excess += own - begins;
  excess = std::max(excess, kNormalExcess * measured);
  return (1.0 + in_tail) / (n + 1.0) * std::pow(1.0 + (surprise - begins) / excess, -measured);
}

Matrix Calibration::posteriors(const Matrix& scores, std::span<const std::int64_t> sizes) const {
  Matrix result = scores;
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    double best = -std::numeric_limits<double>::infinity();
    for (std::int64_t c = 0; c < scores.columns; ++c) {
      auto& value = result(i, c);
      value =
          value / temperature + std::log(static_cast<double>(sizes[static_cast<std::size_t>(c)]));
      best = std::max(best, value);
    }
    double sum = 0.0;
    for (std::int64_t c = 0; c < scores.columns; ++c) {
      auto& value = result(i, c);
      // Where no centre can explain the episode at all, none is more likely than its share.
      value = std::isfinite(best) ? std::exp(value - best)
                                  : static_cast<double>(sizes[static_cast<std::size_t>(c)]);
      sum += value;
    }
    for (std::int64_t c = 0; c < scores.columns; ++c) result(i, c) /= sum;
  }
  return result;
}

void Calibration::save(ArrayFileWriter& file) const {
  file.write<double>("calibration/surprises", surprises);
  file.write<double>("calibration/temperature", std::vector<double>{temperature});
  if (held_out) return;
  file.write<double>("calibration/usual", usual);
  file.write<double>("calibration/spread", spread);
}

bool Calibration::is_in(const ArrayFileReader& file) {
  return file.contains("calibration/surprises");
}

Calibration Calibration::load(const ArrayFileReader& file, std::int64_t k) {
  Calibration result;
  result.surprises = file.read_finite<double>("calibration/surprises", {kAnyExtent}).values;
  std::ranges::sort(result.surprises, std::greater<>());
  result.temperature = file.read_number<double>("calibration/temperature");
  if (!(result.temperature > 0.0 && std::isfinite(result.temperature)))
    file.refuse("calibration/temperature", "is not a number above 0");
  result.held_out = !file.contains("calibration/usual");
  if (result.held_out) return result;
  result.usual = file.read_finite<double>("calibration/usual", {k}).values;
  result.spread = file.read_finite<double>("calibration/spread", {k}).values;
  if (std::ranges::any_of(result.spread, [](double of_one) { return !(of_one > 0.0); }))
    file.refuse("calibration/spread", "holds a deviation that is not above 0");
  return result;
}

}  // namespace kindred
