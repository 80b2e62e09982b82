// The polite reaction to Ctrl-C, to a closed terminal and to a request to end.
#pragma once

namespace kindred::app {

/// From now on the first SIGINT, SIGTERM or SIGHUP asks to stop; the second one kills.
void catch_stop_signals();

/// Whether one has arrived. Any thread may ask.
bool stop_requested();

/// The exit code of a program that ended because of it: 128 and the signal's number.
int stop_exit_code();

}  // namespace kindred::app
