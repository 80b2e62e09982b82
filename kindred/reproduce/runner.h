// Does jobs beside each other, each in a process of its own: one that crashes, is killed or runs
// out of memory loses itself alone. What the store has is never done again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kindred/reproduce/jobs.h"
#include "kindred/reproduce/store.h"

namespace kindred::reproduce {

/// How things stand.
struct Overview {
  struct Running {
    std::string job;
    double seconds = 0.0;
  };

  std::int64_t stored = 0;  ///< Jobs that the store had.
  std::int64_t done = 0;    ///< Since then.
  std::int64_t failed = 0;
  std::int64_t left = 0;  ///< Neither done nor running.
  std::vector<Running> running;
  double seconds = 0.0;
  double seconds_left = 0.0;  ///< By how long those done took; 0 before the first.
  std::string news;           ///< What happened since the last time, in a sentence; mostly empty.
};

/// A part of the machine, and how many jobs share it.
struct Lane {
  std::string device = "cpu";
  std::int64_t at_once = 1;
  std::int64_t threads = 1;  ///< Of each.
};

/// What there is to share.
struct Machine {
  std::int64_t cores = 1;
  double memory_mb = 0.0;  ///< 0: not known.
};

Machine this_machine();

/// How jobs share the machine: on `device` those it is of use to, on the cores that are left the
/// others. `at_once` jobs on the device, or, when 0, as many as cores and memory allow; each has
/// `threads`, or, when 0, its share of the cores. Without jobs there are no lanes.
std::vector<Lane> lanes_for(const std::vector<Job>& jobs, const Machine& machine,
                            const std::string& device, std::int64_t at_once, std::int64_t threads);

/// Of all lanes.
std::int64_t jobs_at_once(const std::vector<Lane>& lanes);

struct RunnerOptions {
  std::filesystem::path program;  ///< That does one job when started with these arguments.
  std::function<std::vector<std::string>(const Job& job, const Lane& lane)> arguments;
  std::vector<Lane> lanes = {Lane{}};
  /// Seconds after which what runs is asked to end; what by earlier jobs of its kind would not end
  /// in time is not begun. 0: no limit.
  double within = 0.0;
  std::function<void(const Overview&)> watch;  ///< Called several times a second; may be empty.
  std::function<bool()> stop_requested;        ///< May be empty.
};

struct Failure {
  std::string job;
  std::string why;
};

struct RunnerOutcome {
  std::int64_t stored = 0;
  std::int64_t done = 0;
  std::int64_t left = 0;  ///< Not done: asked to stop, out of time, or the disk is full.
  std::vector<Failure> failed;
  bool stopped = false;
  bool out_of_time = false;
  bool disk_full = false;
};

/// The jobs with those outputs alone that are not in the store; `stored` counts the others.
std::vector<Job> missing(std::vector<Job> jobs, const Store& store, std::int64_t& stored);

/// Begins jobs in their order. A job that fails is tried once more when the others are done. Throws
/// IoError when no process can be started.
RunnerOutcome run_jobs(std::vector<Job> jobs, const Store& store, const RunnerOptions& options);

}  // namespace kindred::reproduce
