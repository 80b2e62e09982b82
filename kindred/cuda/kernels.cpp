// Which kernels a shape takes.
#include "kindred/cuda/kernels.h"

#include <utility>

#include "kindred/cuda/shapes.h"

namespace kindred::cuda {

// Compiled in files of their own, one for each shape and head (shape.cu.in).
template <int kTiles, int kHidden, int kOutputs, bool kDiscrete>
void train_with(const Shape& shape, const TrainTask& task);
template <int kTiles, int kHidden, int kOutputs, bool kDiscrete>
void score_with(const Shape& shape, const ScoreTask& task);

namespace {

struct OfShape {
  void (*train)(const Shape&, const TrainTask&);
  void (*score)(const Shape&, const ScoreTask&);
};

template <bool kDiscrete, std::size_t... kIndex>
OfShape kernels_of(const Shape& shape, std::index_sequence<kIndex...>) {
  OfShape found{};
  const auto look_at = [&]<std::size_t kAt>() {
    constexpr PaddedSizes kSizes = kShapes[kAt];
    if (kSizes == PaddedSizes{shape.input_tiles, shape.hidden, shape.outputs})
      found = {&train_with<kSizes.input_tiles, kSizes.hidden, kSizes.outputs, kDiscrete>,
               &score_with<kSizes.input_tiles, kSizes.hidden, kSizes.outputs, kDiscrete>};
  };
  (look_at.template operator()<kIndex>(), ...);
  return found;
}

OfShape kernels_of(const Shape& shape) {
  constexpr std::make_index_sequence<kShapes.size()> kAll;
  return shape.discrete ? kernels_of<true>(shape, kAll) : kernels_of<false>(shape, kAll);
}

}  // namespace

void train_policies(const Shape& shape, const TrainTask& task) {
  kernels_of(shape).train(shape, task);
}

void score_steps(const Shape& shape, const ScoreTask& task) {
  kernels_of(shape).score(shape, task);
}

}  // namespace kindred::cuda
