#include "kindred/experts/rollout.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <string>

#include "kindred/core/error.h"
#include "kindred/core/parallel.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/oracle.h"

namespace kindred {
namespace {

constexpr std::int64_t kBlock = 512;  // episodes side by side: enough for a batched policy

/// Episodes [first, first + count) of the dataset before shuffling, all of one policy.
struct Block {
  std::int64_t policy, first, count;
};

/// Columns over the steps of one block.
struct Steps {
  std::vector<std::int32_t> states;    // where the environment has states
  std::vector<float> observations;     // [steps, observation_dim], where it has none
  std::vector<std::int32_t> discrete;  // the chosen actions,
  std::vector<float> continuous;       // of one kind
  std::vector<float> rewards;
  std::vector<Ending> endings;
};

/// What a block yields: its episodes one after the other, and where each begins.
struct BlockResult {
  std::vector<std::int64_t> offsets;  // [count + 1]
  Steps steps;
};

template <class T>
void append(std::vector<T>& log, const std::vector<T>& values) {
  log.insert(log.end(), values.begin(), values.end());
}

/// Runs a block of episodes side by side until the last has ended.
class BlockRun {
 public:
  BlockRun(const Environment& environment, const Policy& policy, std::int64_t count)
      : spec_(environment.spec()),
        policy_(policy),
        lanes_(environment.make_lanes(count)),
        running_(static_cast<std::size_t>(count)) {
    std::iota(running_.begin(), running_.end(), 0);
  }

  BlockResult run(std::uint64_t seed, std::int64_t first_stream) {
    for (const auto lane : running_)
      lanes_->reset(lane, Random(seed, "rollout", static_cast<std::uint64_t>(first_stream + lane)));
    while (!running_.empty()) {
      look();
      choose();
      lanes_->step(running_, {discrete_, continuous_}, rewards_, endings_);
      record();
      drop_ended();
    }
    return in_episode_order();
  }

 private:
  void look() {
    const auto n = running_.size();
    rewards_.resize(n);
    endings_.resize(n);
    if (spec_.has_states()) {
      states_.resize(n);
      lanes_->states(running_, states_);
    }
    if (!spec_.has_states() || !policy_.reads_states()) {
      observations_.resize(n * static_cast<std::size_t>(spec_.observation_dim()));
      lanes_->observe(running_, observations_);
    }
  }

  void choose() {
    const auto n = running_.size();
    const auto width = static_cast<std::size_t>(distribution_width(spec_));
    const auto dim = static_cast<std::size_t>(spec_.action_width);
    distributions_.resize(n * width);
    policy_.distribution({static_cast<std::int64_t>(n), states_, observations_}, distributions_);
    if (spec_.is_discrete())
      discrete_.resize(n);
    else
      continuous_.resize(n * dim);
    for (std::size_t i = 0; i < n; ++i) {
      const auto distribution = std::span(distributions_).subspan(i * width, width);
      Random& stream = lanes_->stream(running_[i]);
      if (spec_.is_discrete())
        discrete_[i] = draw_discrete(distribution, stream);
      else
        draw_continuous(distribution, stream, std::span(continuous_).subspan(i * dim, dim));
    }
  }

  void record() {
    append(lane_log_, running_);
    if (spec_.has_states())
      append(log_.states, states_);
    else
      append(log_.observations, observations_);
    append(log_.discrete, discrete_);
    append(log_.continuous, continuous_);
    append(log_.rewards, rewards_);
    append(log_.endings, endings_);
  }

  void drop_ended() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < running_.size(); ++i)
      if (endings_[i] == Ending::kNone) running_[kept++] = running_[i];
    running_.resize(kept);
  }

  /// Steps were recorded as they happened: every first step, then every second step, …
  BlockResult in_episode_order() {
    BlockResult result;
    result.offsets.assign(static_cast<std::size_t>(lanes_->count()) + 1, 0);
    for (const auto lane : lane_log_) ++result.offsets[static_cast<std::size_t>(lane) + 1];
    std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());

    auto next = result.offsets;
    std::vector<std::size_t> place;  // of each recorded step
    place.reserve(lane_log_.size());
    for (const auto lane : lane_log_)
      place.push_back(static_cast<std::size_t>(next[static_cast<std::size_t>(lane)]++));

