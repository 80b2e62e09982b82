// Where Kindred was built without a CUDA compiler.
#include "kindred/cuda/gpu_policies.h"

namespace kindred::cuda {

std::unique_ptr<GpuPolicies> make_gpu_policies(const PolicyArchitecture&, const GpuSteps&,
                                               std::span<const std::int64_t>) {
  return nullptr;
}

}  // namespace kindred::cuda
