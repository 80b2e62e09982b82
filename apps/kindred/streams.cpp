#include "streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "command.h"
#include "kindred/core/error.h"

namespace kindred::app {
namespace {

bool output_was_closed = false;

/// 0, or the error that kept `text` from being written whole.
int write_all(int stream, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::write(stream, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return 0;
}

}  // namespace

void prepare_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is the one just found closed.
    [[maybe_unused]] const int taken = ::open("/dev/null", O_RDWR);
    if (stream == STDOUT_FILENO) output_was_closed = true;
  }
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
}

void write_to_people(std::string_view text) {
  [[maybe_unused]] const int error = write_all(STDERR_FILENO, text);
}

void write_to_programs(std::string_view text) {
  if (output_was_closed) throw IoError("cannot write to standard output: it is closed");
  const int error = write_all(STDOUT_FILENO, text);
  if (error == EPIPE) throw Exit{kBadInput};  // whoever closed the pipe has read enough
  if (error != 0) throw IoError("cannot write to standard output: {}", std::strerror(error));
}

}  // namespace kindred::app
