#include "kindred/core/late_part.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <filesystem>
#include <mutex>
#include <string>

#include "kindred/core/error.h"
#include "kindred/core/libtorch_internal.h"

namespace kindred {
namespace {

/// The folder of the library that this code is in.
std::filesystem::path own_folder() {
  Dl_info found = {};
  if (dladdr(reinterpret_cast<const void*>(&open_late_part), &found) == 0 || !found.dli_fname)
    return {};
  return std::filesystem::path(found.dli_fname).parent_path();
}

/// The file of LibTorch that this process has loaded, where it is not the one of the part: two
/// define the same symbols, and crash.
std::filesystem::path other_torch() {
  std::filesystem::path loaded;
  const auto look = [](dl_phdr_info* object, std::size_t, void* found) {
    const std::filesystem::path file = object->dlpi_name;
    if (file.filename().string().starts_with("libtorch_cpu.so"))
      *static_cast<std::filesystem::path*>(found) = file;
    return 0;
  };
  dl_iterate_phdr(look, &loaded);
  std::error_code unknown;  // where the one it was built with is gone, loading will tell
  const bool own = loaded.empty() || !std::filesystem::exists(kLibTorch, unknown) ||
                   std::filesystem::equivalent(loaded, kLibTorch, unknown);
  return own ? std::filesystem::path() : loaded;
}

std::string problem_beside_torch() {
  const auto other = other_torch();
  if (other.empty()) return {};
  return fmt::format(
      "this needs the LibTorch in {}, but the process has loaded {}, and can hold only one; do "
      "it in a process without torch, or build Kindred against that torch (docs/python.md)",
      kLibTorch, other.string());
}

/// A part as it is known here, and what became of opening it.
struct Part {
  const char* file;
  const char* needs;
  /// Lazy where a file's name tells its version, so that no symbol can be missing: binding all of
  /// Arrow's at once takes 5 ms.
  int binding = RTLD_LAZY;
  std::string (*problem_before)() = nullptr;
  std::once_flag tried = {};
  std::string problem = {};

  void open() {
    if (problem_before) problem = problem_before();
    if (!problem.empty()) return;
    const auto path = own_folder() / file;
    if (dlopen(path.c_str(), binding | RTLD_LOCAL)) return;  // and it stays open
    const char* said = dlerror();
    problem = fmt::format(
        "this needs {0}, but Kindred's part that speaks to it cannot be loaded ({1}); install "
        "the {0} this Kindred was built with, and keep {2} beside libkindred.so",
        needs, said ? said : path.string(), file);
  }
};

}  // namespace

void open_late_part(LatePart part) {
  // In the order of LatePart.
  static std::array<Part, 3> parts = {{
      {.file = "libkindred_torch.so",
       .needs = "LibTorch",
       .binding = RTLD_NOW,
       .problem_before = problem_beside_torch},
      {.file = "libkindred_parquet.so", .needs = "Apache Arrow"},
      {.file = "libkindred_mujoco.so", .needs = "MuJoCo"},
  }};
  auto& opened = parts[static_cast<std::size_t>(part)];
  std::call_once(opened.tried, &Part::open, opened);
  if (!opened.problem.empty()) throw IoError("{}", opened.problem);
}

}  // namespace kindred
