#include "kindred/cuda/policy_image.h"

#include <algorithm>

#include "kindred/cuda/shapes.h"

namespace kindred::cuda {
namespace {

ImageLayout layout_of(const Shape& shape) {
  return ImageLayout(shape.padded_inputs(), shape.hidden, shape.outputs);
}

/// Calls `same(number of the stack, place in the image)` for all numbers of a policy.
template <class Stack, class Same>
void for_each_number(Stack& stack, std::int64_t policy, const Shape& shape, const Same& same) {
  const auto layout = layout_of(shape);
  const auto go = [&](std::size_t parameter, const auto& place) {
    auto& array = stack.parameters()[parameter];
    const auto values = array.of(policy);
    for (std::int64_t row = 0; row < array.rows; ++row)
      for (std::int64_t column = 0; column < array.columns; ++column)
        same(values[static_cast<std::size_t>(row * array.columns + column)],
             static_cast<std::size_t>(place(static_cast<int>(row), static_cast<int>(column))));
  };
  go(0, [&](int input, int unit) { return layout.first(input, unit); });
  go(1, [&](int, int unit) { return layout.first(shape.inputs, unit); });
  go(2, [&](int below, int unit) { return layout.second(below, unit); });
  go(3, [&](int, int unit) { return layout.second_bias() + unit; });
  const auto head = [&](std::size_t parameter, int (*output)(int)) {
    go(parameter, [&](int unit, int action) { return layout.head(unit, output(action)); });
    go(parameter + 1, [&](int, int action) { return layout.head_bias() + output(action); });
  };
  if (shape.discrete) {
    head(4, [](int action) { return action; });
  } else {
    head(4, &mean_output);
    head(6, &deviation_output);
  }
}

}  // namespace

std::optional<Shape> padded_shape(const PolicyArchitecture& architecture) {
  if (architecture.hidden.size() != 2) return std::nullopt;
  const auto width = *std::ranges::max_element(architecture.hidden);
  const auto outputs = architecture.discrete ? architecture.actions : 2 * architecture.actions;
  for (const auto& [tiles, hidden, most_outputs] : kShapes)
    if (architecture.inputs + 1 <= 16 * tiles && width <= hidden && outputs <= most_outputs)
      return Shape{.inputs = static_cast<int>(architecture.inputs),
                   .actions = static_cast<int>(architecture.actions),
                   .discrete = architecture.discrete,
                   .input_tiles = tiles,
                   .hidden = hidden,
                   .outputs = most_outputs};
  return std::nullopt;
}

std::size_t image_size(const Shape& shape) {
  return static_cast<std::size_t>(layout_of(shape).size());
}

void write_image(const PolicyStack& stack, std::int64_t policy, const Shape& shape,
                 std::span<float> image) {
  std::ranges::fill(image, 0.0F);
  for_each_number(stack, policy, shape,
                  [&](float value, std::size_t place) { image[place] = value; });
}

void read_image(std::span<const float> image, const Shape& shape, std::int64_t policy,
                PolicyStack& stack) {
  for_each_number(stack, policy, shape,
                  [&](float& value, std::size_t place) { value = image[place]; });
}

}  // namespace kindred::cuda
