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
    kStandardised,  ///< (x - mean) · scale, within ±10.
    kCentred,       ///< A gridworld's picture moved so that the agent stands in its middle.
  };

  Kind kind = Kind::kStandardised;
  std::vector<float> mean, scale;  ///< Standardised only, one per observed number.
  std::int64_t size = 0;           ///< Centred only: rows and columns of the picture,
  std::int64_t planes = 0;         ///< and how many planes it has; plane 1 is the agent's.

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
/// whose deviations are the same everywhere.
class NetworkPolicy final : public Policy {
 public:
  NetworkPolicy(std::string name, std::string summary, InputView view, Mlp network,
                std::vector<float> log_deviation);

  bool reads_states() const override { return false; }
  void distribution(const Situations& seen, std::span<float> out) const override;

  const Mlp& network() const { return network_; }
  const InputView& view() const { return view_; }
  const std::vector<float>& log_deviation() const { return log_deviation_; }
  bool is_discrete() const { return log_deviation_.empty(); }

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
};

/// Turns the network's outputs [rows, stride] into probabilities, or means and deviations, out
/// [rows, distribution width].
void to_distribution(std::int64_t rows, std::span<const float> outputs, std::int64_t stride,
                     std::int64_t actions, std::span<const float> log_deviation,
                     std::span<float> out);

}  // namespace kindred
