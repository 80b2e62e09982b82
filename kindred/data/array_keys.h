// Names of arrays as people type them: whole, `name[0:7]`, or `name[3]`.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kindred {

/// A named array, or some numbers of each of its rows.
struct ArrayKey {
  static constexpr std::int64_t kOpen = -1;

  std::string name;
  std::int64_t begin = 0;
  std::int64_t end = kOpen;  ///< kOpen: to the last.

  bool whole() const { return begin == 0 && end == kOpen; }
  /// The range for rows of `width` numbers. Throws InvalidArgument beginning with `where` when they
  /// are fewer.
  std::pair<std::int64_t, std::int64_t> range(std::int64_t width, const std::string& where) const;
  /// What the numbers of a row of `width` are called: `columns` where the file names them, else
  /// `name[0]`, …; a row of one number is called `name`.
  std::vector<std::string> names(std::int64_t width,
                                 const std::vector<std::string>& columns = {}) const;
};

/// Throws InvalidArgument when the brackets do not hold a number or a range.
ArrayKey parse_array_key(const std::string& text);

}  // namespace kindred
