// A policy for tests on Drift: pushes towards a corner, more or less.
#pragma once

#include "kindred/experts/policy.h"

namespace kindred {

class Push final : public Policy {
 public:
  explicit Push(float direction) : Policy("push", ""), direction_(direction) {}
  bool reads_states() const override { return false; }
  void distribution(const Situations& seen, std::span<float> out) const override {
    for (std::size_t i = 0; i < static_cast<std::size_t>(seen.count); ++i)
      for (std::size_t d = 0; d < 2; ++d) {
        out[4 * i + d] = direction_ - 0.1f * seen.observations[2 * i + d];  // mean
        out[4 * i + 2 + d] = 0.3f;                                          // deviation
      }
  }

 private:
  float direction_;
};

}  // namespace kindred
