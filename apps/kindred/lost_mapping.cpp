#include "lost_mapping.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstring>

#include "command.h"
#include "kindred/data/mapping.h"

namespace kindred::app {
namespace {

// Nothing but async-signal-safe calls from here on.
void write_out(const char* text) {
  if (::write(STDERR_FILENO, text, std::strlen(text)) < 0) ::_exit(kBadInput);
}

void end_with_a_sentence(int signal, siginfo_t* info, void*) {
  const char* file = mapped_file_at(info->si_addr);
  if (!file) {  // not ours: the same fault comes again, and meets the default
    ::signal(signal, SIG_DFL);
    return;
  }
  static std::atomic_flag said;  // threads may meet the end of the file together
  if (said.test_and_set())
    for (;;) ::pause();
  write_out("kindred: '");
  write_out(file);
  write_out(
      "' became shorter while it was being read, or its disk failed; restore it and run the "
      "command again\n");
  ::_exit(kBadInput);
}

}  // namespace

void explain_lost_mappings() {
  struct sigaction action {};
  action.sa_sigaction = end_with_a_sentence;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);
}

}  // namespace kindred::app
