// Policies of a PolicyStack as the images that kernels compute with.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kindred/cuda/layout.h"
#include "kindred/nn/policy_stack.h"

namespace kindred::cuda {

/// The smallest shape that holds such policies; none where they do not have two hidden layers, or
/// are wider than kernels are made for.
std::optional<Shape> padded_shape(const PolicyArchitecture& architecture);

std::size_t image_size(const Shape& shape);
/// Where the numbers of a policy, parameter after parameter, lie in its image.
std::vector<std::int32_t> image_places(const PolicyArchitecture& architecture, const Shape& shape);

}  // namespace kindred::cuda
