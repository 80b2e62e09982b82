#include "kindred/experts/sac/replay.h"

#include <algorithm>
#include <utility>

#include "kindred/core/error.h"

namespace kindred::sac {

Replay::Replay(std::int64_t capacity, std::int64_t observed, std::int64_t action_width)
    : capacity_(capacity),
      observed_(observed),
      action_width_(action_width),
      width_(2 * observed + action_width + 2) {}

void Replay::add(const Step& step) {
  const auto end = static_cast<std::size_t>((next_ + 1) * width_);
  if (rows_.size() < end) rows_.resize(end);
  auto to = rows_.begin() + next_ * width_;
  to = std::ranges::copy(step.observation, to).out;
  to = std::ranges::copy(step.action, to).out;
  to = std::ranges::copy(step.next, to).out;
  *to++ = step.reward;
  *to = step.terminal ? 1.0F : 0.0F;
  next_ = (next_ + 1) % capacity_;
}

Step Replay::operator[](std::int64_t i) const {
  const auto row = std::span(rows_).subspan(static_cast<std::size_t>(i * width_),
                                            static_cast<std::size_t>(width_));
  const auto observed = static_cast<std::size_t>(observed_);
  const auto acted = static_cast<std::size_t>(action_width_);
  return {.observation = row.first(observed),
          .action = row.subspan(observed, acted),
          .next = row.subspan(observed + acted, observed),
          .reward = row[row.size() - 2],
          .terminal = row.back() != 0.0F};
}

void Replay::restore(std::vector<float> rows, std::int64_t next) {
  const auto count = static_cast<std::int64_t>(rows.size()) / width_;
  if (static_cast<std::int64_t>(rows.size()) % width_ != 0 || count > capacity_ || next < 0 ||
      next > count)
    throw DataFormatError("the checkpoint remembers steps of another training");
  rows_ = std::move(rows);
  next_ = next;
}

}  // namespace kindred::sac
