#include "kindred/methods/policy_search/evidence/learned_features.h"

#include <algorithm>
#include <utility>

#include "kindred/core/random.h"
#include "kindred/nn/adam.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kUnits = 64;        // of each hidden layer
constexpr std::int64_t kFewNumbers = 64;   // that stand beside what was learned
constexpr std::int64_t kBatchSteps = 128;  // steps
constexpr std::int64_t kEpochs = 40, kMostBatches = 6000;
constexpr std::int64_t kLooks = 20;           // at what is held out
constexpr std::int64_t kMostLookedAt = 4000;  // steps, then
constexpr AdamOptions kAdam{.learning_rate = 2e-3, .max_gradient_norm = 5.0};

MlpShape shape_of(const FeatureMap& numbers, const ActionTargets& targets) {
  return {.inputs = numbers.inputs().count(),
          .hidden = {kUnits, kUnits},
          .outputs = targets.count(),
          .activation = Activation::kRelu};
}

/// What the network makes of the steps less what was done, [steps, stride]; 0 in the padding.
void subtract_targets(const Mlp& network, const ActionTargets& targets, const Actions& actions,
                      std::span<const std::int64_t> steps, std::span<const float> outputs,
                      std::vector<float>& missed) {
  const auto stride = static_cast<std::size_t>(network.output_stride());
  std::vector<double> done(static_cast<std::size_t>(targets.count()));
  missed.assign(outputs.begin(), outputs.end());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    targets.copy(actions, steps[s], steps[s] + 1, done);
    for (std::size_t d = 0; d < done.size(); ++d)
      missed[s * stride + d] -= static_cast<float>(done[d]);
  }
}

}  // namespace

LearnedFeatures::LearnedFeatures(const Trajectories& data, FeatureMap numbers,
                                 const ActionTargets& targets,
                                 std::span<const std::uint8_t> held_out, std::uint64_t seed,
                                 const Workers& workers)
    : numbers_(std::move(numbers)), network_(shape_of(numbers_, targets)) {
  network_.initialise(Random(seed, "features"), 1.0);
  std::vector<std::int64_t> learned, judged;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
      (held_out[static_cast<std::size_t>(i)] != 0 ? judged : learned).push_back(t);
  Random random(seed, "minibatches");
  random.shuffle(std::span(judged));
  judged.resize(std::min(judged.size(), static_cast<std::size_t>(kMostLookedAt)));
  const auto batches = std::min(kMostBatches, kEpochs * std::ssize(learned) / kBatchSteps + 1);
  const auto between = std::max<std::int64_t>(1, batches / kLooks);
  Adam adam(network_.parameters().size());
  Mlp::Pass pass;
  std::vector<float> gradient(network_.parameters().size()), missed;
  std::vector<std::int64_t> batch;
  auto best = network_;
  double least = error(data, targets, judged);
  std::size_t next = learned.size();
  for (std::int64_t n = 1; n <= batches; ++n) {
    if (n % between == 0) workers.throw_if_stopped();
    batch.clear();
    while (std::ssize(batch) < std::min(kBatchSteps, std::ssize(learned))) {
      if (next == learned.size()) {
        random.shuffle(std::span(learned));
        next = 0;
      }
      batch.push_back(learned[next++]);
    }
    const auto rows = std::ssize(batch);
    const auto x = inputs(data, batch);
    const auto outputs = network_.forward(rows, x.data(), pass);
    subtract_targets(network_, targets, data.actions, batch, outputs, missed);
    for (auto& value : missed) value /= static_cast<float>(rows);
    network_.backward(rows, x.data(), missed, pass, gradient, false);
    auto options = kAdam;  // the rate falls to nothing, so that the last batches do not shake it
    options.learning_rate *= 1.0 - static_cast<double>(n - 1) / static_cast<double>(batches);
    network_.change_parameters(
        [&](std::span<float> parameters) { adam.update(gradient, options, parameters); });
    if (n % between != 0) continue;
    const double now = error(data, targets, judged);
    if (now >= least) continue;
    least = now;
    best = network_;
  }
  network_ = std::move(best);
}

std::vector<float> LearnedFeatures::inputs(const Trajectories& data,
                                           std::span<const std::int64_t> steps) const {
  constexpr auto kMost = static_cast<float>(FeatureMap::kFarthest);
  std::vector<float> rows(steps.size() * static_cast<std::size_t>(numbers_.inputs().count()));
  numbers_.inputs().gather(data.observations, steps, rows);
  for (auto& number : rows) number = std::clamp(number, -kMost, kMost);
  return rows;
}

double LearnedFeatures::error(const Trajectories& data, const ActionTargets& targets,
                              std::span<const std::int64_t> steps) const {
  double sum = 0.0;
  Mlp::Pass pass;
  std::vector<float> missed;
  for (std::size_t begin = 0; begin < steps.size(); begin += kRowsTogether) {
    const auto some =
        steps.subspan(begin, std::min<std::size_t>(kRowsTogether, steps.size() - begin));
    const auto x = inputs(data, some);
    subtract_targets(network_, targets, data.actions, some,
                     network_.forward(std::ssize(some), x.data(), pass), missed);
    for (const float value : missed) sum += static_cast<double>(value) * static_cast<double>(value);
  }
  return sum;
}

Trajectories LearnedFeatures::seen(const Trajectories& data, const Workers& workers) const {
  const auto numbers = numbers_.inputs().count();
  const auto beside = numbers <= kFewNumbers ? numbers : 0, width = beside + kUnits;
  std::vector<float> rows(static_cast<std::size_t>(data.steps() * width));
  workers.chunks(data.steps(), kRowsTogether, [&](std::int64_t begin, std::int64_t end) {
    Mlp::Pass pass;
    std::vector<std::int64_t> steps;
    for (auto t = begin; t < end; ++t) steps.push_back(t);
    const auto x = inputs(data, steps);
    network_.forward(end - begin, x.data(), pass);
    for (auto t = begin; t < end; ++t) {
      auto* to = rows.data() + t * width;
      std::copy_n(x.data() + (t - begin) * numbers, beside, to);
      std::copy_n(pass.hidden.back().data() + (t - begin) * kUnits, kUnits, to + beside);
    }
  });
  auto result = data;
  result.observations = Observations::dense(Column<float>(std::move(rows)), width);
  return result;
}

}  // namespace kindred::policy_search
