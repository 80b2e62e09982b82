#include "kindred/nn/torch_threads.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include "kindred/nn/device.h"

namespace kindred {
namespace {

bool torch_has_cuda() { return at::hasCUDA(); }
const TorchFunctionIs is_has_cuda(has_cuda, &torch_has_cuda);

}  // namespace

TorchOnOneThread::TorchOnOneThread() : before_(at::get_num_threads()) { at::set_num_threads(1); }

TorchOnOneThread::~TorchOnOneThread() { at::set_num_threads(before_); }

}  // namespace kindred
