// A policy as a TorchScript module: torch.jit.load in Python, torch::jit::load in C++.
//
//   policy(observations)         raw observations [n, obs_dim] → probabilities [n, actions];
//                                continuous: (mean, std), each [n, actions]
//   policy.act(observations)     the most likely action [n], or the mean [n, actions]
//   policy.sample(observations)  one drawn at random
//   policy.obs_dim, .discrete, .actions, .method, .cluster, .version
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "kindred/core/late_part.h"
#include "kindred/policies/plain_policy.h"

namespace kindred {

/// What a policy says of itself besides its dimensions.
struct PolicyOrigin {
  std::string method;
  std::int64_t cluster = 0;
};

/// Throws IoError.
extern TorchFunction<void(const PlainPolicy& policy, const PolicyOrigin& origin,
                          const std::filesystem::path& path)>
    save_torch_script;

}  // namespace kindred
