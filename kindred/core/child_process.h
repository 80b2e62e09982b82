// Another program, run without a shell and not for ever.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace kindred {

inline constexpr int kFirstChildOutput = 3;

struct ChildOutcome {
  bool late = false;                 ///< It was killed when its time was over.
  std::string problem;               ///< Why it did not end well, in words; empty: it did.
  std::vector<std::string> outputs;  ///< What it wrote to each descriptor it was given.
};

/// Runs `program` with these arguments. It reads nothing, what it says is dropped, and descriptors
/// from kFirstChildOutput on are `outputs` files to write to. It is killed when `limit` is over.
/// Throws IoError when it cannot be started.
ChildOutcome run_program(const std::filesystem::path& program,
                         const std::vector<std::string>& arguments, std::size_t outputs,
                         std::chrono::milliseconds limit);

/// Where `name` is in one of the folders of `search_path`, as PATH lists them; empty when nowhere.
std::filesystem::path find_program(const std::string& name, const std::string& search_path);

}  // namespace kindred
