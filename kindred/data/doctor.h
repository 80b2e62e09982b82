// The doctor: faults of recording and conversion that a clustering would take for behaviour.
//
// Checks go over all steps a few times at most; what would take longer looks at a sample, drawn the
// same way every time, so that the answer is always the same. Numbers that are not finite are said
// where they are and left out of every other check. Throws nothing.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/thread_pool.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// A note is true of many good datasets; a warning should be looked at before clustering.
enum class Severity { kNote, kWarning };

struct Diagnosis {
  std::string key;  ///< Stable, for programs: "angle-wraps".
  Severity severity = Severity::kWarning;
  std::string evidence;  ///< One sentence with names and numbers.
  std::string advice;    ///< What to do about it.
  nlohmann::ordered_json details = nlohmann::ordered_json::object();  ///< The same for programs.
};

/// How many checks `examine` makes.
std::int64_t doctor_checks();

/// What looks odd, in the order of the checks; nothing for good data. The pool's threads share the
/// checks; without one this thread makes them all.
std::vector<Diagnosis> examine(const Trajectories& data, ThreadPool* pool = nullptr);

/// What looks odd in labels of the episodes, true or found (`whose`: "true", "found"): that they
/// follow the order of the file and not what was done, which only policies fitted to them can tell.
/// `examine` asks this of the true labels.
std::vector<Diagnosis> examine_labels(const Trajectories& data,
                                      std::span<const std::int32_t> labels,
                                      const std::string& whose);

/// Objects with key, severity, evidence and advice, and details where asked for.
nlohmann::ordered_json to_json(std::span<const Diagnosis> found, bool details = true);
std::int64_t count_warnings(std::span<const Diagnosis> found);

}  // namespace kindred
