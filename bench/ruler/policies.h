// The problem as policies see it: what rows on the CPU and on a GPU share.
#pragma once

#include <string>
#include <vector>

#include "kindred/policies/scoring.h"
#include "problem.h"
#include "turns.h"

namespace bench {

using namespace kindred;

/// Where the library's readers put the numbers of a file.
inline Column<float> as_read(const std::vector<float>& values) {
  return StepValues<float>(values.begin(), values.end());
}

/// The problem as the library's own types.
struct Task {
  explicit Task(const Problem& p) : problem(p) {
    std::vector<float> observations, actions;
    problem.make(observations, actions);
    checksum.add(observations);
    checksum.add(actions);
    data.observations = Observations::dense(as_read(observations), kInputs);
    data.actions = Actions::continuous(as_read(actions), kActions);
    std::vector<std::int64_t> offsets;
    for (std::int64_t e = 0; e <= problem.episodes(); ++e) offsets.push_back(e * problem.length);
    for (std::int64_t e = 0; e < problem.episodes(); ++e) data.ids.push_back(std::to_string(e));
    data.offsets = std::move(offsets);
  }

  Problem problem;
  Trajectories data;
  Checksum checksum;
};

/// Every policy's parameters, and how the policies see the data: as it is.
struct Policies : Task {
  explicit Policies(const Problem& p)
      : Task(p),
        view{NetworkInputs::from(data.observations, /*standardize=*/false), {}},
        start({.inputs = kInputs, .discrete = false, .actions = kActions}, problem.policies) {
    auto parameters = start.parameters();
    const auto values = problem.parameters();
    for (std::size_t i = 0; i < values.size(); ++i) {
      parameters[i].values = values[i];
      checksum.add(values[i]);
    }
  }

  /// Mean of log π(a|s) over all steps, each under the policy it belongs to.
  double likelihood(const PolicyStack& stack, const Workers& workers) const {
    const auto scores = score_trajectories(data, view, stack, {}, {}, workers);
    double sum = 0.0;
    for (std::int64_t e = 0; e < data.episodes(); ++e) sum += scores(e, e % problem.policies);
    return sum / static_cast<double>(problem.steps);
  }

  Line about_training() const {
    return {{"row", "m-step"},
            {"shape", std::to_string(problem.policies) + "x" + std::to_string(problem.batch)},
            {"who", "Kindred"},
            {"data", checksum.text()},
            {"work", problem.updates * problem.policies * problem.batch},
            {"unit", "trained steps"},
            {"flop", problem.training_flop()}};
  }

  Line about_scoring() const {
    return {{"row", "e-step"},
            {"shape", std::to_string(problem.policies) + "x" + std::to_string(problem.steps)},
            {"who", "Kindred"},
            {"data", checksum.text()},
            {"work", problem.steps * problem.policies},
            {"unit", "policy-steps"},
            {"flop", problem.scoring_flop()}};
  }

  NetworkView view;
  PolicyStack start;
};

}  // namespace bench
