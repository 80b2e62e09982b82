#include "kindred/experts/rollout.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>

#include "kindred/core/error.h"
#include "kindred/core/shared_progress.h"
#include "kindred/experts/episode_block.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/oracle.h"

namespace kindred {
namespace {

/// Episodes of one policy; the first of them is number `first` of the dataset before shuffling.
struct Block {
  std::int64_t policy, first;
  EpisodeBlock content;
};

/// Episodes side by side: enough for a batched policy, few enough for every thread to have some.
std::int64_t block_size(const EnvironmentSpec& spec) {
  return std::clamp<std::int64_t>(20480 / spec.horizon, 16, 512);
}

std::optional<double> parse_share(std::string_view text) {
  double share = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && share > 0.0 && share <= 1.0 ? std::optional(share) : std::nullopt;
}

/// The share of each of `count` policies, of which `list` names the first.
std::vector<double> parse_shares(std::string_view list, std::size_t count) {
  std::vector<double> shares;
  double sum = 0.0;
  for (const auto part : std::views::split(list, ',')) {
    const std::string_view text(part.begin(), part.end());
    const auto share = parse_share(text);
    if (!share) throw InvalidArgument("a share is a number above 0 and up to 1, not '{}'", text);
    sum += *share;
    shares.push_back(*share);
  }
  if (shares.size() > count)
    throw InvalidArgument("there are {} shares for {} experts", shares.size(), count);
  constexpr double kRounding = 1e-6;
  const auto others = count - shares.size();
  if (others == 0 && std::abs(sum - 1.0) > kRounding)
    throw InvalidArgument("the shares sum to {:.6g}, not to 1", sum);
  if (others > 0 && sum > 1.0 - kRounding)
    throw InvalidArgument("the shares sum to {:.6g} and leave nothing to the other experts", sum);
  while (shares.size() < count) shares.push_back((1.0 - sum) / static_cast<double>(others));
  return shares;
}

/// Where the part of each policy begins among all episodes, or steps, and where the last one ends.
std::vector<std::int64_t> divide(const GenerateOptions& options, std::size_t policies) {
  const auto count = static_cast<std::int64_t>(policies);
  const auto total = options.steps > 0 ? options.steps : options.per_expert * count;
  std::vector<std::int64_t> bounds;
  if (options.shares.empty()) {
    for (std::int64_t i = 0; i <= count; ++i) bounds.push_back(total * i / count);
    return bounds;
  }
  double sum = 0.0;
  bounds.push_back(0);
  for (const double share : parse_shares(options.shares, policies)) {
    sum += share;
    bounds.push_back(std::llround(sum * static_cast<double>(total)));
    if (bounds.back() == bounds[bounds.size() - 2])
      throw InvalidArgument("a share of {:.3g} gives an expert none of the {} {}", share, total,
                            options.steps > 0 ? "steps" : "episodes");
  }
  bounds.back() = total;
  return bounds;
}

/// Runs the episodes a dataset is made of.
class Runner {
 public:
  Runner(const Environment& environment, const Policies& policies, const GenerateOptions& options)
      : environment_(environment),
        policies_(policies),
        options_(options),
        bounds_(divide(options, policies.size())),
        progress_(bounds_.back(), options.progress) {}

  std::vector<Block> run() {
    for (std::size_t i = 0; i < policies_.size(); ++i) {
      const auto policy = static_cast<std::int64_t>(i);
      const auto part = bounds_[i + 1] - bounds_[i];
      if (options_.steps > 0)
        run_steps(policy, part);
      else
        plan(policy, part, bounds_[i]);
    }
    run_planned();
    return std::move(blocks_);
  }

 private:
  struct Planned {
    std::int64_t policy, stream, count;
  };

  void plan(std::int64_t policy, std::int64_t episodes, std::int64_t stream) {
    const auto size = block_size(environment_.spec());
    for (std::int64_t done = 0; done < episodes; done += size)
      planned_.push_back({policy, stream + done, std::min(size, episodes - done)});
  }

  void run_planned() {
    std::vector<EpisodeBlock> results(planned_.size());
    const auto run_block = [&](std::int64_t i, std::int64_t) {
      const auto& [policy, stream, count] = planned_[static_cast<std::size_t>(i)];
      auto& block = results[static_cast<std::size_t>(i)];
      const auto seed = static_cast<std::uint64_t>(options_.seed);
      const auto first_stream = static_cast<std::uint64_t>(stream);
      block = options_.turns.any()
                  ? run_episodes(environment_, policies_, policy, options_.turns, seed,
                                 first_stream, count, options_.workers)
                  : run_episodes(environment_, *policies_[static_cast<std::size_t>(policy)], seed,
                                 first_stream, count, options_.workers);
      progress_.add(options_.steps > 0 ? block.offsets.back() : block.episodes());
    };
    options_.workers.chunks(static_cast<std::int64_t>(planned_.size()), 1, run_block,
                            [&] { progress_.tell(); });
    for (std::size_t i = 0; i < results.size(); ++i)
      keep(planned_[i].policy, std::move(results[i]));
    planned_.clear();
  }

