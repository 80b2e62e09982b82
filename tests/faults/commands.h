// Every command that writes, on data small enough to try it hundreds of times.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace kindred::faults {

struct Command {
  std::string name;
  std::vector<std::string> arguments;
  /// What of the scene lies in its folder when it starts.
  std::vector<std::string> inputs;
  /// It changes its inputs: wholly, or not at all.
  bool changes_inputs = false;
  /// Where it fails it may leave some of its files, each of them whole: a run goes on from there.
  bool may_leave_some = false;
};

/// Makes datasets and runs in `scene`. Throws when the program cannot.
void make_scene(const std::filesystem::path& scene);

std::vector<Command> writing_commands(const std::filesystem::path& scene);

}  // namespace kindred::faults
