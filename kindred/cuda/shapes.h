// The shapes that kernels are made for. CMakeLists.txt lists them as well.
#pragma once

#include <array>

namespace kindred::cuda {

struct PaddedSizes {
  int input_tiles, hidden, outputs;

  bool operator==(const PaddedSizes&) const = default;
};

/// The cheapest first. What limits them is a thread block's shared memory.
inline constexpr std::array<PaddedSizes, 8> kShapes = {{{2, 64, 16},
                                                        {4, 64, 32},
                                                        {1, 128, 16},
                                                        {2, 128, 16},
                                                        {3, 128, 16},
                                                        {2, 128, 32},
                                                        {6, 128, 32},
                                                        {7, 128, 16}}};

}  // namespace kindred::cuda
