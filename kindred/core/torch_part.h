// Functions of the part of Kindred that needs LibTorch, libkindred_torch.so. It lies beside the
// library and is opened when the first of them is called: loading LibTorch takes longer than most
// of what people ask of Kindred, which needs none of it.
//
//   extern TorchFunction<int(int)> twice;             in a header
//   constinit TorchFunction<int(int)> twice;          in the room's torch_functions.cpp
//   const TorchFunctionIs is_twice(twice, &by_torch)  in a file listed under TORCH by its room
//
// Whoever calls it need not know. A program that links the files listed under TORCH itself, as
// tests do, opens nothing.
#pragma once

#include <atomic>
#include <utility>

namespace kindred {

/// Throws IoError where it cannot be opened. Safe to call from several threads, and again.
void open_torch_part();

template <class Signature>
class TorchFunction;

template <class Result, class... Arguments>
class TorchFunction<Result(Arguments...)> {
 public:
  using Pointer = Result (*)(Arguments...);

  constexpr TorchFunction() = default;
  TorchFunction(const TorchFunction&) = delete;
  TorchFunction& operator=(const TorchFunction&) = delete;

  Result operator()(Arguments... arguments) const {
    if (!function_.load()) open_torch_part();
    return function_.load()(std::forward<Arguments>(arguments)...);
  }

 private:
  template <class>
  friend class TorchFunctionIs;
  std::atomic<Pointer> function_ = nullptr;
};

/// Says, as a constant of the part that needs LibTorch, which of its functions one is.
template <class Signature>
class TorchFunctionIs {
 public:
  TorchFunctionIs(TorchFunction<Signature>& function, Signature* body) {
    function.function_.store(body);
  }
};

}  // namespace kindred
