// The training of one expert, by whichever algorithm: what recipes follow, save and resume.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kindred/experts/network_policy.h"

namespace kindred {

/// One update of the learning curve. Returns and lengths are means over episodes that ended during
/// the update (SAC: over the latest of them); where none did, the previous point's.
struct CurvePoint {
  std::int64_t steps = 0;  ///< Environment steps so far.
  std::int64_t episodes = 0;
  double mean_return = 0.0;
  double mean_length = 0.0;
  double entropy = 0.0;
  std::optional<double> divergence = std::nullopt;   ///< PPO: from the policy that acted.
  std::optional<double> temperature = std::nullopt;  ///< SAC: what a nat of entropy is worth.
  double value_error = 0.0;                          ///< Squared.
};

nlohmann::ordered_json to_json(const CurvePoint& point);
CurvePoint curve_point(const nlohmann::json& json);

/// The same options give the same policy, bit by bit, whatever the number of threads and however
/// often the training was interrupted and resumed.
class Training {
 public:
  virtual ~Training() = default;

  /// The algorithm's name, under which a record keeps its options,
  virtual std::string algorithm() const = 0;
  /// and these options.
  virtual nlohmann::ordered_json described_options() const = 0;

  virtual std::int64_t updates() const = 0;          ///< Done.
  virtual std::int64_t planned_updates() const = 0;  ///< In all.
  virtual std::int64_t steps() const = 0;            ///< Environment steps so far.
  virtual std::int64_t planned_steps() const = 0;    ///< In all.
  bool finished() const { return updates() >= planned_updates(); }

  /// Acts, learns, and tells how it went. Throws Interrupted when asked to stop; the training is
  /// then of no use, and goes on from its last checkpoint.
  virtual CurvePoint update() = 0;

  virtual std::shared_ptr<const NetworkPolicy> policy(const std::string& name,
                                                      const std::string& summary) const = 0;

  /// True at moments at which save() is exact.
  virtual bool at_checkpoint() const = 0;
  virtual void save(const std::filesystem::path& path) const = 0;
  /// Continues a training of the same options. Throws DataFormatError for any other.
  virtual void resume(const std::filesystem::path& path) = 0;
};

}  // namespace kindred
