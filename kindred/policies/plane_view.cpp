#include "kindred/policies/plane_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr std::int64_t kWide = 100;     // numbers, from which looking at the ones alone pays
constexpr std::int64_t kFewOnes = 8;    // one number in so many may be one, of those that vary
constexpr std::int64_t kLeastSide = 3;  // of a plane
constexpr std::int64_t kMostPlanes = 64;

using Row = std::span<const std::uint8_t>;

/// Calls `use(step, row)` for steps [begin, end) until it returns false.
void for_rows(const Observations& observations, std::int64_t begin, std::int64_t end,
              const std::function<bool(std::int64_t, Row)>& use) {
  const auto dim = static_cast<std::size_t>(observations.dim());
  std::vector<float> floats(dim);
  std::vector<std::uint8_t> bytes(dim);
  for (auto t = begin; t < end; ++t) {
    if (observations.is_bytes()) {
      if (!use(t, observations.bytes().span().subspan(static_cast<std::size_t>(t) * dim, dim)))
        return;
      continue;
    }
    observations.copy(t, t + 1, floats.data());
    for (std::size_t d = 0; d < dim; ++d)
      bytes[d] = floats[d] == 0.0F ? 0 : floats[d] == 1.0F ? 1 : 2;
    if (!use(t, bytes)) return;
  }
}

/// How often each number is one; nothing when a number is neither zero nor one.
std::optional<std::vector<std::int64_t>> count_ones(const Observations& observations) {
  std::vector<std::int64_t> ones(static_cast<std::size_t>(observations.dim()), 0);
  bool binary = true;
  for_rows(observations, 0, observations.steps(), [&](std::int64_t, Row row) {
    for (std::size_t d = 0; d < row.size(); ++d) {
      binary = binary && row[d] <= 1;
      ones[d] += row[d];
    }
    return binary;
  });
  if (!binary) return std::nullopt;
  return ones;
}

}  // namespace

bool PlaneView::is_wide(const Observations& observations) { return observations.dim() >= kWide; }

std::optional<std::vector<std::uint8_t>> PlaneView::varying_cells(const Trajectories& data) {
  const auto& observations = data.observations;
  if (!is_wide(observations) || observations.steps() == 0) return std::nullopt;
  const auto ones = count_ones(observations);
  if (!ones) return std::nullopt;
  std::vector<std::uint8_t> result;
  std::int64_t varying = 0, total = 0;
  for (const auto count : *ones) {
    const bool varies = count > 0 && count < observations.steps();
    result.push_back(varies ? 1 : 0);
    varying += varies;
    total += varies ? count : 0;
  }
  if (total * kFewOnes > varying * observations.steps()) return std::nullopt;
  return result;
}

std::optional<PlaneView> PlaneView::raw(const Trajectories& data) {
  auto varies = varying_cells(data);
  if (!varies) return std::nullopt;
  PlaneView view;
  view.obs_dim_ = data.observations.dim();
  view.varies_ = std::move(*varies);
  view.number_columns(data.observations);
  return view;
}

std::optional<PlaneView> PlaneView::egocentric(const Trajectories& data) const {
  PlaneView view = *this;
  // Every way to cut an observation into planes, and every plane of it, until one is as described.
  for (std::int64_t planes = 2; planes <= std::min(kMostPlanes, obs_dim_); ++planes)
    for (std::int64_t height = kLeastSide; obs_dim_ % planes == 0 && height <= obs_dim_ / planes;
         ++height) {
      if (obs_dim_ / planes % height != 0 || obs_dim_ / planes / height < kLeastSide) continue;
      for (const bool last : {true, false})
        for (std::int64_t plane = 0; plane < planes; ++plane) {
          view.planes_ = planes;
          view.height_ = height;
          view.width_ = obs_dim_ / planes / height;
          view.planes_last_ = last;
          view.acting_ = plane;
          if (!view.acts(data)) continue;
          view.number_columns(data.observations);
          return view;
        }
    }
  return std::nullopt;
}

bool PlaneView::acts(const Trajectories& data) const {
  bool moves = false, acts = true;
  std::int64_t before = -1, episode = 0;
  for_rows(data.observations, 0, data.steps(), [&](std::int64_t t, Row row) {
    const auto cell = acting_cell(row);
    if (t >= data.offsets[episode + 1]) ++episode;
    if (t > data.offsets[episode] && cell != before) {
      moves = true;
      acts = std::abs(cell / width_ - before / width_) <= 1 &&
             std::abs(cell % width_ - before % width_) <= 1;
    }
    before = cell;
    acts = acts && cell >= 0;
    return acts;
  });
  return acts && moves;
}

