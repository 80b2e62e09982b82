#include "kindred/nn/torch_threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "kindred/nn/device.h"

namespace kindred {
namespace {

bool torch_has_cuda() { return at::hasCUDA(); }
const LateFunctionIs is_has_cuda(has_cuda, &torch_has_cuda);

void torch_wakes(const std::string& device) {
  for (const auto type : {at::kFloat, at::kDouble}) {
    const auto ones = at::ones({2, 8, 8}, at::TensorOptions(at::Device(device)).dtype(type));
    at::bmm(ones, ones).sum().item<double>();
  }
}
const LateFunctionIs is_wake_device(wake_device, &torch_wakes);

}  // namespace

TorchOnOneThread::TorchOnOneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }

TorchOnOneThread::~TorchOnOneThread() { at::set_num_threads(before_); }

}  // namespace kindred
