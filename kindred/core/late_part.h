// Functions of the parts of Kindred that need a large library: LibTorch, Arrow or MuJoCo. Each part
// is a library beside Kindred's own and is opened when the first of its functions is called:
// loading them takes longer than most of what people ask of Kindred, which needs none of them.
//
//   extern TorchFunction<int(int)> twice;            in a header
//   constinit decltype(twice) twice;                 in the room's torch_functions.cpp
//   const LateFunctionIs is_twice(twice, &by_torch)  in a file listed under TORCH by its room
//
// Whoever calls it need not know. A program that links the files listed under TORCH itself, as
// tests do, opens nothing. Where a build lacks the library, a file of the room gives the functions
// bodies that say so: constinit decltype(twice) twice{&refuse}.
#pragma once

#include <atomic>
#include <utility>

namespace kindred {

enum class LatePart { kTorch, kParquet, kMujoco };

/// Throws IoError where it cannot be opened. Safe to call from several threads, and again.
void open_late_part(LatePart part);

template <LatePart part, class Signature>
class LateFunction;

template <class Signature>
using TorchFunction = LateFunction<LatePart::kTorch, Signature>;
template <class Signature>
using ParquetFunction = LateFunction<LatePart::kParquet, Signature>;
template <class Signature>
using MujocoFunction = LateFunction<LatePart::kMujoco, Signature>;

template <LatePart part, class Result, class... Arguments>
class LateFunction<part, Result(Arguments...)> {
 public:
  using Pointer = Result (*)(Arguments...);

  constexpr LateFunction() = default;
  constexpr explicit LateFunction(Pointer body) : function_(body) {}
  LateFunction(const LateFunction&) = delete;
  LateFunction& operator=(const LateFunction&) = delete;

  Result operator()(Arguments... arguments) const {
    if (!function_.load()) open_late_part(part);
    return function_.load()(std::forward<Arguments>(arguments)...);
  }

 private:
  template <LatePart, class>
  friend class LateFunctionIs;
  std::atomic<Pointer> function_ = nullptr;
};

/// Says, as a constant of the part, which of its functions one is.
template <LatePart part, class Signature>
class LateFunctionIs {
 public:
  LateFunctionIs(LateFunction<part, Signature>& function, Signature* body) {
    function.function_.store(body);
  }
};

}  // namespace kindred
