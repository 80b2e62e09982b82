// Where Kindred was built without a CUDA compiler.
#include "kindred/cuda/gpu_adam.h"
#include "kindred/cuda/gpu_autoencoder.h"
#include "kindred/cuda/gpu_policies.h"

namespace kindred::cuda {

std::unique_ptr<GpuPolicies> make_gpu_policies(const PolicyArchitecture&, const GpuSteps&,
                                               std::span<const std::int64_t>) {
  return nullptr;
}

std::unique_ptr<GpuAutoencoder> make_gpu_autoencoder(const AutoencoderArchitecture&,
                                                     const GpuTrajectories&) {
  return nullptr;
}

std::unique_ptr<GpuAdam> make_gpu_adam() { return nullptr; }

}  // namespace kindred::cuda
