// Proximal policy optimisation (Schulman et al. 2017), for this project's own experts.
//
//   Ppo training(environment, options);
//   while (!training.finished()) curve.push_back(training.update());
//   auto expert = training.policy("plus", "Visits both special cells.");
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "kindred/envs/environment.h"
#include "kindred/experts/ppo/options.h"
#include "kindred/experts/training.h"

namespace kindred {

class Ppo final : public Training {
 public:
  /// The environment must outlive the training. Throws InvalidArgument on impossible options,
  /// Interrupted when asked to stop.
  Ppo(const Environment& environment, PpoOptions options);
  ~Ppo() override;

  std::string algorithm() const override { return "ppo"; }
  nlohmann::ordered_json described_options() const override;
  std::int64_t updates() const override { return updates_; }
  std::int64_t planned_updates() const override { return options_.updates(); }
  std::int64_t steps() const override { return last_.steps; }
  std::int64_t planned_steps() const override { return options_.steps; }

  CurvePoint update() override;
  std::shared_ptr<const NetworkPolicy> policy(const std::string& name,
                                              const std::string& summary) const override;
  /// True after every `checkpoint` updates.
  bool at_checkpoint() const override { return updates_ % options_.checkpoint == 0; }
  void save(const std::filesystem::path& path) const override;
  void resume(const std::filesystem::path& path) override;

 private:
  struct Parts;
  double along(double from, double to) const;
  void learn_statistics();
  std::string environment_text() const;

  const Environment& environment_;
  PpoOptions options_;
  std::int64_t updates_ = 0;
  CurvePoint last_;
  std::unique_ptr<Parts> parts_;
};

}  // namespace kindred
