#include "stop_signal.h"

#include <atomic>
#include <csignal>

namespace kindred::app {
namespace {

std::atomic<int> signal_seen{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may not wait");

}  // namespace

void catch_stop_signals() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup asked for that
    struct sigaction action {};
    action.sa_handler = [](int seen) { signal_seen = seen; };
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    ::sigaction(number, &action, nullptr);
  }
}

bool stop_requested() { return signal_seen != 0; }

int stop_exit_code() { return 128 + signal_seen; }

}  // namespace kindred::app
