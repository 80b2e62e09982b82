// A finished run together with the data it clustered: what every part of the findings reads.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kindred/data/trajectories.h"
#include "kindred/policies/centres.h"
#include "kindred/runs/run.h"

namespace kindred::findings {

/// The episodes of each cluster, in their order.
using Members = std::vector<std::vector<std::int64_t>>;

struct RunData {
  LoadedRun run;
  const Trajectories& data;
  Matrix scores = {};              ///< [episodes, k]
  Matrix latents = {};             ///< [episodes, features], or empty.
  std::string score_meaning = {};  ///< "log-likelihood", …
  std::vector<std::vector<std::int32_t>> restart_labels = {};
  /// [episodes]: held out where the run could say, which it could for this many.
  std::vector<double> margin = {};
  std::int64_t held_out = 0;
  /// [episodes]: the score under an episode's own centre, per step where scores sum over steps.
  std::vector<double> fit = {};
  Members members = {};                                ///< [k]
  std::shared_ptr<const PolicyCentres> policies = {};  ///< Null where the centres cannot act.

  std::int64_t k() const { return std::ssize(members); }
  std::int64_t label(std::int64_t episode) const {
    return run.labels[static_cast<std::size_t>(episode)];
  }
};

/// Throws InvalidArgument unless `data` is what the run was made from.
RunData load_run_data(const RunFolder& folder, const Trajectories& data);

/// The same data under another of the run's answers, with labels and members alone: everything else
/// belongs to the answer's own centres. Numbered as in with_alternative. Throws DataFormatError
/// when its labels leave out a cluster.
RunData other_answer(const RunData& found, const RunFolder& folder, std::int64_t number);

/// At most `count` of them, evenly spread.
std::vector<std::int64_t> spread(const std::vector<std::int64_t>& from, std::int64_t count);

/// At most `count` of the steps 0 … length - 1, evenly spaced from the first on, and how far apart.
std::int64_t stride_for(std::int64_t length, std::int64_t count);

}  // namespace kindred::findings
