// Proximal policy optimisation (Schulman et al. 2017), for this project's own experts.
//
//   Ppo training(environment, options);
//   while (!training.finished()) curve.push_back(training.update());
//   auto expert = training.policy("plus", "Visits both special cells.");
//
// The same options give the same policy, bit by bit, whatever the number of threads and however
// often the training was interrupted and resumed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "kindred/experts/network_policy.h"
#include "kindred/experts/ppo/options.h"

namespace kindred {

/// One update of the learning curve. Returns and lengths are means over the episodes that ended
/// during the update; where none did, the previous point's.
struct CurvePoint {
  std::int64_t steps = 0;  ///< Environment steps so far.
  std::int64_t episodes = 0;
  double mean_return = 0.0;
  double mean_length = 0.0;
  double entropy = 0.0;
  double divergence = 0.0;
  double value_error = 0.0;
};

nlohmann::ordered_json to_json(const CurvePoint& point);
CurvePoint curve_point(const nlohmann::json& json);

class Ppo {
 public:
  /// The environment must outlive the training. Throws InvalidArgument on impossible options,
  /// Interrupted when asked to stop.
  Ppo(const Environment& environment, PpoOptions options);
  ~Ppo();

  const PpoOptions& options() const { return options_; }
  bool finished() const { return updates_ >= options_.updates(); }
  std::int64_t updates() const { return updates_; }
  std::int64_t steps() const { return last_.steps; }

  /// Acts, learns, and tells how it went. Throws Interrupted when asked to stop; the training is
  /// then of no use, and goes on from its last checkpoint.
  CurvePoint update();

  std::shared_ptr<const NetworkPolicy> policy(const std::string& name,
                                              const std::string& summary) const;

  /// True after every options().checkpoint updates: a moment at which save() is exact.
  bool at_checkpoint() const { return updates_ % options_.checkpoint == 0; }
  void save(const std::filesystem::path& path) const;
  /// Continues a training of the same options. Throws DataFormatError for any other.
  void resume(const std::filesystem::path& path);

 private:
  struct Parts;
  double along(double from, double to) const;
  void learn_statistics();
  std::string environment_text() const;
  std::string options_text() const;

  const Environment& environment_;
  PpoOptions options_;
  std::int64_t updates_ = 0;
  CurvePoint last_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace kindred
