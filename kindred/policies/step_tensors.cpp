#include "kindred/policies/step_tensors.h"

#include <numeric>
#include <vector>

namespace kindred {

StepTensors::StepTensors(const Trajectories& data, const NetworkView& view,
                         const at::Device& device)
    : device_(device), count_(data.steps()), seen_(observed(data.observations, view.inputs)) {
  if (data.observations.is_interned())
    row_of_step_ = tensor_over(data.observations.index().span(), {count_}).to(device_, at::kLong);
  actions_ = data.actions.is_discrete()
                 ? tensor_over(data.actions.ints().span(), {count_}).to(device_, at::kLong)
                 : predicted(data.actions, view.actions);
}

at::Tensor StepTensors::observed(const Observations& observations,
                                 const NetworkInputs& inputs) const {
  const auto width = inputs.count();
  if (observations.is_interned()) {
    std::vector<float> seen(static_cast<std::size_t>(observations.distinct() * width));
    inputs.apply(observations.table().span(), seen);
    return tensor_over(std::span<const float>(seen), {observations.distinct(), width})
        .clone()
        .to(device_);
  }
  // A block at a time: the host holds the data once already.
  auto result = at::empty({count_, width}, at::TensorOptions(device_).dtype(at::kFloat));
  std::vector<std::int64_t> steps;
  std::vector<float> seen;
  for (std::int64_t begin = 0; begin < count_; begin += kBlock) {
    const auto n = std::min(kBlock, count_ - begin);
    steps.resize(static_cast<std::size_t>(n));
    std::iota(steps.begin(), steps.end(), begin);
    seen.resize(static_cast<std::size_t>(n * width));
    inputs.gather(observations, steps, seen);
    result.slice(0, begin, begin + n).copy_(tensor_over(std::span<const float>(seen), {n, width}));
  }
  return result;
}

at::Tensor StepTensors::predicted(const Actions& actions, const NetworkActions& view) const {
  const auto width = view.predicted(actions.dim());
  std::vector<float> rows(static_cast<std::size_t>(count_ * width));
  view.apply(actions.floats().span(), rows);
  return tensor_over(std::span<const float>(rows), {count_, width}).clone().to(device_);
}

at::Tensor StepTensors::inputs_of(const at::Tensor& steps) const {
  return seen_.index_select(0,
                            row_of_step_.defined() ? row_of_step_.index_select(0, steps) : steps);
}

at::Tensor StepTensors::steps_at(std::span<const std::int64_t> steps) const {
  return tensor_over(steps, {std::ssize(steps)}).clone().to(device_);
}

at::Tensor StepTensors::log_probs(const TensorStack& stack, std::int64_t begin,
                                  std::int64_t end) const {
  const auto steps = at::arange(begin, end, at::TensorOptions(device_).dtype(at::kLong));
  return stack.log_probs(inputs_of(steps), actions_.slice(0, begin, end));
}

}  // namespace kindred
