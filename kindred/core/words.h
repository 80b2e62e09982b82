// Numbers and foreign text as people read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kindred {

/// "12,345"
std::string grouped(std::int64_t number);

/// Text from a file, fit for a terminal: control characters, which could command it, and bytes that
/// are not UTF-8 appear as \x1b. Characters in `keep` stay.
std::string printable(std::string_view text, std::string_view keep = "");

}  // namespace kindred
