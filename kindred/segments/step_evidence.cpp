#include "kindred/segments/step_evidence.h"

#include <algorithm>

#include "kindred/core/error.h"
#include "kindred/methods/policy_search/evidence/evidence.h"
#include "kindred/segments/feature_steps.h"
#include "kindred/segments/table_steps.h"

namespace kindred {
namespace {

constexpr std::int64_t kMostNumbersSeen = 200;     // of one observation: sums grow with its square
constexpr double kMostOfAStep = 8.0;               // nats
constexpr std::int64_t kBlockOfFewEpisodes = 100;  // steps
constexpr std::int64_t kEnoughEpisodes = 3;        // for each fold

}  // namespace

std::vector<std::int32_t> step_folds(const Trajectories& data, std::int64_t folds) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(data.steps()));
  if (data.episodes() < kEnoughEpisodes * folds) {
    for (std::size_t t = 0; t < result.size(); ++t)
      result[t] =
          static_cast<std::int32_t>(static_cast<std::int64_t>(t) / kBlockOfFewEpisodes % folds);
    return result;
  }
  const auto of_episode = policy_search::draw_folds(data.ids, folds, 1).front();
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    std::fill(result.begin() + data.offsets[i], result.begin() + data.offsets[i + 1],
              of_episode[static_cast<std::size_t>(i)]);
  return result;
}

void limit_steps(Matrix& nats) {
  for (std::int64_t t = 0; t < nats.rows; ++t) {
    double* row = nats.values.data() + t * nats.columns;
    const double least = *std::max_element(row, row + nats.columns) - kMostOfAStep;
    for (std::int64_t j = 0; j < nats.columns; ++j) row[j] = std::max(row[j], least);
  }
}

std::unique_ptr<const StepEvidence> step_evidence(const Trajectories& data,
                                                  const Workers& workers) {
  if (data.observations.is_interned() && data.actions.is_discrete())
    return std::make_unique<TableSteps>(data);
  if (data.observations.dim() > kMostNumbersSeen)
    throw InvalidArgument(
        "{} numbers per observation are too many to tell who acted at each step; choose at most {} "
        "of them with --obs-key",
        data.observations.dim(), kMostNumbersSeen);
  return std::make_unique<FeatureSteps>(data, workers);
}

}  // namespace kindred
