// Policies of a PolicyStack as the images that kernels compute with.
#pragma once

#include <optional>
#include <span>

#include "kindred/cuda/layout.h"
#include "kindred/nn/policy_stack.h"

namespace kindred::cuda {

/// The smallest shape that holds such policies; none where they do not have two hidden layers, or
/// are wider than kernels are made for.
std::optional<Shape> padded_shape(const PolicyArchitecture& architecture);

std::size_t image_size(const Shape& shape);
/// `image` is as long as image_size() says.
void write_image(const PolicyStack& stack, std::int64_t policy, const Shape& shape,
                 std::span<float> image);
void read_image(std::span<const float> image, const Shape& shape, std::int64_t policy,
                PolicyStack& stack);

}  // namespace kindred::cuda
