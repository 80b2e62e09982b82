#include "kindred/policies/step_counts.h"

#include <algorithm>
#include <map>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr std::int64_t kSteps = 1 << 18;     // coded at once
constexpr std::int64_t kEpisodes = 4096;     // summed at once
constexpr std::int64_t kStopEpisodes = 256;  // counted between two looks at the request to stop

}  // namespace

StepCodes::StepCodes(const Trajectories& data, const Workers& workers)
    : data_(data),
      workers_(workers),
      distinct_(data.observations.distinct()),
      actions_(data.actions.count()),
      code_of_step_(static_cast<std::size_t>(data.steps())) {
  if (codes() > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument("{} distinct observations with {} actions are too many to count",
                          distinct_, actions_);
  const auto& index = data.observations.index();
  const auto& actions = data.actions.ints();
  workers_.chunks(data.steps(), kSteps, [&](std::int64_t begin, std::int64_t end) {
    for (auto t = begin; t < end; ++t)
      code_of_step_[static_cast<std::size_t>(t)] =
          index[t] * static_cast<std::int32_t>(actions_) + actions[t];
  });
}

std::vector<double> StepCodes::count(std::span<const std::int64_t> slots, std::int64_t k,
                                     const LabelsOfRestart& labels) const {
  // Slots of one restart share a pass over the data; restarts touch disjoint rows of the result.
  std::map<std::int64_t, std::vector<std::int64_t>> row_of_cluster;  // restart → [k], -1: not asked
  for (std::size_t i = 0; i < slots.size(); ++i) {
    auto& rows = row_of_cluster[slots[i] / k];
    rows.resize(static_cast<std::size_t>(k), -1);
    rows[static_cast<std::size_t>(slots[i] % k)] = static_cast<std::int64_t>(i);
  }
  const std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> passes(
      row_of_cluster.begin(), row_of_cluster.end());

  std::vector<double> counts(slots.size() * static_cast<std::size_t>(codes()), 0.0);
  workers_.chunks(
      static_cast<std::int64_t>(passes.size()), 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t p = begin; p < end; ++p) {
          const auto& [restart, rows] = passes[static_cast<std::size_t>(p)];
          const auto label = labels(restart);
          for (std::int64_t i = 0; i < data_.episodes(); ++i) {
            if (i % kStopEpisodes == 0) workers_.throw_if_stopped();
            const auto row = rows[static_cast<std::size_t>(label[static_cast<std::size_t>(i)])];
            if (row < 0) continue;
            double* out = counts.data() + row * codes();
            for (std::int64_t t = data_.offsets[i]; t < data_.offsets[i + 1]; ++t)
              out[code_of_step_[static_cast<std::size_t>(t)]] += 1.0;
          }
        }
      });
  return counts;
}

Matrix StepCodes::sum_over_steps(std::span<const double> log_probs, std::int64_t columns,
                                 OverSteps over) const {
  Matrix result(data_.episodes(), columns, score_of_no_steps(over));
  workers_.chunks(data_.episodes(), kEpisodes, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      double* sum = &result(i, 0);
      for (std::int64_t t = data_.offsets[i]; t < data_.offsets[i + 1]; ++t) {
        const double* add = log_probs.data() + code_of_step_[static_cast<std::size_t>(t)] * columns;
        for (std::int64_t c = 0; c < columns; ++c) sum[c] = with_step(sum[c], add[c], over);
      }
    }
  });
  return result;
}

}  // namespace kindred
