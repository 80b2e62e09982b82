#include "kindred/experts/ppo/ppo.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/data/array_file.h"
#include "kindred/experts/ppo/experience.h"
#include "kindred/experts/ppo/learner.h"

namespace kindred {
namespace {

template <class T>
double mean(const std::vector<T>& values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), T{0})) /
         static_cast<double>(values.size());
}

PpoOptions checked_ppo(PpoOptions options) {
  options = checked(options);
  if (options.hidden % 16 != 0)
    throw InvalidArgument("hidden is {}; multiples of 16 are possible", options.hidden);
  return options;
}

}  // namespace

struct Ppo::Parts {
  Parts(const Environment& environment, const PpoOptions& options)
      : collector(environment, options),
        learner(environment.spec(), options),
        observed(learner.networks().view.mean.size(),
                 options.memory * static_cast<double>(options.batch())),
        returns(1, options.memory * static_cast<double>(options.batch())),
        discounted(static_cast<std::size_t>(options.lanes), 0.0) {}

  ppo::Collector collector;
  ppo::Learner learner;
  ppo::Experience experience;
  ppo::RunningStatistics observed;  // each observed number
  ppo::RunningStatistics returns;   // the discounted sum of rewards so far, in every step
  std::vector<double> discounted;   // that sum, per lane
};

Ppo::Ppo(const Environment& environment, PpoOptions options)
    : environment_(environment),
      options_(checked_ppo(options)),
      parts_(std::make_unique<Parts>(environment, options_)) {
  // What the untrained policy lives through teaches only what inputs and returns look like.
  parts_->collector.restart(0);
  parts_->collector.collect(parts_->learner.networks(), parts_->experience);
  learn_statistics();
}

Ppo::~Ppo() = default;

double Ppo::along(double from, double to) const {
  return from +
         (to - from) * static_cast<double>(updates_) / static_cast<double>(options_.updates());
}

CurvePoint Ppo::update() {
  auto& [collector, learner, experience, observed, returns, discounted] = *parts_;
  if (at_checkpoint()) {
    collector.restart(static_cast<std::uint64_t>(1 + updates_ / options_.checkpoint));
    std::ranges::fill(discounted, 0.0);
  }
  collector.collect(learner.networks(), experience);
  const double scale = options_.scale_rewards ? 1.0 / (returns.deviation() + 1e-8) : 1.0;
  ppo::estimate_advantages(options_, static_cast<float>(scale), experience);
  const auto statistics =
      learner.update(experience, along(options_.learning_rate, options_.final_learning_rate),
                     along(options_.entropy, options_.final_entropy),
                     Random(static_cast<std::uint64_t>(options_.seed), "ppo-minibatches",
                            static_cast<std::uint64_t>(updates_)));
  learn_statistics();
  ++updates_;

  last_.steps += options_.batch();
  last_.episodes += static_cast<std::int64_t>(experience.episode_returns.size());
  if (!experience.episode_returns.empty()) {
    last_.mean_return = mean(experience.episode_returns);
    last_.mean_length = mean(experience.episode_lengths);
  }
  last_.entropy = statistics.entropy;
  last_.divergence = statistics.divergence;
  last_.value_error = statistics.value_error;
  return last_;
}

/// Statistics change between updates only: an update and the acting before it see the same inputs.
void Ppo::learn_statistics() {
  auto& [collector, learner, e, observed, returns, discounted] = *parts_;
  const auto lane_steps = static_cast<std::size_t>(options_.lane_steps);
  for (std::size_t row = 0; row < e.rewards.size(); ++row) {
    auto& sum = discounted[row / lane_steps];
    sum = sum * options_.discount + static_cast<double>(e.rewards[row]);
    returns.add(std::span(&sum, 1));
    if (e.endings[row] != Ending::kNone) sum = 0.0;
  }
  if (!options_.standardise) return;
  auto& view = learner.view();
  const auto dim = view.mean.size();
  std::vector<double> numbers(dim);
  for (std::size_t begin = 0; begin < e.observations.size(); begin += dim) {
    std::copy_n(e.observations.begin() + static_cast<std::ptrdiff_t>(begin), dim, numbers.begin());
    observed.add(numbers);
  }
  for (std::size_t i = 0; i < dim; ++i) {
    view.mean[i] = static_cast<float>(observed.mean(i));
    view.scale[i] = static_cast<float>(1.0 / (observed.deviation(i) + 1e-4));
  }
}

std::shared_ptr<const NetworkPolicy> Ppo::policy(const std::string& name,
                                                 const std::string& summary) const {
  const auto& networks = parts_->learner.networks();
  return std::make_shared<NetworkPolicy>(name, summary, networks.view, networks.actor,
                                         networks.log_deviation);
}

std::string Ppo::environment_text() const {
  return environment_.spec().name + " " + environment_.options().dump();
}

nlohmann::ordered_json Ppo::described_options() const {
  auto options = options_;
  return to_json(options.describe());
}

void Ppo::save(const std::filesystem::path& path) const {
  ArrayFileWriter file(path);
  file.write_text("environment", environment_text());
  file.write_text("options", described_options().dump());
  file.write("networks", parts_->learner.save());
  file.write("observed", parts_->observed.save());
  file.write("returns", parts_->returns.save());
  file.write("progress",
             std::vector<double>{static_cast<double>(updates_), static_cast<double>(last_.steps),
                                 static_cast<double>(last_.episodes), last_.mean_return,
                                 last_.mean_length});
  file.close();
}

void Ppo::resume(const std::filesystem::path& path) {
  const ArrayFileReader file(path);
  if (file.read_text("environment") != environment_text() ||
      file.read_text("options") != described_options().dump())
    throw DataFormatError(
        "'{}' is a checkpoint of training with other options; remove it to start over",
        path.string());
  parts_->learner.restore(file.read<float>("networks").values);
  parts_->observed.restore(file.read<double>("observed").values);
  parts_->returns.restore(file.read<double>("returns").values);
  const auto progress = file.read<double>("progress").values;
  if (progress.size() != 5)
    throw DataFormatError("'{}' is a damaged checkpoint; remove it to start over", path.string());
  updates_ = static_cast<std::int64_t>(progress[0]);
  last_.steps = static_cast<std::int64_t>(progress[1]);
  last_.episodes = static_cast<std::int64_t>(progress[2]);
  last_.mean_return = progress[3];
  last_.mean_length = progress[4];
}

}  // namespace kindred
