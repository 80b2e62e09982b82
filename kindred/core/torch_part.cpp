#include "kindred/core/torch_part.h"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <string>

#include "kindred/core/error.h"
#include "kindred/core/libtorch_internal.h"

namespace kindred {
namespace {

constexpr const char* kTorchPart = "libkindred_torch.so";

/// The folder of the library that this code is in.
std::filesystem::path own_folder() {
  Dl_info found = {};
  if (dladdr(reinterpret_cast<const void*>(&open_torch_part), &found) == 0 || !found.dli_fname)
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

/// What went wrong, or nothing.
std::string problem_of_opening() {
  if (const auto other = other_torch(); !other.empty())
    return fmt::format(
        "this needs the LibTorch in {}, but the process has loaded {}, and can hold only one; do "
        "it in a process without torch, or build Kindred against that torch (docs/python.md)",
        kLibTorch, other.string());
  const auto path = own_folder() / kTorchPart;
  if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return {};  // and it stays open
  const char* said = dlerror();
  return fmt::format(
      "this needs LibTorch, but Kindred's part that speaks to it cannot be loaded ({}); install "
      "the LibTorch this Kindred was built with, and keep {} beside libkindred.so",
      said ? said : path.string(), kTorchPart);
}

}  // namespace

void open_torch_part() {
  static const std::string problem = problem_of_opening();
  if (!problem.empty()) throw IoError(problem);
}

}  // namespace kindred
