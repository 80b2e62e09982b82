#include "kindred/experts/ppo/experience.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kindred/core/error.h"

namespace kindred::ppo {
namespace {

constexpr std::int64_t kGroup = 16;  // lanes that advance together: one batch for the networks

/// log π of the chosen action under one row of a distribution.
float log_probability(std::span<const float> distribution, std::int32_t action) {
  return std::log(std::max(distribution[static_cast<std::size_t>(action)], 1e-30F));
}

}  // namespace

void RunningStatistics::add(std::span<const double> row) {
  const double keep = count_ < memory_ ? 1.0 : 1.0 - 1.0 / memory_;
  count_ = count_ * keep + 1.0;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const double before = row[i] - mean_[i];
    mean_[i] += before / count_;
    squares_[i] = squares_[i] * keep + before * (row[i] - mean_[i]);
  }
}

double RunningStatistics::deviation(std::size_t column) const {
  return count_ < 2.0 ? 1.0 : std::sqrt(squares_[column] / count_);
}

std::vector<double> RunningStatistics::save() const {
  std::vector<double> all = {count_};
  all.insert(all.end(), mean_.begin(), mean_.end());
  all.insert(all.end(), squares_.begin(), squares_.end());
  return all;
}

void RunningStatistics::restore(std::span<const double> saved) {
  if (saved.size() != 1 + 2 * mean_.size())
    throw DataFormatError("the checkpoint holds statistics of other numbers");
  count_ = saved[0];
  std::ranges::copy(saved.subspan(1, mean_.size()), mean_.begin());
  std::ranges::copy(saved.last(squares_.size()), squares_.begin());
}

/// A few lanes with everything their steps need.
struct Collector::Group {
  Group(const Environment& environment, std::int64_t first, std::int64_t lane_count)
      : first_lane(first),
        lanes(environment.make_lanes(lane_count)),
        all(static_cast<std::size_t>(lane_count)),
        episodes(all.size(), 0),
        returns(all.size(), 0.0),
        lengths(all.size(), 0),
        rewards(all.size()),
        endings(all.size()),
        discrete(environment.spec().is_discrete() ? all.size() : 0) {
    std::iota(all.begin(), all.end(), 0);
    const auto& spec = environment.spec();
    observations.resize(all.size() * static_cast<std::size_t>(spec.observation_dim()));
    distributions.resize(all.size() * static_cast<std::size_t>(distribution_width(spec)));
    if (!spec.is_discrete())
      continuous.resize(all.size() * static_cast<std::size_t>(spec.action_width));
  }

  std::int64_t first_lane;
  std::unique_ptr<Lanes> lanes;
  std::vector<std::int32_t> all;
  std::vector<std::uint64_t> episodes;  // begun in each lane
  std::vector<double> returns;          // of the running episodes so far
  std::vector<std::int64_t> lengths;
  // Of the present step:
  std::vector<float> observations, inputs, distributions, rewards, continuous;
  std::vector<Ending> endings;
  std::vector<std::int32_t> discrete;
  Mlp::Pass actor_pass, critic_pass;
  // Of the episodes that ended since the last collection:
  std::vector<double> ended_returns;
  std::vector<std::int64_t> ended_lengths;
};

Collector::Collector(const Environment& environment, const PpoOptions& options)
    : environment_(environment), options_(options) {
  for (std::int64_t first = 0; first < options.lanes; first += kGroup)
    groups_.push_back(
        std::make_unique<Group>(environment, first, std::min(kGroup, options.lanes - first)));
}

Collector::~Collector() = default;

void Collector::begin_episode(Group& group, std::int32_t lane) const {
  const auto i = static_cast<std::size_t>(lane);
  const auto index = group.episodes[i]++ * static_cast<std::uint64_t>(options_.lanes) +
                     static_cast<std::uint64_t>(group.first_lane + lane);
  group.lanes->reset(lane, Random(static_cast<std::uint64_t>(options_.seed) ^ (round_ << 32),
                                  "ppo-episode", index));
  group.returns[i] = 0.0;
  group.lengths[i] = 0;
}

void Collector::restart(std::uint64_t round) {
  round_ = round;
  for (auto& group : groups_) {
    std::ranges::fill(group->episodes, 0);
    for (const auto lane : group->all) begin_episode(*group, lane);
  }
}

void Collector::collect(const Networks& networks, Experience& out) {
  const auto& spec = environment_.spec();
  const auto rows = static_cast<std::size_t>(options_.batch());
  out.inputs.resize(rows * static_cast<std::size_t>(networks.view.inputs()));
  if (networks.view.kind == InputView::Kind::kStandardised)
    out.observations.resize(rows * static_cast<std::size_t>(spec.observation_dim()));
  if (spec.is_discrete())
    out.discrete.resize(rows);
  else
    out.continuous.resize(rows * static_cast<std::size_t>(spec.action_width));
  for (auto* column : {&out.log_probabilities, &out.rewards, &out.values, &out.cut_values})
    column->resize(rows);
  out.endings.resize(rows);

  options_.workers.chunks(static_cast<std::int64_t>(groups_.size()), 1,
                          [&](std::int64_t g, std::int64_t) {
                            run(*groups_[static_cast<std::size_t>(g)], networks, out);
                          });

  out.episode_returns.clear();
  out.episode_lengths.clear();
  for (auto& group : groups_) {
    out.episode_returns.insert(out.episode_returns.end(), group->ended_returns.begin(),
                               group->ended_returns.end());
    out.episode_lengths.insert(out.episode_lengths.end(), group->ended_lengths.begin(),
                               group->ended_lengths.end());
    group->ended_returns.clear();
    group->ended_lengths.clear();
  }
}

