#include "kindred/core/torch_part.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "kindred/core/error.h"

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

/// What went wrong, or nothing.
std::string problem_of_opening() {
  const auto path = own_folder() / kTorchPart;
  if (dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) return {};  // and it stays open
  const char* problem = dlerror();
  return problem ? problem : path.string();
}

}  // namespace

void open_torch_part() {
  static const std::string problem = problem_of_opening();
  if (!problem.empty())
    throw IoError(
        "this needs LibTorch, but Kindred's part that speaks to it cannot be loaded ({}); install "
        "the LibTorch this Kindred was built with, and keep {} beside libkindred.so",
        problem, kTorchPart);
}

}  // namespace kindred
