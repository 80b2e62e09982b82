// An environment: an immutable model of a task, and the mutable lanes in which its episodes run.
//
// One Environment serves every thread; each thread makes Lanes of its own. A lane is one running
// episode with its own random stream: what happens in it depends on that stream and on the actions
// alone, never on the lanes beside it. Calls name the lanes they concern, so that a caller steps
// only the episodes that are still running.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/core/random.h"

namespace kindred {

enum class ActionKind { kDiscrete, kContinuous };

/// The returns that D4RL's normalised scores of 0 (a random policy) and 100 (an expert) stand for.
struct ReturnRange {
  double low = 0.0;
  double high = 0.0;
};

/// What an environment is, before anything runs.
struct EnvironmentSpec {
  std::string name;
  std::string summary;                          ///< One sentence.
  std::vector<std::int64_t> observation_shape;  ///< Row-major, such as {9, 9, 3}.
  ActionKind action_kind = ActionKind::kDiscrete;
  std::int64_t action_width = 0;  ///< How many actions, or how many numbers in a continuous one.
  std::vector<std::string> action_names;  ///< One per discrete action, or empty.
  std::int64_t horizon = 0;               ///< Steps after which an episode is cut off.
  std::int64_t states = 0;  ///< How many different observations there are; 0: too many to number.
  std::optional<ReturnRange> reference_returns = std::nullopt;  ///< Where D4RL names them.
  bool clips_actions = false;        ///< Continuous actions are cut to ±1, and recorded so.
  bool binary_observations = false;  ///< Every number is 0 or 1: datasets store them as bytes.

  std::int64_t observation_dim() const;
  bool is_discrete() const { return action_kind == ActionKind::kDiscrete; }
  bool has_states() const { return states > 0; }
};

/// One action per named lane, of the kind the spec declares; the other span is empty.
struct ActionView {
  std::span<const std::int32_t> discrete;  // [lanes]
  std::span<const float> continuous;       // [lanes, action_width]
};

/// How a step left its episode: running, ended by the environment, or cut off at the horizon.
enum class Ending : std::uint8_t { kNone, kTerminal, kTimeout };

using LaneList = std::span<const std::int32_t>;

/// Episodes in progress. In every call, item i of each span belongs to lanes[i]; no lane may be
/// named twice.
class Lanes {
 public:
  Lanes(std::int64_t count, const EnvironmentSpec& spec);
  virtual ~Lanes() = default;
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  std::int64_t count() const { return static_cast<std::int64_t>(streams_.size()); }

  /// Starts a new episode whose every chance is drawn from `stream`.
  void reset(std::int32_t lane, Random stream);

  /// Takes one step in each named lane. Throws InvalidArgument when a lane has no running episode
  /// (it has ended, or was never reset) or an action does not exist.
  void step(LaneList lanes, const ActionView& actions, std::span<float> rewards,
            std::span<Ending> endings);

  /// The present observations, out[lanes, observation_dim].
  virtual void observe(LaneList lanes, std::span<float> out) const = 0;

  /// The present state numbers, out[lanes]; only where the spec has states.
  virtual void states(LaneList lanes, std::span<std::int32_t> out) const;

  /// Whether the episode is about to fail: where nothing else can, its time runs out.
  virtual bool near_failure(std::int32_t lane) const;

  /// The lane's stream, from which a policy acting in the lane draws too.
  Random& stream(std::int32_t lane) { return streams_[static_cast<std::size_t>(lane)]; }

 protected:
  /// Puts the lane at the start of an episode.
  virtual void start(std::int32_t lane) = 0;

  /// Moves each lane on, and sets every reward and ending (kNone or kTerminal; the horizon is
  /// added by step).
  virtual void advance(LaneList lanes, const ActionView& actions, std::span<float> rewards,
                       std::span<Ending> endings) = 0;

 private:
  void check_actions(LaneList lanes, const ActionView& actions) const;

  bool discrete_;
  std::int64_t action_width_;
  std::int64_t horizon_;
  std::vector<std::int64_t> steps_left_;  // 0: no running episode
  std::vector<Random> streams_;
};

/// The immutable part; see the top of this file.
class Environment {
 public:
  virtual ~Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  const EnvironmentSpec& spec() const { return spec_; }

  /// Every option with its value: make_environment(spec().name, options()) is this environment.
  const nlohmann::json& options() const { return options_; }

  /// Room for `count` episodes side by side. The environment must outlive its lanes.
  virtual std::unique_ptr<Lanes> make_lanes(std::int64_t count) const = 0;

  /// The observation of a state, out[observation_dim]; only where the spec has states.
  virtual void observe_state(std::int32_t state, std::span<float> out) const;

 protected:
  Environment(EnvironmentSpec spec, nlohmann::json options)
      : spec_(std::move(spec)), options_(std::move(options)) {}

 private:
  EnvironmentSpec spec_;
  nlohmann::json options_;
};

/// The same options, once every field is within the range its description gives. Throws
/// InvalidArgument.
template <class Options, class... Described>
Options checked(Options options, const Described&... described) {
  for (const auto& option : options.describe(described...)) option.set(option.get());
  return options;
}

}  // namespace kindred
