// Soft actor-critic (Haarnoja et al. 2018) with a temperature that is learned, for this project's
// strong experts: it learns from every step many times, and reaches with fewer of them what PPO
// does not reach.
//
//   Sac training(environment, options);
//   while (!training.finished()) curve.push_back(training.update());
//   auto expert = training.policy("strong-expert", "Moves forward, fast.");
#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <string>

#include "kindred/envs/environment.h"
#include "kindred/experts/sac/options.h"
#include "kindred/experts/training.h"

namespace kindred {

class Sac final : public Training {
 public:
  /// The environment must outlive the training. Throws InvalidArgument on impossible options or
  /// discrete actions.
  Sac(const Environment& environment, SacOptions options);
  ~Sac() override;

  std::string algorithm() const override { return "sac"; }
  nlohmann::ordered_json described_options() const override;
  std::int64_t updates() const override { return updates_; }
  std::int64_t planned_updates() const override { return options_.updates(); }
  std::int64_t steps() const override { return last_.steps; }
  std::int64_t planned_steps() const override { return options_.steps; }

  CurvePoint update() override;
  std::shared_ptr<const NetworkPolicy> policy(const std::string& name,
                                              const std::string& summary) const override;
  bool at_checkpoint() const override { return updates_ % options_.checkpoint == 0; }
  void save(const std::filesystem::path& path) const override;
  void resume(const std::filesystem::path& path) override;

 private:
  struct Parts;
  void learn();

  const Environment& environment_;
  SacOptions options_;
  std::int64_t updates_ = 0;
  CurvePoint last_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace kindred
