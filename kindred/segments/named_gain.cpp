#include "kindred/segments/named_gain.h"

#include <algorithm>
#include <cmath>

namespace kindred {
namespace {

constexpr double kLittleAnEpisode = 1.5, kLittleAStep = 0.03;  // nats
constexpr double kMostOfAnEpisode = 5.0;  // likewise: an odd one decides little
constexpr double kClearAnEpisode = 4.0;   // likewise; of one policy they are less than 1
constexpr double kSurely = 2.0;           // standard errors

struct Moments {
  double sum = 0.0, squares = 0.0;

  void add(double value) {
    sum += value;
    squares += value * value;
  }
  /// The standard error of the sum.
  double error(std::int64_t values) const {
    const auto count = static_cast<double>(values);
    if (values < 2) return 0.0;
    return std::sqrt(std::max(0.0, squares - sum * sum / count) * count / (count - 1.0));
  }
};

}  // namespace

NamedGain named_gain(const Matrix& nats, std::span<const double> as_one,
                     std::span<const std::int32_t> labels, std::span<const std::int64_t> offsets,
                     std::int32_t first, std::int32_t second) {
  Moments all, limited;
  std::int64_t episodes = 0, steps = 0;
  for (std::size_t e = 0; e + 1 < offsets.size(); ++e) {
    double sum = 0.0;
    const auto before = steps;
    for (auto t = offsets[e]; t < offsets[e + 1]; ++t) {
      const auto label = labels[static_cast<std::size_t>(t)];
      if (label != first && label != second) continue;
      ++steps;
      sum += nats(t, label) - as_one[static_cast<std::size_t>(t)];
    }
    if (steps == before) continue;
    ++episodes;
    all.add(sum);
    limited.add(std::clamp(sum, -kMostOfAnEpisode, kMostOfAnEpisode));
  }
  const double at_most = limited.sum + kSurely * limited.error(episodes);
  const double at_least = limited.sum - kSurely * limited.error(episodes);
  return {.sum = all.sum,
          .error = all.error(episodes),
          .is_little = episodes >= NamedGain::kEnoughEpisodes &&
                       at_most < kLittleAnEpisode * static_cast<double>(episodes) &&
                       at_most<kLittleAStep* static_cast<double>(steps), .is_clear = episodes> 0 &&
                       at_least > kClearAnEpisode * static_cast<double>(episodes)};
}

}  // namespace kindred
