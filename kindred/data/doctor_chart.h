// What the doctor's checks share: what all steps say of each column, and a sample of steps.
// Internal.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/doctor.h"
#include "kindred/data/trajectories.h"

namespace kindred::doctor {

struct ColumnFacts {
  std::string name;
  float least = 0.0f, most = 0.0f;  ///< Over all steps, finite values only; of bytes, the sample.
  /// The most it changes between two steps of an episode; of bytes and tables, nobody looked.
  float farthest = std::numeric_limits<float>::infinity();
  bool finite = true;
  bool binary = true;                  ///< No other value in the sample than these two.
  double mean = 0.0, deviation = 0.0;  ///< In the sample.

  bool constant() const { return finite && least == most; }
  /// A number that varies, as opposed to a mark or a mask.
  bool measures() const { return finite && !binary; }
};

/// What was seen and done in some steps.
struct StepRows {
  Observations observations;
  Actions actions;

  float seen(std::int64_t step, std::int64_t column) const {
    const auto& rows = observations;
    if (rows.is_interned()) return rows.table()[rows.index()[step] * rows.dim() + column];
    if (rows.is_bytes()) return static_cast<float>(rows.bytes()[step * rows.dim() + column]);
    return rows.floats()[step * rows.dim() + column];
  }
  /// Several columns of one step.
  void copy(std::int64_t step, std::span<const std::int64_t> columns, float* out) const {
    if (observations.is_interned() || observations.is_bytes()) {
      for (const auto column : columns) *out++ = seen(step, column);
    } else {
      const float* row = observations.floats().data() + step * observations.dim();
      for (const auto column : columns) *out++ = row[column];
    }
  }
  /// All columns of one step: where they lie, or copied to `room`.
  const float* seen(std::int64_t step, std::vector<float>& room) const {
    const auto dim = observations.dim();
    if (observations.is_interned())
      return observations.table().data() + observations.index()[step] * dim;
    if (!observations.is_bytes()) return observations.floats().data() + step * dim;
    room.resize(static_cast<std::size_t>(dim));
    observations.copy(step, step + 1, room.data());
    return room.data();
  }
  const float* done(std::int64_t step, std::vector<float>& room) const {
    if (!actions.is_discrete()) return actions.floats().data() + step * actions.dim();
    room.assign(1, static_cast<float>(actions.ints()[step]));
    return room.data();
  }
  float done(std::int64_t step, std::int64_t column) const {
    return actions.is_discrete() ? static_cast<float>(actions.ints()[step])
                                 : actions.floats()[step * actions.dim() + column];
  }
};

class Chart {
 public:
  explicit Chart(const Trajectories& data);

  const Trajectories& data;
  std::vector<ColumnFacts> observations;  ///< [observation dim]
  std::vector<ColumnFacts> actions;       ///< [action dim]
  StepRows all;                           ///< Of `data`.
  /// Steps from all over the data, each with the one after it in its episode: copies, since looking
  /// at them again and again would read a file that is larger than memory as often.
  StepRows sampled;
  /// Rows of `sampled` whose next row is the step after; fewer where observations are wide.
  std::vector<std::int64_t> sample;
  /// Observation columns that vary, at most 128 of them, evenly chosen where there are more.
  std::vector<std::int64_t> columns;

  float seen(std::int64_t step, std::int64_t column) const { return all.seen(step, column); }
  float done(std::int64_t step, std::int64_t column) const { return all.done(step, column); }

  /// "episode 3", or "episode 'demo_3'" where the file calls it so.
  std::string episode(std::int64_t number) const;
  std::int64_t episode_of(std::int64_t step) const;

 private:
  /// Steps that are not the last of their episode, increasing.
  std::vector<std::int64_t> draw_steps() const;
  void describe_observations(const std::vector<std::int64_t>& drawn);
  void describe_actions(const std::vector<std::int64_t>& drawn);
};

/// "a", "a and b", "a, b and 7 more".
std::string listed(const std::vector<std::string>& names, std::size_t most = 5);
/// "1 episode", "1,200 episodes".
std::string counted(std::int64_t count, const std::string& thing);

using Found = std::vector<Diagnosis>;

// One function per check, in the order they are made.
void check_finite_numbers(const Chart& chart, Found& found);
void check_actions_among_observations(const Chart& chart, Found& found);
void check_constant_columns(const Chart& chart, Found& found);
void check_scales(const Chart& chart, Found& found);
void check_precision(const Chart& chart, Found& found);
void check_copied_columns(const Chart& chart, Found& found);
void check_wrapping(const Chart& chart, Found& found);
void check_empty_episodes(const Chart& chart, Found& found);
void check_tiny_episodes(const Chart& chart, Found& found);
void check_repeated_episodes(const Chart& chart, Found& found);
void check_seams(const Chart& chart, Found& found);
void check_flags(const Chart& chart, Found& found);
void check_rewards(const Chart& chart, Found& found);
void check_label_order(const Chart& chart, Found& found);

}  // namespace kindred::doctor
