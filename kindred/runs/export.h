// A run's policies as files for people who work in Python. The folder holds
//   policy_0.pt …   TorchScript: torch_script.h    policy_0.npz …  plain arrays: plain_policy.h
//   policies.json   what the policies are, and how to compute them, in words
//   example.py      loads them, with torch or with numpy alone, acts, checks
//   check.npz       observations of the dataset with what Kindred itself computes for them:
//                   observations [n, obs_dim]; probabilities [k, n, actions], or mean and std
//                   [k, n, actions]; actions [k, n] or [k, n, actions], the most likely
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kindred/policies/centres.h"
#include "kindred/runs/run.h"

namespace kindred {

/// The run's own centres, or the policies that `kindred evaluate` let act.
enum class PolicySource { kCentres, kEvaluated };

/// Throws InvalidArgument, saying what to do, where the run has no such policies.
std::shared_ptr<const PolicyCentres> policies_of(const RunFolder& folder, const LoadedRun& run,
                                                 PolicySource source);

/// At most 256 observations from all over the data, [n, obs_dim]. Throws DataFormatError when the
/// policies were fitted on data of other dimensions.
std::vector<float> check_observations(const PolicyCentres& policies, const Trajectories& data);

/// Where policies come from, for whoever finds the folder later.
struct ExportOrigin {
  std::string run;
  std::string method;
  PolicySource source = PolicySource::kCentres;
  std::vector<std::int64_t> episodes;  ///< [k]: trajectories of each cluster.
};

/// Writes `folder`, which appears whole or not at all; without observations it has no check.npz.
/// Throws InvalidArgument when something is there already, IoError when it cannot be written.
void export_policies(const PolicyCentres& policies, const ExportOrigin& origin,
                     std::span<const float> observations, const std::filesystem::path& folder);

}  // namespace kindred
