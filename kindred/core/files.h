// Files that are never half-written: output goes beside its name and is renamed into place.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace kindred {

/// Calls write(temporary) with a path in the same folder as `target`, then renames the file or
/// folder written there to `target` (a folder only where there is none, or an empty one). When
/// write throws, what it wrote is removed and `target` stays as it was.
void write_atomically(const std::filesystem::path& target,
                      const std::function<void(const std::filesystem::path& temporary)>& write);

/// Removes a file, or a folder with everything in it; what cannot be removed stays. Beside
/// PyTorch's wheels, which bring an older std::filesystem along, std::filesystem::remove_all
/// crashes.
void remove_tree(const std::filesystem::path& path);

/// Replaces `target` by `text`, atomically. Throws IoError.
void write_text(const std::filesystem::path& target, std::string_view text);

/// The whole file as text. Throws IoError.
std::string read_text(const std::filesystem::path& path);

}  // namespace kindred
