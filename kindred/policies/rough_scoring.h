// The E-step where only labels are asked for: policies in whole numbers score all trajectories, and
// floats decide between those that come close. See docs/decisions/0036-rough-scores.md.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "kindred/nn/cpu_policy.h"
#include "kindred/nn/rough_policy.h"
#include "kindred/policies/scoring.h"

namespace kindred {

class RoughScoring {
 public:
  /// Whether policies in whole numbers are possible, and there are steps enough to gain by them.
  static bool pays(const Trajectories& data, const PolicyStack& stack);

  /// Under the policies of a stack, where it pays. `rivals`: a number for each policy; those with
  /// the same number stand side by side and compete for trajectories. Sums of log-probabilities
  /// only. `view` must outlive this.
  RoughScoring(const NetworkView& view, const PolicyStack& stack, std::vector<std::int64_t> rivals,
               const Scoring& scoring, const Workers& workers);

  /// How far apart scores of a trajectory must be, for each of its steps, that rough ones tell
  /// which is higher: several times the most they were off anywhere in a sample of the data's
  /// steps.
  struct Margins {
    double of_bytes = 0.0, of_shorts = 0.0;

    /// Whether scores in shorts are good enough: not where policies are all but certain.
    bool are_small() const;
  };
  /// `common` as in score_trajectories().
  Margins margins(const Trajectories& data, std::span<const float> common,
                  const Workers& workers) const;

  /// As score_trajectories(), but only as exact as it takes to tell the highest of a trajectory's
  /// scores: in shorts, or in bytes where their margin is small too; where policies come within
  /// this margin of the best of their rivals in shorts; and where they still do in floats.
  Matrix score(const Trajectories& data, std::span<const float> common, const Margins& margins,
               const Workers& workers) const;

 private:
  const NetworkView& view_;
  std::vector<std::int64_t> rivals_;
  Scoring scoring_;
  PolicyArchitecture architecture_;
  std::deque<CpuPolicy> policies_;
  std::vector<RoughPolicy> in_bytes_, in_shorts_;
};

}  // namespace kindred
