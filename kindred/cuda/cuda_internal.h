// CUDA's return codes as exceptions, and memory on a GPU that frees itself.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>

namespace kindred::cuda {

/// Throws Error unless `status` is success.
void check(cudaError_t status);

/// Room for numbers on the GPU, not set to anything.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t count) { grow(count); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  DeviceArray& operator=(DeviceArray&&) = delete;

  /// Makes room for `count`; what was there is lost where there was less.
  void grow(std::size_t count) {
    if (count <= count_) return;
    cudaFree(data_);
    data_ = nullptr;
    count_ = 0;
    void* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(T)));
    data_ = static_cast<T*>(memory);
    count_ = count;
  }
  void take(const T* from, std::size_t count) {
    grow(count);
    check(cudaMemcpy(data_, from, count * sizeof(T), cudaMemcpyHostToDevice));
  }
  void give(T* to, std::size_t count) const {
    check(cudaMemcpy(to, data_, count * sizeof(T), cudaMemcpyDeviceToHost));
  }
  void zero(std::size_t count) {
    grow(count);
    check(cudaMemset(data_, 0, count * sizeof(T)));
  }

  std::size_t bytes() const { return count_ * sizeof(T); }
  T* get() { return data_; }
  const T* get() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace kindred::cuda
