// Adam over tensors that LibTorch differentiates by, on any device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "kindred/nn/adam.h"

namespace at {
class Tensor;
}

namespace kindred {

/// A step of one problem's parameters, which lie in a device's memory, by that device's own
/// kernels.
using AdamKernel = std::function<void(std::span<const AdamPiece>, const AdamOptions&)>;

class TensorAdam {
 public:
  /// Marks `parameters` as requiring gradients. They are one problem, with one gradient norm; or
  /// `problems` independent ones, as many as every parameter's first dimension has, each with a
  /// norm of its own.
  explicit TensorAdam(const std::vector<at::Tensor>& parameters, std::int64_t problems = 1);
  ~TensorAdam();
  TensorAdam(const TensorAdam&) = delete;
  TensorAdam& operator=(const TensorAdam&) = delete;

  /// Takes the gradient of `loss`, a scalar; of independent problems: the sum of theirs.
  void differentiate(const at::Tensor& loss);
  /// That gradient: every parameter's numbers one after the other, [numbers]. It may be changed
  /// until update(), as by adding what other processes found.
  at::Tensor& gradient();
  /// Sets the gradient, [numbers], when it was found otherwise: that of every parameter.
  void set_gradient(const at::Tensor& gradient);
  /// Takes steps of one problem by `kernel` from here on, not by LibTorch's operations.
  void use(AdamKernel kernel);
  /// One step against gradient(). A parameter that the loss does not depend on (a decoder in an
  /// encoder-only phase) stays as it is.
  void update(const AdamOptions& options);

  /// Starts over for one parameter, after it was set by hand: its next step is its first.
  void forget(std::size_t parameter);

  AdamState state() const;
  /// Throws InvalidArgument for the state of other parameters.
  void restore(const AdamState& state);

 private:
  void update_by_kernel(const AdamOptions& options);

  struct Tensors;
  std::unique_ptr<Tensors> tensors_;
  std::vector<std::int64_t> steps_;  // of each parameter
  AdamKernel kernel_;
};

}  // namespace kindred