    const auto reorder = [&](const auto& from, auto& to) {
      to.resize(from.size());
      const auto width = from.size() / place.size();
      for (std::size_t i = 0; i < place.size(); ++i)
        for (std::size_t d = 0; d < width; ++d) to[place[i] * width + d] = from[i * width + d];
    };
    reorder(log_.states, result.steps.states);
    reorder(log_.observations, result.steps.observations);
    reorder(log_.discrete, result.steps.discrete);
    reorder(log_.continuous, result.steps.continuous);
    reorder(log_.rewards, result.steps.rewards);
    reorder(log_.endings, result.steps.endings);
    return result;
  }

  const EnvironmentSpec& spec_;
  const Policy& policy_;
  std::unique_ptr<Lanes> lanes_;
  std::vector<std::int32_t> running_;  // lanes whose episode has not ended, ascending
  // Of the present step, one entry per running lane:
  std::vector<std::int32_t> states_, discrete_;
  std::vector<float> observations_, distributions_, continuous_, rewards_;
  std::vector<Ending> endings_;
  // Of all steps so far:
  std::vector<std::int32_t> lane_log_;
  Steps log_;
};

std::vector<Block> cut_into_blocks(std::int64_t policies, std::int64_t per_policy) {
  std::vector<Block> blocks;
  for (std::int64_t policy = 0; policy < policies; ++policy)
    for (std::int64_t done = 0; done < per_policy; done += kBlock)
      blocks.push_back({policy, policy * per_policy + done, std::min(kBlock, per_policy - done)});
  return blocks;
}

/// Where each episode goes in the dataset.
std::vector<std::int64_t> positions(std::int64_t episodes, const GenerateOptions& options) {
  std::vector<std::int64_t> position(static_cast<std::size_t>(episodes));
  std::iota(position.begin(), position.end(), 0);
  if (options.shuffle)
    Random(static_cast<std::uint64_t>(options.seed), "shuffle").shuffle(std::span(position));
  return position;
}

/// Joins the results of all blocks into one dataset.
class Assembly {
 public:
  Assembly(const Environment& environment, const std::vector<Block>& blocks,
           const std::vector<BlockResult>& results, std::span<const std::int64_t> position,
           int threads)
      : environment_(environment),
        blocks_(blocks),
        results_(results),
        position_(position),
        threads_(threads),
        offsets_(position.size() + 1, 0) {
    for_each_episode([&](std::size_t target, const Steps&, std::int64_t begin, std::int64_t end) {
      offsets_[target + 1] = end - begin;
    });
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  }

  Trajectories finish() {
    const auto& spec = environment_.spec();
    Trajectories data;
    data.observations = spec.has_states() ? interned() : dense();
    data.actions =
        spec.is_discrete()
            ? Actions::discrete(join(&Steps::discrete), spec.action_width)
            : Actions::continuous(join(&Steps::continuous, spec.action_width), spec.action_width);
    data.rewards = join(&Steps::rewards);
    const auto endings = join(&Steps::endings);
    data.terminals = flags(endings, Ending::kTerminal);
    data.timeouts = flags(endings, Ending::kTimeout);
    data.offsets = std::move(offsets_);
    return data;
  }

 private:
  /// Calls visit(the episode's position in the dataset, its block's steps, begin and end there).
  template <class Visit>
  void for_each_episode(Visit visit) const {
    parallel_chunks(static_cast<std::int64_t>(blocks_.size()), 1, threads_, [&](auto block, auto) {
      const auto& [offsets, steps] = results_[static_cast<std::size_t>(block)];
      auto position = position_.begin() + blocks_[static_cast<std::size_t>(block)].first;
      for (std::size_t i = 0; i + 1 < offsets.size(); ++i, ++position)
        visit(static_cast<std::size_t>(*position), steps, offsets[i], offsets[i + 1]);
    });
  }

  template <class T>
  std::vector<T> join(std::vector<T> Steps::*column, std::int64_t width = 1) const {
    std::vector<T> all(static_cast<std::size_t>(offsets_.back() * width));
    for_each_episode(
        [&](std::size_t target, const Steps& steps, std::int64_t begin, std::int64_t end) {
          std::copy((steps.*column).begin() + begin * width, (steps.*column).begin() + end * width,
                    all.begin() + offsets_[target] * width);
        });
    return all;
  }

