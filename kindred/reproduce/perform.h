// One job, from data to records: what a child of the runner does.
#pragma once

#include <filesystem>
#include <string>

#include "kindred/core/progress.h"
#include "kindred/reproduce/jobs.h"
#include "kindred/reproduce/store.h"

namespace kindred::reproduce {

/// Why the task's data cannot be had here, in words; empty where it can. `files` is the folder of
/// datasets that are not ours to ship.
std::string why_no_data(const Task& task, const std::filesystem::path& files);

/// Clusters and stores every output of the job that the store does not have. A clustering that was
/// interrupted before goes on. `at_once` jobs share the machine, as records are to say. Throws
/// Interrupted when asked to stop; it can go on then too.
void perform(const Declarations& declared, const Job& job, const Store& store,
             const std::filesystem::path& files, std::int64_t at_once, RunContext run);

}  // namespace kindred::reproduce
