// CUDA's return codes as exceptions, and memory and streams of a GPU that free themselves.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <span>
#include <utility>

namespace kindred::cuda {

/// Throws Error unless `status` is success.
void check(cudaError_t status);

/// Whether there is a GPU that these kernels are made for: Hopper or newer.
bool gpu_runs_kernels();

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

/// Numbers on the host that a GPU can reach by itself, on their way to it or from it.
class Staging {
 public:
  Staging() = default;
  ~Staging() { cudaFreeHost(data_); }
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  std::span<float> room_for(std::size_t count) {
    if (count > count_) {
      cudaFreeHost(data_);
      data_ = nullptr;
      count_ = 0;
      void* memory = nullptr;
      check(cudaMallocHost(&memory, count * sizeof(float)));
      data_ = static_cast<float*>(memory);
      count_ = count;
    }
    return {data_, count};
  }

 private:
  float* data_ = nullptr;
  std::size_t count_ = 0;
};

/// A stream beside the default one: what is put there between fork() and join() may run together
/// with what is put into the default stream meanwhile.
class SideStream {
 public:
  SideStream() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (auto* event : {&forked_, &done_})
      check(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  }
  ~SideStream() {
    cudaStreamDestroy(stream_);
    cudaEventDestroy(forked_);
    cudaEventDestroy(done_);
  }
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  /// What comes next there waits for what is in the default stream now.
  void fork() {
    check(cudaEventRecord(forked_, nullptr));
    check(cudaStreamWaitEvent(stream_, forked_, 0));
  }
  /// The default stream waits for it.
  void join() {
    check(cudaEventRecord(done_, stream_));
    check(cudaStreamWaitEvent(nullptr, done_, 0));
  }
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
  cudaEvent_t forked_ = nullptr, done_ = nullptr;
};

}  // namespace kindred::cuda
