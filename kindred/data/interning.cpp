#include "kindred/data/interning.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace kindred {
namespace {

constexpr std::int64_t kMostDistinct = 65536;
constexpr std::int64_t kLeastRepetition = 8;
constexpr std::int32_t kEmpty = -1;

std::uint64_t hash(const std::byte* bytes, std::size_t size) {
  std::uint64_t h = size;
  const auto mix = [&h](std::uint64_t word) {
    h = (std::rotl(h, 29) ^ word) * 0x9E3779B97F4A7C15ull;
  };
  for (; size >= 8; bytes += 8, size -= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    mix(word);
  }
  std::uint64_t rest = 0;
  std::memcpy(&rest, bytes, size);
  mix(rest);
  return h ^ (h >> 32);
}

/// Row numbers of first appearances, and for every row which of them it equals.
struct Distinct {
  std::vector<std::int64_t> rows;
  std::vector<std::int32_t> index;
};

/// Empty index when more than `limit` rows are distinct.
Distinct find_distinct(std::span<const std::byte> bytes, std::size_t row_bytes,
                       std::int64_t limit) {
  const std::size_t slots = std::bit_ceil(static_cast<std::size_t>(2 * limit + 2));
  std::vector<std::int32_t> table(slots, kEmpty);  // open addressing over Distinct::rows
  Distinct found;
  const std::size_t count = bytes.size() / row_bytes;
  found.index.reserve(count);
  for (std::size_t row = 0; row < count; ++row) {
    const std::byte* here = bytes.data() + row * row_bytes;
    std::size_t slot = hash(here, row_bytes) & (slots - 1);
    while (table[slot] != kEmpty) {
      const auto known =
          static_cast<std::size_t>(found.rows[static_cast<std::size_t>(table[slot])]);
      if (std::memcmp(bytes.data() + known * row_bytes, here, row_bytes) == 0) break;
      slot = (slot + 1) & (slots - 1);
    }
    if (table[slot] == kEmpty) {
      if (static_cast<std::int64_t>(found.rows.size()) == limit) return {};
      table[slot] = static_cast<std::int32_t>(found.rows.size());
      found.rows.push_back(static_cast<std::int64_t>(row));
    }
    found.index.push_back(table[slot]);
  }
  return found;
}

}  // namespace

Observations intern(Observations observations) {
  if (observations.is_interned() || observations.steps() == 0) return observations;
  const std::int64_t limit = std::min(kMostDistinct, observations.steps() / kLeastRepetition);
  const std::int64_t dim = observations.dim();
  const bool bytes = observations.is_bytes();
  auto [rows, index] =
      find_distinct(bytes ? std::as_bytes(observations.bytes().span())
                          : std::as_bytes(observations.floats().span()),
                    static_cast<std::size_t>(dim) * (bytes ? 1 : sizeof(float)), limit);
  if (index.empty()) return observations;
  std::vector<float> table(rows.size() * static_cast<std::size_t>(dim));
  observations.gather(rows, table.data());
  return Observations::interned(std::move(table), dim, std::move(index));
}

}  // namespace kindred
