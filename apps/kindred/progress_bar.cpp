#include "progress_bar.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "command.h"

namespace kindred::app {
namespace {

volatile std::sig_atomic_t interrupt_seen = 0;

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(seconds + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// Ten cells of a bar.
std::string bar(double fraction) {
  const auto full = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * 10.0 + 0.5);
  return std::string(full, '#') + std::string(10 - full, '.');
}

}  // namespace

ProgressBar::ProgressBar() : terminal_(::isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::clear() {
  if (terminal_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(const Progress& progress) {
  if (!terminal_) return;
  if (progress.stage == "training") {  // within a round: what the last round said still holds
    last_.fraction = progress.fraction;
    last_.seconds = progress.seconds;
  } else {
    last_ = progress;
    last_.fraction = 0.0;
  }
  std::string line = fmt::format("round {} [{}]", last_.iteration + (progress.stage == "training"),
                                 bar(last_.fraction));
  if (last_.iteration > 0) {
    const double per_round = last_.seconds / static_cast<double>(last_.iteration);
    const auto rounds_left = std::max<std::int64_t>(0, last_.max_iterations - last_.iteration);
    line += fmt::format("  J {:.6g}  changed {}  {} running  {}, at most {} left", last_.objective,
                        grouped(last_.changed), last_.running, duration(last_.seconds),
                        duration(per_round * static_cast<double>(rounds_left)));
    std::string sizes = "  sizes";
    for (const auto size : last_.sizes) sizes += " " + std::to_string(size);
    line += sizes;
  }
  if (line.size() >= terminal_width()) line = line.substr(0, terminal_width() - 2) + "…";
  fmt::print(stderr, "\r{}\033[K", line);
  std::fflush(stderr);
}

void catch_interrupt() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupt_seen = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;  // the second Ctrl-C is not caught
  ::sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return interrupt_seen != 0; }

}  // namespace kindred::app
