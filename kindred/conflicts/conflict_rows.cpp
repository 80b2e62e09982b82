#include "kindred/conflicts/conflict_rows.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <numeric>

#include "kindred/core/random.h"

namespace kindred {
namespace {

constexpr std::int64_t kWord = 64;
constexpr std::int64_t kDense = 128;            // columns for each opponent, at most
constexpr std::size_t kMostBitWords = 1 << 25;  // 256 MB
constexpr std::int64_t kLeastSample = 400;      // behaviours that an estimate looks at

using conflicts::at;

/// Sets the bits [begin, end).
void set_bits(std::span<std::uint64_t> bits, std::int64_t begin, std::int64_t end) {
  for (auto i = begin; i < end;) {
    const auto offset = i % kWord, count = std::min(end - i, kWord - offset);
    const auto ones = count == kWord ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
    bits[at(i / kWord)] |= ones << offset;
    i += count;
  }
}

}  // namespace

std::int64_t count_bits(std::span<const std::uint64_t> bits) {
  std::int64_t count = 0;
  for (const auto word : bits) count += std::popcount(word);
  return count;
}

std::int64_t next_bit(std::span<const std::uint64_t> bits, std::int64_t from) {
  auto word = at(from / kWord);
  if (word >= bits.size()) return -1;
  auto rest = bits[word] & (~std::uint64_t{0} << (from % kWord));
  while (rest == 0) {
    if (++word == bits.size()) return -1;
    rest = bits[word];
  }
  return static_cast<std::int64_t>(word) * kWord + std::countr_zero(rest);
}

ConflictRows::ConflictRows(const Behaviours& behaviours, std::span<const std::int64_t> widths)
    : behaviours_(behaviours), starts_(at(behaviours.count()) + 1, 0) {
  for (std::size_t i = 0; i + 1 < starts_.size(); ++i)
    starts_[i + 1] = starts_[i] + (widths.empty() ? 1 : widths[i]);
  words_ = at((columns() + kWord - 1) / kWord);
  dense_.assign(behaviours.state_of.size(), -1);
  for (std::int32_t choice = 0; choice < std::ssize(dense_); ++choice) {
    std::int64_t opponents = 0;
    each_opponent(choice, [&](std::int32_t other) {
      opponents += starts_[at(other) + 1] - starts_[at(other)];
    });
    const auto takers = static_cast<double>(behaviours.takers_of(choice).size());
    if (opponents * kDense < columns() || bits_.size() + words_ > kMostBitWords) {
      cost_ += takers * static_cast<double>(opponents);
      continue;
    }
    cost_ += takers * static_cast<double>(words_);
    dense_[at(choice)] = std::ssize(bits_);
    bits_.resize(bits_.size() + words_, 0);
    const std::span row = std::span(bits_).last(words_);
    each_opponent(choice, [&](std::int32_t other) {
      set_bits(row, starts_[at(other)], starts_[at(other) + 1]);
    });
  }
}

/// Everybody who chose otherwise in the same state: those before and after its takers.
template <class Mark>
void ConflictRows::each_opponent(std::int32_t choice, Mark mark) const {
  const auto visitors = behaviours_.visitors_of(behaviours_.state_of[at(choice)]);
  const auto takers = behaviours_.takers_of(choice);
  for (const auto* i = visitors.data(); i != takers.data(); ++i) mark(*i);
  for (const auto* i = takers.data() + takers.size(); i != visitors.data() + visitors.size(); ++i)
    mark(*i);
}

void ConflictRows::make(std::int32_t behaviour, std::span<std::uint64_t> row) const {
  std::ranges::fill(row, 0);
  for (const auto choice : behaviours_.of(behaviour)) {
    if (dense_[at(choice)] < 0) {
      each_opponent(choice, [&](std::int32_t other) {
        set_bits(row, starts_[at(other)], starts_[at(other) + 1]);
      });
      continue;
    }
    const auto* bits = bits_.data() + dense_[at(choice)];
    for (std::size_t i = 0; i < words_; ++i) row[i] |= bits[i];
  }
}

Bits ConflictRows::row(std::int32_t behaviour) const {
  Bits made(words_);
  make(behaviour, made);
  return made;
}

std::int32_t ConflictRows::behaviour_at(std::int64_t column) const {
  return static_cast<std::int32_t>(std::ranges::upper_bound(starts_, column) - starts_.begin()) - 1;
}

ConflictCount count_conflicts(const Behaviours& behaviours, std::span<const std::int64_t> members,
                              const Workers& workers, double most_words) {
  const ConflictRows rows(behaviours, members);
  std::vector<std::int32_t> looked_at(at(behaviours.count()));
  std::iota(looked_at.begin(), looked_at.end(), 0);
  const auto all = looked_at.size();
  if (rows.cost() > most_words) {
    Random(0, "conflicts").shuffle(std::span(looked_at));
    const auto share = most_words / rows.cost() * static_cast<double>(all);
    looked_at.resize(std::min(all, at(std::max(kLeastSample, std::lround(share)))));
  }
  std::vector<double> degrees(all, 0.0);
  workers.chunks(std::ssize(looked_at), 64, [&](std::int64_t begin, std::int64_t end) {
    Bits row(rows.words());
    for (auto i = begin; i < end; ++i) {
      rows.make(looked_at[at(i)], row);
      degrees[at(looked_at[at(i)])] = static_cast<double>(count_bits(row));
    }
  });
  double sum = 0.0, squares = 0.0;
  for (const auto i : looked_at) {
    const auto ends = static_cast<double>(members[at(i)]) * degrees[at(i)];
    sum += ends;
    squares += ends * ends;
  }
  if (looked_at.size() == all) return {sum / 2.0, true, 0.0, std::move(degrees)};
  const auto n = static_cast<double>(looked_at.size()), whole = static_cast<double>(all);
  const double variance = std::max(0.0, squares / n - (sum / n) * (sum / n)) * n / (n - 1.0);
  const double error = std::sqrt(variance / n * (1.0 - n / whole));
  return {sum / n * whole / 2.0, false, error * whole / 2.0, {}};
}

}  // namespace kindred
