// The steps of a dataset as networks see them, as LibTorch's tensors on any device.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "kindred/clustering/network_view.h"
#include "kindred/core/workers.h"
#include "kindred/data/trajectories.h"
#include "kindred/nn/tensor_stack.h"

namespace kindred {

/// A tensor over memory that must outlive it: what autograd may keep has to be copied.
template <class T>
at::Tensor tensor_over(std::span<const T> values, std::vector<std::int64_t> shape) {
  return at::from_blob(const_cast<T*>(values.data()), shape, c10::CppTypeToScalarType<T>::value);
}

class StepTensors {
 public:
  StepTensors(const Trajectories& data, const NetworkView& view, const at::Device& device);

  const at::Device& device() const { return device_; }
  std::int64_t count() const { return count_; }
  /// Every step's inputs, or each distinct observation's: [rows, inputs].
  const at::Tensor& seen() const { return seen_; }
  /// [count] into seen(); undefined where that holds every step.
  const at::Tensor& row_of_step() const { return row_of_step_; }
  /// [count], or [count, predicted].
  const at::Tensor& actions() const { return actions_; }

  /// Of steps on the device, int64 [n]: [n, inputs], and [n] or [n, predicted].
  at::Tensor inputs_of(const at::Tensor& steps) const;
  at::Tensor actions_of(const at::Tensor& steps) const { return actions_.index_select(0, steps); }
  /// Steps by their numbers, on the device.
  at::Tensor steps_at(std::span<const std::int64_t> steps) const;

  /// Log-probabilities under every policy: [stack, end - begin].
  at::Tensor log_probs(const TensorStack& stack, std::int64_t begin, std::int64_t end) const;

  /// Calls `work(begin, end)` for blocks of steps, one after the other.
  template <class Work>
  void in_blocks(const Workers& workers, const Work& work) const {
    for (std::int64_t begin = 0; begin < count_; begin += kBlock) {
      workers.throw_if_stopped();
      work(begin, std::min(begin + kBlock, count_));
    }
  }

 private:
  static constexpr std::int64_t kBlock = 32768;
  at::Tensor observed(const Observations& observations, const NetworkInputs& inputs) const;
  at::Tensor predicted(const Actions& actions, const NetworkActions& view) const;

  at::Device device_;
  std::int64_t count_;
  at::Tensor seen_;
  at::Tensor row_of_step_;
  at::Tensor actions_;
};

}  // namespace kindred
