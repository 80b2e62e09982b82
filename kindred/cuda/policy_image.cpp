#include "kindred/cuda/policy_image.h"

#include <algorithm>

#include "kindred/cuda/shapes.h"

namespace kindred::cuda {
namespace {

ImageLayout layout_of(const Shape& shape) {
  return ImageLayout(shape.padded_inputs(), shape.hidden, shape.outputs);
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

std::vector<std::int32_t> image_places(const PolicyArchitecture& architecture, const Shape& shape) {
  const PolicyStack stack(architecture, 1);
  const auto layout = layout_of(shape);
  std::vector<std::int32_t> places;
  const auto list = [&](std::size_t parameter, const auto& place) {
    const auto& array = stack.parameters()[parameter];
    for (std::int64_t row = 0; row < array.rows; ++row)
      for (std::int64_t column = 0; column < array.columns; ++column)
        places.push_back(place(static_cast<int>(row), static_cast<int>(column)));
  };
  list(0, [&](int input, int unit) { return layout.first(input, unit); });
  list(1, [&](int, int unit) { return layout.first(shape.inputs, unit); });
  list(2, [&](int below, int unit) { return layout.second(below, unit); });
  list(3, [&](int, int unit) { return layout.second_bias() + unit; });
  const auto head = [&](std::size_t parameter, int (*output)(int)) {
    list(parameter, [&](int unit, int action) { return layout.head(unit, output(action)); });
    list(parameter + 1, [&](int, int action) { return layout.head_bias() + output(action); });
  };
  if (shape.discrete) {
    head(4, [](int action) { return action; });
  } else {
    head(4, &mean_output);
    head(6, &deviation_output);
  }
  return places;
}

}  // namespace kindred::cuda
