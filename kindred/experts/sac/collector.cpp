#include "kindred/experts/sac/collector.h"

#include <algorithm>
#include <numeric>

#include "kindred/experts/sac/squashed.h"

namespace kindred::sac {
namespace {

constexpr std::int64_t kGroup = 8;  // lanes that advance together: one batch for the actor

}  // namespace

/// A few lanes with everything their steps need.
struct Collector::Group {
  Group(const Environment& environment, std::int64_t first, std::int64_t lane_count)
      : first_lane(first),
        lanes(environment.make_lanes(lane_count)),
        all(static_cast<std::size_t>(lane_count)),
        episodes(all.size(), 0),
        running(all.size()),
        rewards(all.size()),
        endings(all.size()) {
    std::iota(all.begin(), all.end(), 0);
    const auto& spec = environment.spec();
    observations.resize(all.size() * static_cast<std::size_t>(spec.observation_dim()));
    next.resize(observations.size());
    actions.resize(all.size() * static_cast<std::size_t>(spec.action_width));
    noise.resize(static_cast<std::size_t>(spec.action_width));
  }

  std::int64_t first_lane;
  std::unique_ptr<Lanes> lanes;
  std::vector<std::int32_t> all;
  std::vector<std::uint64_t> episodes;  // begun in each lane
  std::vector<Ended> running;           // the running episodes so far
  // Of the present step:
  std::vector<float> observations, inputs, actions, noise, next, rewards;
  std::vector<Ending> endings;
  Mlp::Pass pass;
  // Since the last collection, one after the other:
  std::vector<float> seen, acted, followed, paid;
  std::vector<bool> terminal;
  std::vector<Ended> ended;
};

Collector::Collector(const Environment& environment, const SacOptions& options)
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
                                  "sac-episode", index));
  group.running[i] = {};
}

void Collector::restart(std::uint64_t round) {
  round_ = round;
  for (auto& group : groups_) {
    std::ranges::fill(group->episodes, 0);
    for (const auto lane : group->all) begin_episode(*group, lane);
  }
}

std::vector<Ended> Collector::collect(const InputView& view, const Mlp* actor, Replay& replay) {
  options_.workers.chunks(std::ssize(groups_), 1, [&](std::int64_t g, std::int64_t) {
    run(*groups_[static_cast<std::size_t>(g)], view, actor);
  });
  std::vector<Ended> ended;
  for (auto& group : groups_) {
    const auto observed = group->observations.size() / group->all.size();
    const auto width = group->actions.size() / group->all.size();
    for (std::size_t i = 0; i < group->paid.size(); ++i)
      replay.add({.observation = std::span(group->seen).subspan(i * observed, observed),
                  .action = std::span(group->acted).subspan(i * width, width),
                  .next = std::span(group->followed).subspan(i * observed, observed),
                  .reward = group->paid[i],
                  .terminal = group->terminal[i]});
    ended.insert(ended.end(), group->ended.begin(), group->ended.end());
  }
  return ended;
}

void Collector::run(Group& group, const InputView& view, const Mlp* actor) const {
  for (auto* log : {&group.seen, &group.acted, &group.followed, &group.paid}) log->clear();
  group.terminal.clear();
  group.ended.clear();
  for (std::int64_t t = 0; t < options_.lane_steps; ++t) {
    options_.workers.throw_if_stopped();
    group.lanes->observe(group.all, group.observations);
    act(group, view, actor);
    group.lanes->step(group.all, {{}, group.actions}, group.rewards, group.endings);
    group.lanes->observe(group.all, group.next);
    note(group);
  }
}

void Collector::act(Group& group, const InputView& view, const Mlp* actor) const {
  const auto count = std::ssize(group.all);
  const auto dim = group.noise.size();
  std::span<const float> outputs;
  if (actor) {
    group.inputs.resize(static_cast<std::size_t>(count * view.inputs()));
    view.apply(count, group.observations.data(), group.inputs.data());
    outputs = actor->forward(count, group.inputs.data(), group.pass);
  }
  for (std::size_t i = 0; i < group.all.size(); ++i) {
    Random& stream = group.lanes->stream(group.all[i]);
    const auto action = std::span(group.actions).subspan(i * dim, dim);
    if (!actor) {
      for (float& number : action) number = static_cast<float>(stream.uniform(-1.0, 1.0));
      continue;
    }
    for (float& number : group.noise) number = static_cast<float>(stream.normal());
    const auto stride = static_cast<std::size_t>(actor->output_stride());
    draw(outputs.subspan(i * stride, 2 * dim), group.noise, action);
  }
}

/// Notes what a step brought, and starts over where an episode ended.
void Collector::note(Group& group) const {
  const auto append = [](std::vector<float>& log, const std::vector<float>& values) {
    log.insert(log.end(), values.begin(), values.end());
  };
  append(group.seen, group.observations);
  append(group.acted, group.actions);
  append(group.followed, group.next);
  append(group.paid, group.rewards);
  for (std::size_t i = 0; i < group.all.size(); ++i) {
    group.terminal.push_back(group.endings[i] == Ending::kTerminal);
    group.running[i].sum += static_cast<double>(group.rewards[i]);
    ++group.running[i].length;
    if (group.endings[i] == Ending::kNone) continue;
    group.ended.push_back(group.running[i]);
    begin_episode(group, group.all[i]);
  }
}

}  // namespace kindred::sac
