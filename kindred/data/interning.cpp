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
  StepValues<std::int32_t> index;
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

/// Of rows [begin, end) of what is stored: the table's where observations are interned.
Distinct find_distinct(const Observations& observations, std::int64_t begin, std::int64_t end,
                       std::int64_t limit) {
  const auto dim = observations.dim();
  const auto rows = [&](const auto& column) {
    return std::as_bytes(column.slice(begin * dim, (end - begin) * dim).span());
  };
  const bool bytes = observations.is_bytes();
  return find_distinct(bytes ? rows(observations.bytes()) : rows(observations.floats()),
                       static_cast<std::size_t>(dim) * (bytes ? 1 : sizeof(float)), limit);
}

}  // namespace

Observations intern(Observations observations) {
  if (observations.is_interned() || observations.steps() == 0) return observations;
  auto found =
      distinct_rows(observations, 0, observations.steps(), most_distinct(observations.steps()));
  if (!found) return observations;
  return Observations::interned(std::move(found->table), observations.dim(),
                                std::move(found->index));
}

std::int64_t most_distinct(std::int64_t steps) {
  return std::min(kMostDistinct, steps / kLeastRepetition);
}

std::optional<DistinctRows> distinct_rows(const Observations& observations, std::int64_t begin,
                                          std::int64_t end, std::int64_t limit) {
  if (begin == end) return DistinctRows{};
  const std::int64_t dim = observations.dim();
  auto [rows, index] = find_distinct(observations, begin, end, limit);
  if (index.empty()) return std::nullopt;
  for (auto& row : rows) row += begin;
  DistinctRows result{std::vector<float>(rows.size() * static_cast<std::size_t>(dim)),
                      std::move(index)};
  observations.gather(rows, result.table.data());
  return result;
}

std::optional<DistinctRows> distinct_rows(std::span<const float> rows, std::int64_t dim,
                                          std::int64_t limit) {
  return distinct_rows(Observations::dense(Column<float>(rows, nullptr), dim), 0,
                       std::ssize(rows) / dim, limit);
}

std::vector<std::int32_t> number_states(const Observations& observations) {
  const bool interned = observations.is_interned();
  const auto rows = interned ? observations.distinct() : observations.steps();
  const auto index = find_distinct(observations, 0, rows, rows).index;
  if (!interned) return {index.begin(), index.end()};
  std::vector<std::int32_t> of_step;  // a file may hold a row of its table twice
  of_step.reserve(static_cast<std::size_t>(observations.steps()));
  for (const auto row : observations.index())
    of_step.push_back(index[static_cast<std::size_t>(row)]);
  return of_step;
}

}  // namespace kindred
