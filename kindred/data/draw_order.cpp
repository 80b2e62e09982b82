#include "kindred/data/draw_order.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "kindred/data/memory_promise.h"
#include "kindred/data/mind_memory.h"

namespace kindred {
namespace {

constexpr std::int64_t kBlockBytes = 1 << 20;  // read side by side
constexpr std::int64_t kBlocksOfBuffer = 16;   // fewer would hardly be a mixture
constexpr std::int64_t kBufferShare = 4;       // of the promised memory one part in so many

/// What networks read of a step.
std::int64_t bytes_of_step(const Trajectories& data) {
  const auto& seen = data.observations;
  const auto numbers = seen.is_interned() ? 1 : seen.dim();
  const auto size = static_cast<std::int64_t>(seen.is_bytes() ? 1 : sizeof(float));
  return numbers * size + data.actions.dim() * static_cast<std::int64_t>(sizeof(float));
}

/// Episodes side by side, of `steps` each or a little more.
std::vector<EpisodeRange> blocks_of(const Trajectories& data, std::int64_t steps) {
  std::vector<EpisodeRange> blocks;
  for (std::int64_t begin = 0, end = 0; begin < data.episodes(); begin = end) {
    while (end < data.episodes() && data.offsets[end] - data.offsets[begin] < steps) ++end;
    blocks.push_back({begin, end});
  }
  return blocks;
}

}  // namespace

Option buffer_option(std::int64_t& steps) {
  return integer("buffer-steps", steps, 0, std::numeric_limits<std::int64_t>::max(),
                 "Draw from about so many steps at a time, blocks of neighbouring episodes in "
                 "random order; 0: from all, or, where --memory has no room for them, from what a "
                 "quarter of it holds.");
}

std::int64_t resolve_buffer(std::int64_t requested, const Trajectories& data) {
  if (requested > 0) return requested < data.steps() ? requested : 0;
  const auto share = promised_memory() / kBufferShare;
  const auto steps = share / bytes_of_step(data);
  return share > 0 && 2 * steps < data.steps() ? steps : 0;
}

DrawOrder::DrawOrder(const Trajectories& data, std::int64_t buffer) : data_(data), buffer_(buffer) {
  if (buffer > 0)
    blocks_ =
        blocks_of(data, std::min(kBlockBytes / bytes_of_step(data), buffer / kBlocksOfBuffer) + 1);
}

void DrawOrder::shuffle(Random& random, std::vector<std::int64_t>& order) const {
  order.resize(static_cast<std::size_t>(data_.episodes()));
  std::iota(order.begin(), order.end(), 0);
  if (!is_buffered()) return random.shuffle(std::span(order));

  auto blocks = blocks_;
  random.shuffle(std::span(blocks));
  auto end = order.begin();
  for (std::size_t next = 0; next < blocks.size();) {
    const auto begin = end;
    for (std::int64_t steps = 0; next < blocks.size() && steps < buffer_; ++next) {
      const auto& block = blocks[next];
      std::iota(end, end + block.size(), block.begin);
      end += block.size();
      steps += data_.offsets[block.end] - data_.offsets[block.begin];
    }
    random.shuffle(std::span(begin, end));
  }
}

void DrawOrder::expect(std::span<const std::int64_t> episodes) const {
  if (!is_buffered()) return;
  std::vector<std::int64_t> sorted(episodes.begin(), episodes.end());
  std::ranges::sort(sorted);
  for (std::size_t i = 0, next = 0; i < sorted.size(); i = next) {
    for (next = i + 1; next < sorted.size() && sorted[next] <= sorted[next - 1] + 1;) ++next;
    expect_steps(data_, data_.offsets[sorted[i]], data_.offsets[sorted[next - 1] + 1]);
  }
}

DrawBuffer::DrawBuffer(const Trajectories& data, std::vector<Stretch> own, std::int64_t steps,
                       std::int64_t sharers, Random random)
    : data_(data),
      draws_(data, steps),
      own_(std::move(own)),
      room_(draws_.is_buffered() ? steps / sharers + 1 : data.steps()) {
  if (!draws_.is_buffered()) return;
  std::vector<std::int64_t> order, place(static_cast<std::size_t>(data.episodes()));
  draws_.shuffle(random, order);
  for (std::size_t i = 0; i < order.size(); ++i)
    place[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  std::ranges::stable_sort(
      own_, {}, [&](const Stretch& one) { return place[static_cast<std::size_t>(one.episode)]; });
}

bool DrawBuffer::refill() {
  if (left_ > 0) return false;
  left_ = 0;
  held_.clear();
  ends_.clear();
  for (std::size_t taken = 0; taken < own_.size() && left_ < room_; ++taken) {
    held_.push_back(own_[next_++ % own_.size()]);
    ends_.push_back(left_ += held_.back().end - held_.back().begin);
  }
  expect(held_);
  return true;
}

std::int64_t DrawBuffer::draw(Random& random) const {
  const auto at = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(ends_.back())));
  const auto i = static_cast<std::size_t>(std::ranges::upper_bound(ends_, at) - ends_.begin());
  return data_.offsets[held_[i].episode] + held_[i].end - (ends_[i] - at);
}

void DrawBuffer::expect(std::span<const Stretch> stretches) const {
  if (!draws_.is_buffered()) return;
  std::vector<std::int64_t> episodes;
  for (const auto& one : stretches) episodes.push_back(one.episode);
  draws_.expect(episodes);
}

}  // namespace kindred
