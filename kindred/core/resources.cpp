#include "kindred/core/resources.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <sstream>

namespace kindred {

double peak_rss_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024.0 / 1e6;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

ResidentMemory::ResidentMemory() : file_("/proc/self/statm", O_RDONLY | O_CLOEXEC) {}

std::int64_t ResidentMemory::look() const {
  static const auto page = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  std::array<char, 128> text{};
  file_.read(0, std::span(text).first(text.size() - 1));
  long long size = 0, resident = 0;
  std::sscanf(text.data(), "%lld %lld", &size, &resident);
  return resident * page;
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

std::string gpu_name(const std::filesystem::path& driver) {
  std::error_code ignored;
  for (const auto& gpu : std::filesystem::directory_iterator(driver / "gpus", ignored))
    if (auto name = value_in((gpu.path() / "information").c_str(), "Model"); !name.empty())
      return name;
  return "unknown";
}

}  // namespace kindred
