// Observations of zeros and ones, as the places of their ones: all that a policy in closed form or
// a network has to look at where nearly everything is zero, as on the planes of a gridworld.
//
// The planes can be seen from where the acting cell is. That cell is recognised, not configured:
// one plane holds exactly one cell, and from step to step it moves by at most one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kindred/core/workers.h"
#include "kindred/data/array_file.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// Rows of zeros and ones, each as the columns of its ones.
struct SparseRows {
  std::int64_t columns = 0;
  std::vector<std::int64_t> begin{0};  ///< [rows + 1], into `ones`.
  std::vector<std::int32_t> ones;

  std::int64_t rows() const { return std::ssize(begin) - 1; }
  std::span<const std::int32_t> of(std::int64_t row) const {
    const auto at = static_cast<std::size_t>(row);
    return std::span(ones).subspan(static_cast<std::size_t>(begin[at]),
                                   static_cast<std::size_t>(begin[at + 1] - begin[at]));
  }
};

/// How observations become rows. Column 0 is one in every row; cells that never change are left
/// out.
class PlaneView {
 public:
  /// Cells where they are. Nothing unless observations are wide, hold only zeros and ones, and
  /// nearly all are zeros.
  static std::optional<PlaneView> raw(const Trajectories& data);
  /// Cells as seen from the acting one, and where that one is, of the data this is a raw view of.
  /// Nothing where there is no such cell.
  std::optional<PlaneView> egocentric(const Trajectories& data) const;
  /// Whether observations are wide; others have no raw view.
  static bool is_wide(const Observations& observations);
  /// Whether there is a raw view.
  static bool suits(const Trajectories& data) { return varying_cells(data).has_value(); }

  std::int64_t obs_dim() const { return obs_dim_; }
  bool is_egocentric() const { return acting_ >= 0; }
  std::int64_t columns() const { return columns_; }
  SparseRows see(const Observations& observations, const Workers& workers) const;

  void save(ArrayFileWriter& file) const;
  static PlaneView load(const ArrayFileReader& file);

 private:
  PlaneView() = default;
  /// [obs_dim]: whether each number varies; nothing where there is no raw view.
  static std::optional<std::vector<std::uint8_t>> varying_cells(const Trajectories& data);
  /// Whether the cell taken for the acting one always is a single cell that moves by at most one.
  bool acts(const Trajectories& data) const;
  /// The number of the place where `cell` is seen: itself, or one relative to the acting cell.
  std::int64_t place(std::int64_t cell, std::int64_t acting_cell) const;
  std::int64_t places() const;
  /// Where the acting cell is, as row × width + column; -1 where there is none or more than one.
  std::int64_t acting_cell(std::span<const std::uint8_t> observation) const;
  /// Numbers the places that are seen at all.
  void number_columns(const Observations& observations);

  std::int64_t obs_dim_ = 0;
  std::int64_t height_ = 0, width_ = 0, planes_ = 0;
  bool planes_last_ = false;             // the plane is the fastest index
  std::int64_t acting_ = -1;             // the plane of the acting cell; -1: cells where they are
  std::vector<std::uint8_t> varies_;     // [obs_dim]
  std::vector<std::int32_t> column_of_;  // [places]; -1: never seen
  std::int64_t columns_ = 0;
};

}  // namespace kindred