std::int64_t PlaneView::acting_cell(Row observation) const {
  const auto cells = height_ * width_;
  const auto step = planes_last_ ? planes_ : 1;
  const auto* first = observation.data() + (planes_last_ ? acting_ : acting_ * cells);
  std::int64_t found = -1;
  for (std::int64_t c = 0; c < cells; ++c) {
    if (first[c * step] == 0) continue;
    if (found >= 0) return -1;
    found = c;
  }
  return found;
}

std::int64_t PlaneView::places() const {
  return acting_ < 0 ? obs_dim_ : height_ * width_ + planes_ * (2 * height_ - 1) * (2 * width_ - 1);
}

std::int64_t PlaneView::place(std::int64_t cell, std::int64_t acting_cell) const {
  if (acting_ < 0) return cell;
  const auto cells = height_ * width_;
  const auto plane = planes_last_ ? cell % planes_ : cell / cells;
  const auto at = planes_last_ ? cell / planes_ : cell % cells;
  if (plane == acting_) return at;
  const auto down = at / width_ - acting_cell / width_ + height_ - 1;
  const auto right = at % width_ - acting_cell % width_ + width_ - 1;
  return cells + (plane * (2 * height_ - 1) + down) * (2 * width_ - 1) + right;
}

void PlaneView::number_columns(const Observations& observations) {
  column_of_.assign(static_cast<std::size_t>(places()), -1);
  for_rows(observations, 0, observations.steps(), [&](std::int64_t, Row row) {
    const auto acting = acting_ < 0 ? 0 : acting_cell(row);
    for (std::size_t d = 0; d < row.size(); ++d)
      if (row[d] != 0 && varies_[d] != 0)
        column_of_[static_cast<std::size_t>(place(static_cast<std::int64_t>(d), acting))] = 0;
    return true;
  });
  columns_ = 1;
  for (auto& column : column_of_)
    if (column == 0) column = static_cast<std::int32_t>(columns_++);
}

SparseRows PlaneView::see(const Observations& observations, const Workers& workers) const {
  SparseRows rows;
  rows.columns = columns_;
  rows.begin.reserve(static_cast<std::size_t>(observations.steps()) + 1);
  for_rows(observations, 0, observations.steps(), [&](std::int64_t t, Row row) {
    if (t % 4096 == 0) workers.throw_if_stopped();
    const auto acting = acting_ < 0 ? 0 : acting_cell(row);
    rows.ones.push_back(0);
    // Where no cell acts, what is seen from it cannot be said.
    for (std::size_t d = 0; d < row.size() && acting >= 0; ++d) {
      if (row[d] != 1 || varies_[d] == 0) continue;
      const auto column =
          column_of_[static_cast<std::size_t>(place(static_cast<std::int64_t>(d), acting))];
      if (column > 0) rows.ones.push_back(column);
    }
    rows.begin.push_back(std::ssize(rows.ones));
    return true;
  });
  return rows;
}

void PlaneView::save(ArrayFileWriter& file) const {
  file.write<std::int64_t>("view", std::vector<std::int64_t>{obs_dim_, height_, width_, planes_,
                                                             planes_last_ ? 1 : 0, acting_});
  file.write<std::uint8_t>("view_varies", varies_);
  file.write<std::int32_t>("view_columns", column_of_);
}

PlaneView PlaneView::load(const ArrayFileReader& file) {
  const auto shape = file.read<std::int64_t>("view", {6}).values;
  PlaneView view;
  view.obs_dim_ = shape[0];
  view.height_ = shape[1];
  view.width_ = shape[2];
  view.planes_ = shape[3];
  view.planes_last_ = shape[4] != 0;
  view.acting_ = shape[5];
  const auto within = [](std::int64_t x) { return x >= 0 && x <= 1 << 24; };
  if (!std::ranges::all_of(std::span(shape).first(4), within) || view.acting_ < -1 ||
      (view.acting_ >= 0 && (view.acting_ >= view.planes_ ||
                             view.height_ * view.width_ != view.obs_dim_ / view.planes_ ||
                             view.obs_dim_ % view.planes_ != 0)))
    file.refuse("view", "does not describe planes");
  view.varies_ = file.read<std::uint8_t>("view_varies", {view.obs_dim_}).values;
  view.column_of_ = file.read<std::int32_t>("view_columns", {view.places()}).values;
  view.columns_ = 1;
  for (const auto column : view.column_of_) {
    if (column < 0) continue;
    if (column != view.columns_)
      file.refuse("view_columns", "does not number its columns in order");
    ++view.columns_;
  }
  return view;
}

}  // namespace kindred