void Collector::run(Group& group, const Networks& networks, Experience& out) const {
  for (std::int64_t t = 0; t < options_.lane_steps; ++t) {
    options_.workers.throw_if_stopped();
    act(group, networks, t, out);
    group.lanes->step(group.all, {group.discrete, group.continuous}, group.rewards, group.endings);
    close_episodes(group, networks, t, out);
  }
}

/// Looks, chooses, and notes down both.
void Collector::act(Group& group, const Networks& networks, std::int64_t t, Experience& out) const {
  const auto& spec = environment_.spec();
  const auto count = static_cast<std::int64_t>(group.all.size());
  const auto observed = spec.observation_dim(), inputs = networks.view.inputs();
  const auto width = distribution_width(spec), dim = spec.action_width;
  group.inputs.resize(static_cast<std::size_t>(count * inputs));
  group.lanes->observe(group.all, group.observations);
  networks.view.apply(count, group.observations.data(), group.inputs.data());
  const auto outputs = networks.actor.forward(count, group.inputs.data(), group.actor_pass);
  to_distribution(count, outputs, networks.actor.output_stride(), dim, networks.log_deviation,
                  group.distributions);
  const auto values = networks.critic.forward(count, group.inputs.data(), group.critic_pass);

  for (std::int64_t i = 0; i < count; ++i) {
    const auto row = (group.first_lane + i) * options_.lane_steps + t;
    const auto at = static_cast<std::size_t>(row), lane = static_cast<std::size_t>(i);
    const auto distribution =
        std::span(group.distributions)
            .subspan(static_cast<std::size_t>(i * width), static_cast<std::size_t>(width));
    Random& stream = group.lanes->stream(static_cast<std::int32_t>(i));
    if (spec.is_discrete()) {
      group.discrete[lane] = out.discrete[at] = draw_discrete(distribution, stream);
      out.log_probabilities[at] = log_probability(distribution, group.discrete[lane]);
    } else {
      const auto action =
          std::span(group.continuous)
              .subspan(static_cast<std::size_t>(i * dim), static_cast<std::size_t>(dim));
      draw_continuous(distribution, stream, action);
      std::ranges::copy(action, out.continuous.begin() + row * dim);
      out.log_probabilities[at] = static_cast<float>(gaussian_log_density(distribution, action));
    }
    out.values[at] = values[static_cast<std::size_t>(i * networks.critic.output_stride())];
    std::copy_n(group.inputs.begin() + i * inputs, inputs, out.inputs.begin() + row * inputs);
    if (!out.observations.empty())
      std::copy_n(group.observations.begin() + i * observed, observed,
                  out.observations.begin() + row * observed);
  }
}

/// Notes what a step brought. Where an episode is cut, by its horizon or by the end of this
/// collection, the critic says what was still to come.
void Collector::close_episodes(Group& group, const Networks& networks, std::int64_t t,
                               Experience& out) const {
  const bool last = t + 1 == options_.lane_steps;
  for (std::size_t i = 0; i < group.all.size(); ++i) {
    const auto row = static_cast<std::size_t>(
        (group.first_lane + static_cast<std::int64_t>(i)) * options_.lane_steps + t);
    const auto lane = group.all[i];
    out.rewards[row] = group.rewards[i];
    out.endings[row] = group.endings[i];
    out.cut_values[row] = 0.0F;
    group.returns[i] += static_cast<double>(group.rewards[i]);
    ++group.lengths[i];
    const bool ended = group.endings[i] != Ending::kNone;
    if (group.endings[i] == Ending::kTimeout || (last && !ended)) {
      group.lanes->observe(std::span(&lane, 1), group.observations);
      networks.view.apply(1, group.observations.data(), group.inputs.data());
      out.cut_values[row] =
          networks.critic.forward(1, group.inputs.data(), group.critic_pass).front();
    }
    if (!ended) continue;
    group.ended_returns.push_back(group.returns[i]);
    group.ended_lengths.push_back(group.lengths[i]);
    begin_episode(group, lane);
  }
}

void estimate_advantages(const PpoOptions& options, float reward_scale, Experience& e) {
  const auto rows = e.rewards.size();
  const auto lane_steps = static_cast<std::size_t>(options.lane_steps);
  const auto discount = static_cast<float>(options.discount);
  const auto trace = static_cast<float>(options.discount * options.trace);
  e.advantages.resize(rows);
  e.returns.resize(rows);
  float following = 0.0F;
  for (auto row = rows; row-- > 0;) {
    const bool last = (row + 1) % lane_steps == 0;
    const bool runs_on = !last && e.endings[row] == Ending::kNone;
    const float next = runs_on ? e.values[row + 1] : e.cut_values[row];
    const float error = e.rewards[row] * reward_scale + discount * next - e.values[row];
    following = error + (runs_on ? trace * following : 0.0F);
    e.advantages[row] = following;
    e.returns[row] = following + e.values[row];
  }

  RunningStatistics spread(1, static_cast<double>(rows));
  for (const float advantage : e.advantages) {
    const double value = static_cast<double>(advantage);
    spread.add(std::span(&value, 1));
  }
  const auto mean = static_cast<float>(spread.mean());
  const auto scale = 1.0F / static_cast<float>(spread.deviation() + 1e-8);
  for (float& advantage : e.advantages) advantage = (advantage - mean) * scale;
}

}  // namespace kindred::ppo
