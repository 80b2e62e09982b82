#include "kindred/nn/policy_stack.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/error.h"

namespace kindred {
namespace {

/// (fan_in, fan_out) of each linear layer: hidden layers, then one head, or two when continuous.
std::vector<std::pair<std::int64_t, std::int64_t>> layer_shapes(const PolicyArchitecture& a) {
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes;
  std::int64_t width = a.inputs;
  for (const auto hidden : a.hidden) {
    shapes.emplace_back(width, hidden);
    width = hidden;
  }
  shapes.emplace_back(width, a.actions);
  if (!a.discrete) shapes.emplace_back(width, a.actions);
  return shapes;
}

}  // namespace

PolicyStack::PolicyStack(PolicyArchitecture architecture, std::int64_t size)
    : architecture_(std::move(architecture)), size_(size) {
  const auto add = [&](std::int64_t rows, std::int64_t columns) {
    parameters_.push_back(
        {rows, columns, std::vector<float>(static_cast<std::size_t>(size_ * rows * columns))});
  };
  for (const auto& [fan_in, fan_out] : layer_shapes(architecture_)) {
    add(fan_in, fan_out);
    add(1, fan_out);
  }
}

void PolicyStack::initialise(std::int64_t index, Random random) {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const auto fan_in = parameters_[i - i % 2].rows;  // a bias shares its weight's fan-in
    const double bound = 1.0 / std::sqrt(static_cast<double>(fan_in));
    for (float& value : parameters_[i].of(index))
      value = static_cast<float>(random.uniform(-bound, bound));
  }
}

PolicyStack PolicyStack::select(std::span<const std::int64_t> indices) const {
  PolicyStack result(architecture_, std::ssize(indices));
  for (std::size_t p = 0; p < parameters_.size(); ++p)
    for (std::int64_t i = 0; i < result.size_; ++i)
      std::ranges::copy(parameters_[p].of(indices[static_cast<std::size_t>(i)]),
                        result.parameters_[p].of(i).begin());
  return result;
}

void PolicyStack::assign(std::span<const std::int64_t> indices, const PolicyStack& source) {
  if (!(source.architecture_ == architecture_) || source.size_ != std::ssize(indices))
    throw InvalidArgument("cannot assign a stack of another shape");
  for (std::size_t p = 0; p < parameters_.size(); ++p)
    for (std::int64_t i = 0; i < source.size_; ++i)
      std::ranges::copy(source.parameters_[p].of(i),
                        parameters_[p].of(indices[static_cast<std::size_t>(i)]).begin());
}

}  // namespace kindred
