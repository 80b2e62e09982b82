// For those who touch pages of columns faster than a thread that looks now and then can follow.
#pragma once

namespace kindred {

/// Gives mapped pages back at once where little is left of a promised budget (memory_promise.h): to
/// be called every few megabytes of steps read in order, or every hundred steps from all over the
/// data, since touching one maps its neighbours too. Takes microseconds; nothing where nothing is
/// promised.
void mind_memory();

}  // namespace kindred
