#include "kindred/cuda/gpu_adam.h"

#include "kindred/core/error.h"
#include "kindred/cuda/cuda_internal.h"
#include "kindred/cuda/training_kernels.h"

namespace kindred::cuda {
namespace {

class AdamKernels final : public GpuAdam {
 public:
  void step(std::span<const AdamPiece> pieces, const AdamOptions& options) override {
    if (pieces.size() > static_cast<std::size_t>(kMostPieces))
      throw InvalidArgument("one step of Adam on a GPU takes {} parameters, not {}", kMostPieces,
                            pieces.size());
    AdamTask task{};
    for (const auto& piece : pieces)
      task.pieces[task.count++] = {piece.parameter,
                                   piece.gradient,
                                   piece.first,
                                   piece.second,
                                   piece.numbers,
                                   static_cast<float>(piece.rates.rate),
                                   static_cast<float>(piece.rates.epsilon)};
    task.beta1 = static_cast<float>(options.beta1);
    task.beta2 = static_cast<float>(options.beta2);
    task.max_norm = static_cast<float>(options.max_gradient_norm);
    task.squares = squares_.get();
    take_step(task);
  }

 private:
  DeviceArray<float> squares_{static_cast<std::size_t>(kMostPieces * kNormBlocks)};
};

}  // namespace

std::unique_ptr<GpuAdam> make_gpu_adam() {
  return gpu_runs_kernels() ? std::make_unique<AdamKernels>() : nullptr;
}

}  // namespace kindred::cuda
