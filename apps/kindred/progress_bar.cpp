#include "progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "command.h"
#include "streams.h"

namespace kindred::app {
namespace {

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

/// Ten cells of a bar.
std::string bar(double fraction) {
  const auto full = static_cast<std::size_t>(std::lround(std::clamp(fraction, 0.0, 1.0) * 10.0));
  return std::string(full, '#') + std::string(10 - full, '.');
}

/// "950", "20k", "3M": sizes of clusters in few columns.
std::string short_count(std::int64_t n) {
  if (n < 10000) return std::to_string(n);
  if (n < 10000000) return fmt::format("{}k", n / 1000);
  return fmt::format("{}M", n / 1000000);
}

/// As many sizes as fit into `width` columns.
std::string sizes_within(const std::vector<std::int64_t>& sizes, std::size_t width) {
  std::string text = " sizes";
  for (const auto size : sizes) {
    const auto next = " " + short_count(size);
    if (text.size() + next.size() + 2 > width) return text + " …";
    text += next;
  }
  return text;
}

}  // namespace

std::string duration(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  return fmt::format("{}:{:02} min", whole / 60, whole % 60);
}

ProgressBar::ProgressBar()
    : terminal_(::isatty(STDERR_FILENO) != 0), start_(std::chrono::steady_clock::now()) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (terminal_) write_to_people("\r\033[K");
}

void ProgressBar::estimate(const Progress& progress) {
  std::string sentence;
  if (progress.stage == "estimate") {
    sentence = fmt::format("This will take about {}.", duration(progress.seconds));
  } else if (progress.stage == "round") {
    // A method that cannot tell beforehand: its first round bounds the rest.
    const double most = progress.seconds * static_cast<double>(progress.max_iterations);
    if (most >= 10.0)
      sentence = fmt::format("This will take at most about {}, by its first of {} rounds.",
                             duration(most), progress.max_iterations);
  } else {
    return;
  }
  estimated_ = true;
  if (sentence.empty()) return;
  clear();
  say(sentence);
}

void ProgressBar::show(const Progress& progress) {
  if (!estimated_) estimate(progress);
  if (!terminal_ || progress.stage == "estimate") return;
  const bool training = progress.stage == "training";  // within a round: the last one's facts hold
  if (!training && progress.stage != "round") {
    return show_line(progress.stage + " " + bar(progress.fraction));
  }
  if (!training) last_ = progress;
  std::string line = fmt::format("round {} {}", last_.iteration + (training ? 1 : 0),
                                 bar(training ? progress.fraction : 0.0));
  if (last_.iteration > 0) {
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    const double per_round = last_.seconds / static_cast<double>(last_.iteration);
    const auto rounds_left = std::max<std::int64_t>(0, last_.max_iterations - last_.iteration);
    line +=
        fmt::format(" J {:.5g}, {} moved, {}, < {} left", last_.objective, grouped(last_.changed),
                    duration(seconds), duration(per_round * static_cast<double>(rounds_left)));
    const auto width = terminal_width();
    if (line.size() + 10 < width) line += sizes_within(last_.sizes, width - line.size());
  }
  show_line(line);
}

void ProgressBar::show_share(const std::string& what, double share) {
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  const double left = share > 0.0 ? seconds * (1.0 - share) / share : 0.0;
  show_line(fmt::format("{} {} {:.0f}%, {}, {} left", what, bar(share), 100.0 * share,
                        duration(seconds), duration(left)));
}

void ProgressBar::show_line(const std::string& line) {
  if (!terminal_) return;
  write_to_people(fmt::format("\r{}\033[K", line.substr(0, terminal_width() - 1)));
}

}  // namespace kindred::app
