// What the process has used so far, and what it runs on.
#pragma once

#include <string>

namespace kindred {

/// The most memory the process has held at once, in MB (10^6 bytes).
double peak_rss_mb();

/// Memory that could be had now, in MB; 0 where the system does not say.
double available_memory_mb();

/// As the system calls it: "AMD EPYC 9B14"; "unknown" where it does not say.
std::string processor_name();

}  // namespace kindred