  static std::vector<std::uint8_t> flags(const std::vector<Ending>& endings, Ending wanted) {
    std::vector<std::uint8_t> result(endings.size());
    std::ranges::transform(endings, result.begin(), [&](auto ending) { return ending == wanted; });
    return result;
  }

  Observations dense() const {
    const auto dim = environment_.spec().observation_dim();
    return Observations::dense(join(&Steps::observations, dim), dim);
  }

  Observations interned() const {
    const auto dim = static_cast<std::size_t>(environment_.spec().observation_dim());
    auto index = join(&Steps::states);
    std::vector<std::int32_t> row_of(static_cast<std::size_t>(environment_.spec().states), -1);
    for (const auto state : index) row_of[static_cast<std::size_t>(state)] = 0;

    std::vector<float> table;
    std::int32_t rows = 0;
    for (std::size_t state = 0; state < row_of.size(); ++state) {
      if (row_of[state] < 0) continue;  // never seen
      row_of[state] = rows++;
      table.resize(table.size() + dim);
      environment_.observe_state(static_cast<std::int32_t>(state), std::span(table).last(dim));
    }
    for (auto& entry : index) entry = row_of[static_cast<std::size_t>(entry)];
    return Observations::interned(std::move(table), static_cast<std::int64_t>(dim),
                                  std::move(index));
  }

  const Environment& environment_;
  const std::vector<Block>& blocks_;
  const std::vector<BlockResult>& results_;
  std::span<const std::int64_t> position_;
  int threads_;
  std::vector<std::int64_t> offsets_;
};

nlohmann::json provenance_of(const Environment& environment, GenerateOptions options) {
  nlohmann::json provenance = to_json(options.describe());
  provenance["generator"] = "kindred";
  provenance["environment"] = environment.spec().name;
  provenance["options"] = environment.options();
  return provenance;
}

}  // namespace

OptionTable GenerateOptions::describe() {
  return {
      integer("per-expert", per_expert, 1, 100'000'000, "Episodes of each expert."),
      integer("seed", seed, 0, std::numeric_limits<std::int64_t>::max(),
              "Names the random streams; the same seed gives the same dataset."),
      flag("shuffle", shuffle, "Mix the experts' episodes instead of one expert after the other."),
  };
}

Trajectories rollout(const Environment& environment, const Policies& policies,
                     GenerateOptions options) {
  options = checked(options);
  if (policies.empty()) throw InvalidArgument("a rollout needs at least one policy");
  const auto blocks =
      cut_into_blocks(static_cast<std::int64_t>(policies.size()), options.per_expert);
  std::vector<BlockResult> results(blocks.size());
  parallel_chunks(static_cast<std::int64_t>(blocks.size()), 1, options.threads,
                  [&](std::int64_t i, std::int64_t) {
                    const auto& block = blocks[static_cast<std::size_t>(i)];
                    const auto& policy = *policies[static_cast<std::size_t>(block.policy)];
                    results[static_cast<std::size_t>(i)] =
                        BlockRun(environment, policy, block.count)
                            .run(static_cast<std::uint64_t>(options.seed), block.first);
                  });

  const auto episodes = static_cast<std::int64_t>(policies.size()) * options.per_expert;
  const auto position = positions(episodes, options);
  Trajectories data = Assembly(environment, blocks, results, position, options.threads).finish();

  std::vector<std::int32_t> labels(position.size());
  for (std::int64_t i = 0; i < episodes; ++i) {
    labels[static_cast<std::size_t>(position[static_cast<std::size_t>(i)])] =
        static_cast<std::int32_t>(i / options.per_expert);
    data.ids.push_back(std::to_string(i));
  }
  data.labels = std::move(labels);
  for (const auto& policy : policies) data.label_names.push_back(policy->name());
  data.provenance = provenance_of(environment, options);
  return data;
}

Trajectories generate(const Environment& environment, const GenerateOptions& options) {
  const Policies experts = make_experts(environment);
  Trajectories data = rollout(environment, experts, options);
  data.oracle = oracle_labels(data, environment, experts, options.threads);
  return data;
}

}  // namespace kindred
