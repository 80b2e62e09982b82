// The line that shows a running method on a terminal.
#pragma once

#include <chrono>
#include <string>

#include "kindred/core/progress.h"

namespace kindred::app {

/// "12 s", "3:05 min"
std::string duration(double seconds);

/// Says once on standard error how long the run will take; on a terminal, redraws one line of at
/// most its width below that. The line is cleared when the bar goes.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(const Progress& progress);
  /// "generating ####...... 40%, 12 s, 18 s left", on a terminal only.
  void show_share(const std::string& what, double share);
  /// One line of any content, on a terminal only.
  void show_line(const std::string& line);
  /// Takes the line away.
  void clear();

 private:
  void estimate(const Progress& progress);

  bool terminal_;
  bool estimated_ = false;
  std::chrono::steady_clock::time_point start_;
  Progress last_;
};

}  // namespace kindred::app
