// A file that is part of the program: see cmake/KindredEmbed.cmake.
#pragma once

#include <string_view>

namespace kindred {

struct EmbeddedFile {
  std::string_view name;   ///< Without folders: "hopper.xml".
  std::string_view bytes;  ///< All of it, for as long as the program runs.
};

}  // namespace kindred
