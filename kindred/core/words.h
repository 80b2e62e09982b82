// Numbers as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace kindred {

/// "12,345"
std::string grouped(std::int64_t number);

}  // namespace kindred
