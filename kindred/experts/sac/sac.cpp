#include "kindred/experts/sac/sac.h"

#include <deque>
#include <utility>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/data/array_file.h"
#include "kindred/experts/sac/collector.h"
#include "kindred/experts/sac/learner.h"
#include "kindred/experts/sac/replay.h"

namespace kindred {
namespace {

constexpr std::size_t kLatest = 16;  // episodes that a point of the curve is the mean of

SacOptions checked_sac(SacOptions options) {
  options = checked(options);
  if (options.hidden % 16 != 0)
    throw InvalidArgument("hidden is {}; multiples of 16 are possible", options.hidden);
  return options;
}

std::string environment_text(const Environment& environment) {
  return environment.spec().name + " " + environment.options().dump();
}

}  // namespace

struct Sac::Parts {
  Parts(const Environment& environment, const SacOptions& options)
      : collector(environment, options),
        learner(environment.spec(), options),
        replay(options.replay, environment.spec().observation_dim(),
               environment.spec().action_width) {}

  sac::Collector collector;
  sac::Learner learner;
  sac::Replay replay;
  std::deque<sac::Ended> latest;  // the last episodes that ended
  std::int64_t critic_steps = 0;
};

Sac::Sac(const Environment& environment, SacOptions options)
    : environment_(environment),
      options_(checked_sac(std::move(options))),
      parts_(std::make_unique<Parts>(environment, options_)) {}

Sac::~Sac() = default;

nlohmann::ordered_json Sac::described_options() const {
  auto options = options_;
  return to_json(options.describe());
}

CurvePoint Sac::update() {
  auto& [collector, learner, replay, latest, critic_steps] = *parts_;
  if (at_checkpoint())
    collector.restart(static_cast<std::uint64_t>(1 + updates_ / options_.checkpoint));
  const bool starting = last_.steps < options_.start;
  const auto ended =
      collector.collect(learner.view(), starting ? nullptr : &learner.actor(), replay);
  last_.steps += options_.batch();
  last_.episodes += std::ssize(ended);
  latest.insert(latest.end(), ended.begin(), ended.end());
  while (latest.size() > kLatest) latest.pop_front();
  if (!latest.empty()) {
    last_.mean_return = last_.mean_length = 0.0;
    for (const auto& [sum, length] : latest) {
      last_.mean_return += sum / static_cast<double>(latest.size());
      last_.mean_length += static_cast<double>(length) / static_cast<double>(latest.size());
    }
  }
  if (last_.steps >= options_.start) learn();
  last_.temperature = learner.temperature();
  ++updates_;
  return last_;
}

void Sac::learn() {
  auto& [collector, learner, replay, latest, critic_steps] = *parts_;
  const double done = static_cast<double>(updates_) / static_cast<double>(options_.updates());
  const double rate =
      options_.learning_rate + (options_.final_learning_rate - options_.learning_rate) * done;
  Random random(static_cast<std::uint64_t>(options_.seed), "sac-minibatches",
                static_cast<std::uint64_t>(updates_));
  double error = 0.0;
  for (std::int64_t i = 0; i < options_.gradients; ++i) {
    const auto batch =
        sac::draw_minibatch(replay, options_.minibatch, environment_.spec().action_width, random);
    error += learner.critic_gradient(replay, batch);
    learner.critic_step(rate);
    if (++critic_steps % options_.actor_every != 0) continue;
    last_.entropy = learner.actor_gradient(replay, batch);
    learner.actor_step(rate, last_.entropy);
  }
  last_.value_error = error / static_cast<double>(options_.gradients);
}

std::shared_ptr<const NetworkPolicy> Sac::policy(const std::string& name,
                                                 const std::string& summary) const {
  return std::make_shared<NetworkPolicy>(name, summary, parts_->learner.view(),
                                         parts_->learner.actor());
}

void Sac::save(const std::filesystem::path& path) const {
  ArrayFileWriter file(path);
  file.write_text("environment", environment_text(environment_));
  file.write_text("options", described_options().dump());
  file.write("networks", parts_->learner.save());
  file.write("replay", parts_->replay.rows());
  std::vector<double> latest;
  for (const auto& [sum, length] : parts_->latest) {
    latest.push_back(sum);
    latest.push_back(static_cast<double>(length));
  }
  file.write("latest", latest);
  file.write("progress",
             std::vector<double>{static_cast<double>(updates_), static_cast<double>(last_.steps),
                                 static_cast<double>(last_.episodes), last_.mean_return,
                                 last_.mean_length, last_.entropy, last_.value_error,
                                 static_cast<double>(parts_->critic_steps),
                                 static_cast<double>(parts_->replay.next())});
  file.close();
}

void Sac::resume(const std::filesystem::path& path) {
  const ArrayFileReader file(path);
  if (file.read_text("environment") != environment_text(environment_) ||
      file.read_text("options") != described_options().dump())
    throw DataFormatError(
        "'{}' is a checkpoint of training with other options; remove it to start over",
        path.string());
  const auto progress = file.read<double>("progress").values;
  const auto latest = file.read<double>("latest").values;
  if (progress.size() != 9 || latest.size() % 2 != 0)
    throw DataFormatError("'{}' is a damaged checkpoint; remove it to start over", path.string());
  parts_->learner.restore(file.read<float>("networks").values);
  parts_->replay.restore(file.read<float>("replay").values, static_cast<std::int64_t>(progress[8]));
  updates_ = static_cast<std::int64_t>(progress[0]);
  last_ = {.steps = static_cast<std::int64_t>(progress[1]),
           .episodes = static_cast<std::int64_t>(progress[2]),
           .mean_return = progress[3],
           .mean_length = progress[4],
           .entropy = progress[5],
           .value_error = progress[6]};
  parts_->critic_steps = static_cast<std::int64_t>(progress[7]);
  parts_->latest.clear();
  for (std::size_t i = 0; i < latest.size(); i += 2)
    parts_->latest.push_back({latest[i], static_cast<std::int64_t>(latest[i + 1])});
}

}  // namespace kindred
