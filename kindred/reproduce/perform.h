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

/// How many jobs go on at the same time, as records are to say: their seconds depend on it.
struct Company {
  std::int64_t on_machine = 1;
  std::int64_t on_device = 1;
};

/// Clusters and stores every output of the job that the store does not have. A clustering that was
/// interrupted before goes on. Throws Interrupted when asked to stop; it can go on then too.
void perform(const Declarations& declared, const Job& job, const Store& store,
             const std::filesystem::path& files, Company company, RunContext run);

}  // namespace kindred::reproduce
