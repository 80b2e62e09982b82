// A policy that is a small network: what PPO trains and what the shipped experts are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/experts/policy.h"
#include "kindred/nn/mlp.h"

namespace kindred {

/// What a network is shown of an observation.
struct InputView {
  enum class Kind {
    kStandardised,  ///< (x - mean) · scale, within ±limit.
    kCentred,       ///< A gridworld's picture moved so that the agent stands in its middle.
  };

  Kind kind = Kind::kStandardised;
  std::vector<float> mean, scale;  ///< Standardised only, one per observed number.
  std::int64_t size = 0;           ///< Centred only: rows and columns of the picture,
  std::int64_t planes = 0;         ///< and how many planes it has; plane 1 is the agent's.
  float limit = 10.0F;             ///< Standardised only: one strange value must not decide.

  /// How networks look at this environment: centred where every episode has its own map, since
  /// then what matters is where things lie as seen from the agent.
  static InputView of(const EnvironmentSpec& spec);

  std::int64_t observed() const;  ///< Numbers in an observation,
  std::int64_t inputs() const;    ///< and in what the network is shown of it.
  bool is_sparse() const { return kind == Kind::kCentred; }
  /// observations [rows, observed] → out [rows, inputs].
  void apply(std::int64_t rows, const float* observations, float* out) const;

  /// Whether both look at observations of the same shape in the same way.
  bool fits(const InputView& other) const;

 private:
  std::int64_t reach() const { return size - 3; }  // how far apart two free cells can be
  std::int64_t window() const { return 2 * reach() + 1; }
  void apply_centred(const float* observation, float* out) const;
};

/// Discrete actions: the softmax of the network's outputs. Continuous: a Gaussian about its outputs
/// whose deviations are the same everywhere. Squashed: the Gaussian that is nearest to
/// tanh(m + σ ε), where the network's outputs are m and σ of every number of an action.
class NetworkPolicy final : public Policy {
 public:
  enum class Actions { kDiscrete, kContinuous, kSquashed };

  /// Discrete where there are no deviations, else continuous.
  NetworkPolicy(std::string name, std::string summary, InputView view, Mlp network,
                std::vector<float> log_deviation);
  /// Squashed: the network has two outputs for every number of an action. Throws InvalidArgument
  /// where their count is odd.
  NetworkPolicy(std::string name, std::string summary, InputView view, Mlp network);

  bool reads_states() const override { return false; }
  void distribution(const Situations& seen, std::span<float> out) const override;

  const Mlp& network() const { return network_; }
  const InputView& view() const { return view_; }
  const std::vector<float>& log_deviation() const { return log_deviation_; }
  Actions actions() const { return actions_; }
  bool is_discrete() const { return actions_ == Actions::kDiscrete; }
  /// How many actions, or how many numbers in a continuous one.
  std::int64_t action_width() const;

  /// The file's bytes: a line of JSON that describes the network, then its numbers as float32,
  /// lowest byte first (means and scales, deviations, then weights and bias of each layer).
  std::string to_bytes() const;
  /// Throws DataFormatError, naming `where`.
  static std::shared_ptr<const NetworkPolicy> from_bytes(std::string_view bytes,
                                                         const std::string& where);

 private:
  InputView view_;
  Mlp network_;
  std::vector<float> log_deviation_;  // continuous only, one per number of an action
  Actions actions_;
};

/// Turns the network's outputs [rows, stride] into probabilities, or means and deviations, out
/// [rows, distribution width].
void to_distribution(std::int64_t rows, std::span<const float> outputs, std::int64_t stride,
                     std::int64_t actions, std::span<const float> log_deviation,
                     std::span<float> out);

/// log σ of tanh(m + σ ε) as a network's output x gives it: -1.5 + 3.5 tanh x, between -5 and 2.
float squashed_log_deviation(float output);

/// Turns outputs [rows, stride], of which the first [2, actions] are m and x, into the mean and
/// deviation of tanh(m + σ ε): those of its two values at ε = ±1, and no deviation below 0.001.
void to_squashed_distribution(std::int64_t rows, std::span<const float> outputs,
                              std::int64_t stride, std::int64_t actions, std::span<float> out);

}  // namespace kindred
