#include "kindred/metrics/matching.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace kindred {
namespace {

constexpr std::int32_t kNone = -1;
constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();

/// Maximum-weight matching by its dual: prices u, v >= 0 with u[row] + v[column] >= weight, equal
/// on matched pairs, and 0 for whatever stays alone once its turn has come.
class Matcher {
 public:
  Matcher(std::span<const MatchingEntry> entries, std::int32_t rows, std::int32_t columns)
      : begin_(size(rows) + 1, 0),
        cells_(entries.size()),
        row_price_(size(rows), 0),
        column_price_(size(columns), 0),
        column_of_(size(rows), kNone),
        row_of_(size(columns), kNone),
        distance_(size(columns), kFar),
        reached_from_(size(columns), kNone) {
    for (const auto& entry : entries) {
      ++begin_[size(entry.row) + 1];
      auto& price = row_price_[size(entry.row)];
      price = std::max(price, entry.weight);
    }
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    auto next = begin_;
    for (const auto& entry : entries)
      cells_[next[size(entry.row)]++] = {entry.column, entry.weight};
  }

  /// Gives `row` its place in the matching of the rows so far.
  void insert(std::int32_t row) {
    queue_ = {};
    end_distance_ = kFar;
    scan(row, 0);
    while (!queue_.empty() && queue_.top().first < end_distance_) {
      const auto [distance, column] = queue_.top();
      queue_.pop();
      if (distance == distance_[size(column)]) scan(row_of_[size(column)], distance);
    }
    update_prices(row);
    augment(row);
    for (const auto column : touched_) distance_[size(column)] = kFar;
    touched_.clear();
  }

  const std::vector<std::int32_t>& column_of() const { return column_of_; }
  const std::vector<std::int32_t>& row_of() const { return row_of_; }

  /// Of the matching once every row is inserted: the sum of its prices (strong duality).
  std::int64_t weight() const {
    std::int64_t total = 0;
    for (const auto price : row_price_) total += price;
    for (const auto price : column_price_) total += price;
    return total;
  }

 private:
  struct Cell {
    std::int32_t column;
    std::int64_t weight;
  };

  static std::size_t size(std::int32_t i) { return static_cast<std::size_t>(i); }

  /// Relaxes what `row`, reached at `distance`, leads to: staying alone, or each of its columns.
  void scan(std::int32_t row, std::int64_t distance) {
    const std::int64_t price = row_price_[size(row)];
    if (distance + price < end_distance_) {
      end_distance_ = distance + price;
      end_row_ = row;
      end_column_ = kNone;
    }
    for (std::size_t i = begin_[size(row)]; i < begin_[size(row) + 1]; ++i) {
      const auto [column, weight] = cells_[i];
      const std::int64_t through = distance + price + column_price_[size(column)] - weight;
      if (through >= end_distance_ || through >= distance_[size(column)]) continue;
      if (distance_[size(column)] == kFar) touched_.push_back(column);
      distance_[size(column)] = through;
      reached_from_[size(column)] = row;
      if (row_of_[size(column)] == kNone) {
        end_distance_ = through;
        end_column_ = column;
      } else {
        queue_.emplace(through, column);
      }
    }
  }

  /// Makes every step of the shortest path tight and keeps all other slacks non-negative.
  void update_prices(std::int32_t start) {
    row_price_[size(start)] -= end_distance_;
    for (const auto column : touched_) {
      const std::int64_t rise = end_distance_ - distance_[size(column)];
      if (rise <= 0) continue;  // Not on the way; a free column never is.
      column_price_[size(column)] += rise;
      row_price_[size(row_of_[size(column)])] -= rise;
    }
  }

  /// Walks the path back to `start`, giving each row on it the column it was left through.
  void augment(std::int32_t start) {
    std::int32_t column = end_column_;
    if (column == kNone) {
      column = std::exchange(column_of_[size(end_row_)], kNone);
      if (end_row_ == start) return;
    }
    while (true) {
      const std::int32_t row = reached_from_[size(column)];
      row_of_[size(column)] = row;
      std::swap(column, column_of_[size(row)]);
      if (row == start) return;
    }
  }

  // Cells of row i are [begin_[i], begin_[i + 1]).
  std::vector<std::size_t> begin_;
  std::vector<Cell> cells_;
  std::vector<std::int64_t> row_price_, column_price_;
  std::vector<std::int32_t> column_of_, row_of_;

  // The search in progress.
  std::vector<std::int64_t> distance_;      // of each column
  std::vector<std::int32_t> reached_from_;  // the row before each column
  std::vector<std::int32_t> touched_;       // columns whose distance is known
  std::int64_t end_distance_ = kFar;        // the nearest free end so far
  std::int32_t end_row_ = kNone;  // … the row that stays alone, when end_column_ is none
  std::int32_t end_column_ = kNone;
  using Reached = std::pair<std::int64_t, std::int32_t>;
  std::priority_queue<Reached, std::vector<Reached>, std::greater<>> queue_;
};

/// The search is repeated for each row, so rows are the shorter side.
Matcher match(std::span<const MatchingEntry> entries, std::int32_t rows, std::int32_t columns) {
  std::vector<MatchingEntry> lying(entries.begin(), entries.end());
  if (rows > columns)
    for (auto& entry : lying) std::swap(entry.row, entry.column);
  Matcher matcher(lying, std::min(rows, columns), std::max(rows, columns));
  for (std::int32_t row = 0; row < std::min(rows, columns); ++row) matcher.insert(row);
  return matcher;
}

}  // namespace

std::int64_t maximum_matching_weight(std::span<const MatchingEntry> entries, std::int32_t rows,
                                     std::int32_t columns) {
  return match(entries, rows, columns).weight();
}

std::vector<std::int32_t> maximum_matching(std::span<const MatchingEntry> entries,
                                           std::int32_t rows, std::int32_t columns) {
  const auto matcher = match(entries, rows, columns);
  return rows > columns ? matcher.row_of() : matcher.column_of();
}

}  // namespace kindred
