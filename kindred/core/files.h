// Files that are never half-written: output goes beside its name and is renamed into place.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace kindred {

/// Calls write(temporary) with a path beside `target`, for a file or a folder, and renames it to
/// `target`. When write throws, what it made is removed and `target` stays as it was.
void write_atomically(const std::filesystem::path& target,
                      const std::function<void(const std::filesystem::path& temporary)>& write);

/// Replaces `target` by `text`, atomically. Throws IoError.
void write_text(const std::filesystem::path& target, std::string_view text);

/// The whole file as text. Throws IoError.
std::string read_text(const std::filesystem::path& path);

}  // namespace kindred
