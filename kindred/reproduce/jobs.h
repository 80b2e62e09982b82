// What there is to do: clusterings, and the records that each of them is good for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kindred/reproduce/declarations.h"

namespace kindred::reproduce {

/// One small file of results. Its name follows from what was measured, so that a result that is
/// there is never measured again, whichever item wants it.
struct Output {
  enum class Kind { kClustering, kEvaluation, kReturns };

  Kind kind = Kind::kClustering;
  std::string record;  ///< The file's name, without ".json".
  std::string variant{};
  std::int64_t evaluation_seed = 0;
};

/// One clustering, from data to labels, and what is to be known of it.
struct Job {
  std::string task;
  std::string configuration;
  std::int64_t seed = 0;
  std::vector<Output> outputs;
  bool gpu = false;  ///< Whether a GPU is of use to it.

  std::string name() const;
};

/// "diagonal-pg-kmeans-1"
std::string record_name(const std::string& task, const std::string& configuration,
                        std::int64_t seed);
/// "hopper-pg-kmeans-1-evaluated-default-0"
std::string evaluation_name(const std::string& job, const std::string& variant,
                            std::int64_t evaluation_seed);
/// "hopper-pg-kmeans-k10-1-returns"
std::string returns_name(const std::string& job);

/// What the items need, each clustering once.
std::vector<Job> jobs_of(const Declarations& declared, const std::vector<std::string>& items);

}  // namespace kindred::reproduce
