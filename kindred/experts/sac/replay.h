// The steps that SAC learns from: the last so many that were taken, in any order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kindred::sac {

/// One step of one lane, as it lies in the memory.
struct Step {
  std::span<const float> observation, action, next;
  float reward = 0.0F;
  bool terminal = false;  ///< Nothing follows; false where an episode was only cut.
};

class Replay {
 public:
  Replay(std::int64_t capacity, std::int64_t observed, std::int64_t action_width);

  std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()) / width_; }
  /// Beyond the capacity the oldest step is forgotten.
  void add(const Step& step);
  Step operator[](std::int64_t i) const;

  /// All numbers as rows [size, row width], and where the next one goes; and back again. Throws
  /// DataFormatError on rows of another width or more than there is room for.
  const std::vector<float>& rows() const { return rows_; }
  std::int64_t next() const { return next_; }
  void restore(std::vector<float> rows, std::int64_t next);

 private:
  std::int64_t capacity_, observed_, action_width_, width_;
  std::int64_t next_ = 0;
  std::vector<float> rows_;  // observation, action, next observation, reward, terminal
};

}  // namespace kindred::sac