  /// Episodes one after the other until there are `wanted` steps; the last one is cut. Never are
  /// more planned than are needed, so that all of them are kept.
  void run_steps(std::int64_t policy, std::int64_t wanted) {
    constexpr std::int64_t kStreams = std::int64_t{1} << 40;  // of each policy
    std::int64_t episodes = 0;
    while (wanted > 0) {
      const auto first = blocks_.size();
      const auto at_least = 1 + (wanted - 1) / environment_.spec().horizon;
      plan(policy, at_least, policy * kStreams + episodes);
      episodes += at_least;
      run_planned();
      for (auto i = first; i < blocks_.size(); ++i) {
        auto& block = blocks_[i].content;
        block.keep_steps(wanted);
        wanted -= block.offsets.back();
      }
    }
  }

  void keep(std::int64_t policy, EpisodeBlock block) {
    blocks_.push_back({policy, next_, std::move(block)});
    next_ += blocks_.back().content.episodes();
  }

  const Environment& environment_;
  const Policies& policies_;
  const GenerateOptions& options_;
  std::vector<std::int64_t> bounds_;  // of the policies' parts
  std::vector<Planned> planned_;
  std::vector<Block> blocks_;
  std::int64_t next_ = 0;    // number of the next episode kept
  SharedProgress progress_;  // counts steps or episodes, whichever are asked for
};

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
           std::span<const std::int64_t> position, const Workers& workers)
      : environment_(environment),
        blocks_(blocks),
        position_(position),
        workers_(workers),
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
    if (!blocks_.front().content.steps.actors.empty()) data.actors = join(&Steps::actors);
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
    workers_.chunks(static_cast<std::int64_t>(blocks_.size()), 1, [&](auto block, auto) {
      const auto& [policy, first, content] = blocks_[static_cast<std::size_t>(block)];
      const auto& [offsets, steps] = content;
      auto position = position_.begin() + first;
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
    return environment_.spec().binary_observations
               ? Observations::dense(join(&Steps::bytes, dim), dim)
               : Observations::dense(join(&Steps::observations, dim), dim);
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
  std::span<const std::int64_t> position_;
  const Workers& workers_;
  std::vector<std::int64_t> offsets_;
};

nlohmann::json provenance_of(const Environment& environment, GenerateOptions options) {
  nlohmann::json provenance = to_json(options.describe());
  if (options.shares.empty()) provenance.erase("shares");  // files stay as they always were
  if (!options.turns.any())
    for (const auto& option : options.turns.describe()) provenance.erase(option.name);
  provenance["generator"] = "kindred";
  provenance["environment"] = environment.spec().name;
  provenance["options"] = environment.options();
  return provenance;
}

}  // namespace

OptionTable GenerateOptions::describe() {
  OptionTable table = {
      integer("per-expert", per_expert, 1, 100'000'000, "Episodes of each expert."),
      integer("steps", steps, 0, 1'000'000'000'000,
              "Steps in all, the same number of each expert; 0: as many as the episodes have."),
      integer("seed", seed, 0, std::numeric_limits<std::int64_t>::max(),
              "Names the random streams; the same seed gives the same dataset."),
      flag("shuffle", shuffle, "Mix the experts' episodes instead of one expert after the other."),
      text("shares", shares,
           "Shares of the first experts, as in '0.03,0.2'; the others divide the rest equally. "
           "Empty: the same for each."),
  };
  for (auto& option : turns.describe()) table.push_back(std::move(option));
  return table;
}

Trajectories rollout(const Environment& environment, const Policies& policies,
                     GenerateOptions options) {
  options = checked(options);
  const auto count = static_cast<std::int64_t>(policies.size());
  if (count == 0) throw InvalidArgument("a rollout needs at least one policy");
  if (options.steps > 0 && options.steps < count)
    throw InvalidArgument("{} steps are fewer than the {} experts", options.steps, count);
  const auto blocks = Runner(environment, policies, options).run();
  const auto episodes = blocks.back().first + blocks.back().content.episodes();
  const auto position = positions(episodes, options);
  Trajectories data = Assembly(environment, blocks, position, options.workers).finish();

  std::vector<std::int32_t> labels(position.size());
  for (const auto& [policy, first, content] : blocks)
    for (auto i = first; i < first + content.episodes(); ++i)
      labels[static_cast<std::size_t>(position[static_cast<std::size_t>(i)])] =
          static_cast<std::int32_t>(policy);
  for (std::int64_t i = 0; i < episodes; ++i) data.ids.push_back(std::to_string(i));
  data.labels = data.actors.empty() ? Column<std::int32_t>(std::move(labels))
                                    : Column<std::int32_t>(most_frequent_actors(data));
  for (const auto& policy : policies) data.label_names.push_back(policy->name());
  data.provenance = provenance_of(environment, options);
  return data;
}

Trajectories generate(const Environment& environment, const GenerateOptions& options) {
  return generate(environment, make_experts(environment), options);
}

Trajectories generate(const Environment& environment, const Policies& experts,
                      const GenerateOptions& options) {
  Trajectories data = rollout(environment, experts, options);
  if (data.actors.empty())  // it knows of one policy per episode
    data.oracle = oracle_labels(data, environment, experts, options.workers);
  return data;
}

}  // namespace kindred
