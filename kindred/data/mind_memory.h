// For those who touch pages of columns faster, or in another order, than the system can guess.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kindred {

struct Trajectories;

/// Gives mapped pages back at once where little is left of a promised budget (memory_promise.h): to
/// be called every few megabytes of steps read in order, or every hundred steps from all over the
/// data, since touching one maps its neighbours too. Takes microseconds; nothing where nothing is
/// promised.
void mind_memory();

/// Where memory is promised, has the system read these pages of a file before they are touched, and
/// no others: it takes who touches one without a word for one who reads on, and reads megabytes.
void expect_pages(const void* begin, std::size_t size);
/// The same for what is seen and done in steps [begin, end).
void expect_steps(const Trajectories& data, std::int64_t begin, std::int64_t end);

}  // namespace kindred
