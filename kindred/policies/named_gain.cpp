#include "kindred/policies/named_gain.h"

#include <algorithm>
#include <cmath>

namespace kindred {
namespace {

constexpr double kLittleAnEpisode = 1.5, kLittleAStep = 0.02;  // nats

}  // namespace

bool NamedGain::is_little() const {
  return sum < kLittleAnEpisode * static_cast<double>(episodes) &&
         sum < kLittleAStep * static_cast<double>(steps);
}

NamedGain named_gain(const Matrix& nats, std::span<const double> as_one,
                     std::span<const std::int32_t> labels, std::span<const std::int64_t> offsets,
                     std::int32_t first, std::int32_t second) {
  NamedGain gain;
  double squares = 0.0;
  for (std::size_t e = 0; e + 1 < offsets.size(); ++e) {
    double sum = 0.0;
    std::int64_t steps = 0;
    for (auto t = offsets[e]; t < offsets[e + 1]; ++t) {
      const auto label = labels[static_cast<std::size_t>(t)];
      if (label != first && label != second) continue;
      ++steps;
      sum += nats(t, label) - as_one[static_cast<std::size_t>(t)];
    }
    if (steps == 0) continue;
    ++gain.episodes;
    gain.steps += steps;
    gain.sum += sum;
    squares += sum * sum;
  }
  const auto count = static_cast<double>(gain.episodes);
  if (gain.episodes > 1)
    gain.error =
        std::sqrt(std::max(0.0, squares - gain.sum * gain.sum / count) * count / (count - 1.0));
  return gain;
}

}  // namespace kindred
