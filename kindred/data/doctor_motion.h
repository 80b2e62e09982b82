// What follows what in the steps of a dataset, for the doctor's checks of seams. Internal.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kindred/data/doctor_chart.h"

namespace kindred::doctor {

class Motion {
 public:
  virtual ~Motion() = default;
  /// Whether the state at `to` is what can come after step `from`, and not how episodes begin.
  virtual bool goes_on(std::int64_t from, std::int64_t to) const = 0;
  /// Appends the steps of an episode [begin, end) after which another episode seems to begin.
  virtual void find_new_beginnings(std::int64_t begin, std::int64_t end,
                                   std::vector<std::int64_t>& steps) const = 0;
};

/// Nothing where the steps do not show what follows what.
std::unique_ptr<Motion> motion_of(const Chart& chart);

}  // namespace kindred::doctor
