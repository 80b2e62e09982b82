// Requests to stop at a chosen moment.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

namespace kindred::stopping {

/// Says stop from the question after the first `questions` on.
inline std::function<bool()> after_questions(std::int64_t questions) {
  const auto left = std::make_shared<std::atomic<std::int64_t>>(questions);
  return [left] { return (*left)-- <= 0; };
}

/// Calls work(stop_requested), where the request comes after `delay` seconds, and returns how many
/// seconds later the work ended; negative when it ended first. The least of three tries, as other
/// programs may keep the machine busy.
template <class Work>
double seconds_until_end(double delay, const Work& work) {
  using Clock = std::chrono::steady_clock;
  double least = 0.0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto at = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                       std::chrono::duration<double>(delay));
    work([at] { return Clock::now() >= at; });
    const double seconds = std::chrono::duration<double>(Clock::now() - at).count();
    least = attempt == 0 ? seconds : std::min(least, seconds);
    if (least < 0.5) break;
  }
  return least;
}

}  // namespace kindred::stopping
