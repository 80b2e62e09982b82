// Whole files as text, and the removal of whole folders.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace kindred {

/// Removes a file, or a folder with everything in it; what cannot be removed stays. Beside
/// PyTorch's wheels, which bring an older std::filesystem along, std::filesystem::remove_all
/// crashes.
void remove_tree(const std::filesystem::path& path);

/// Replaces `target` by `text`, wholly or not at all. Throws IoError.
void write_text(const std::filesystem::path& target, std::string_view text);

/// The whole file as text. Throws IoError.
std::string read_text(const std::filesystem::path& path);

}  // namespace kindred
