// What an output says, whatever the time of day it was written at.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace kindred::faults {

/// Equal for two outputs of the same command, and "damaged: …" for one that is not whole.
std::string meaning_of(const std::filesystem::path& file);

/// The meaning of every file below a folder; folders have none.
std::map<std::string, std::string> meanings_below(const std::filesystem::path& folder);

}  // namespace kindred::faults
