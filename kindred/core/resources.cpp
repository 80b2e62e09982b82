#include "kindred/core/resources.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace kindred {

double peak_rss_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
}

namespace {

/// What stands after the colon in the first line of a file of "name : value" lines.
std::string value_in(const char* file, std::string_view name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(':');
    if (!line.starts_with(name) || colon == line.npos) continue;
    const auto begin = line.find_first_not_of(" \t", colon + 1);
    return begin == line.npos ? "" : line.substr(begin);
  }
  return "";
}

/// A number in a file by itself, such as a limit; 0 where there is none.
double number_in(const char* file) {
  double number = 0.0;
  std::ifstream(file) >> number;
  return number;
}

}  // namespace

double available_memory_mb() {
  double kilobytes = 0.0;
  std::istringstream(value_in("/proc/meminfo", "MemAvailable")) >> kilobytes;
  const double here = kilobytes * 1024.0 / 1e6;
  const double limit = number_in("/sys/fs/cgroup/memory.max") / 1e6;
  return limit > 0.0 ? std::min(here, limit) : here;
}

std::string processor_name() {
  const auto name = value_in("/proc/cpuinfo", "model name");
  return name.empty() ? "unknown" : name;
}

}  // namespace kindred
