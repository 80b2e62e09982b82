// What the process has used so far, and what it runs on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "kindred/core/descriptor.h"

namespace kindred {

/// The most memory the process has held at once, in MB (10^6 bytes).
double peak_rss_mb();

/// What all its threads have computed, in seconds.
double cpu_seconds();

/// The memory the process holds, in bytes: a look takes microseconds.
class ResidentMemory {
 public:
  ResidentMemory();
  std::int64_t look() const;

 private:
  Descriptor file_;
};

/// Memory that could be had now, in MB; 0 where the system does not say.
double available_memory_mb();

/// As the system calls it: "AMD EPYC 9B14"; "unknown" where it does not say.
std::string processor_name();

/// Likewise the first NVIDIA GPU, by the files of its driver: "NVIDIA H200".
std::string gpu_name(const std::filesystem::path& driver = "/proc/driver/nvidia");

}  // namespace kindred
