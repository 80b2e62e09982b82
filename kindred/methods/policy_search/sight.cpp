#include "kindred/methods/policy_search/sight.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kindred/methods/policy_search/conflicts/feature_metric.h"
#include "kindred/methods/policy_search/evidence/learned_features.h"
#include "kindred/methods/policy_search/evidence/screening.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kStepsPerFeature = 25;  // so that features do not outnumber what they fit

}  // namespace

Sight Sight::look(View view, const Trajectories& recorded, Trajectories seen, std::int64_t cosines,
                  const Workers& workers) {
  Sight sight;
  sight.view = view;
  sight.data = std::move(seen);
  sight.targets = std::make_shared<ActionTargets>(sight.data.actions);
  const auto numbers = telling_numbers(sight.data, *sight.targets, workers);
  auto learned = learn_metric(sight.data, numbers, *sight.targets, workers);
  sight.map = numbers.with_metric(std::move(learned.factor),
                                  std::min(cosines, sight.data.steps() / kStepsPerFeature));
  sight.states = sight.data;
  sight.metric = sight.map;
  sight.noise_of_one = std::move(learned.noise);
  if (view == View::kRelative) sight.left_out = variance_left_out(recorded, *sight.targets);
  return sight;
}

Sight Sight::learned(std::span<const std::uint8_t> held_out, std::uint64_t seed,
                     const Workers& workers) const {
  auto sight = *this;
  sight.features = sight.linear = nullptr;
  const LearnedFeatures network(data, map->with_cosines(0), *targets, held_out, seed, workers);
  sight.is_learned = true;
  sight.data = network.seen(data, workers);
  sight.map.emplace(sight.data.observations, 0);
  return sight;
}

std::shared_ptr<const FeatureEvidence> Sight::evidence(const Trajectories& of, const FeatureMap& by,
                                                       double ridge, const Workers& workers,
                                                       const std::string& device,
                                                       Communicator& ranks) const {
  return std::make_shared<FeatureEvidence>(of, by, targets, ridge, workers, device, ranks,
                                           kPooledSteps);
}

CommonPolicy Sight::common_policy(double ridge) const {
  auto folds = draw_folds(data.ids, kCommonFolds, 1).front();
  auto sums = features->statistics().cluster_sums(folds, kCommonFolds);
  return {*map, targets->count(), std::move(folds), std::move(sums), std::array{ridge}};
}

double Sight::comparable(double v, std::span<const double> noise) const {
  v -= targets->log_units();
  for (std::size_t d = 0; d < left_out.size(); ++d)
    for (std::int64_t i = 0; i < data.episodes(); ++i)
      v -= 0.5 * std::log1p(static_cast<double>(data.length(i)) * left_out[d] / noise[d]) /
           static_cast<double>(data.steps());
  return v;
}

double Sight::v_of_one() const {
  double v = 0.0;
  for (const double variance : noise_of_one) v -= 0.5 * std::log(variance);
  return comparable(v, noise_of_one);
}

}  // namespace kindred::policy_search
