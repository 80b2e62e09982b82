// Seconds since it was made.
#pragma once

#include <chrono>

namespace kindred {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Does `work` and adds the seconds it took to `total`.
template <class Work>
void timed(double& total, const Work& work) {
  const Stopwatch watch;
  work();
  total += watch.seconds();
}

}  // namespace kindred
