// The program's standard streams. People read standard error, and what cannot be written there is
// lost without harm; programs read standard output, and what cannot be written there is an error.
#pragma once

#include <string_view>

namespace kindred::app {

/// To be called first: a stream that is closed would lend its number to the next file opened, and a
/// message would be written into that file. Also makes a full file or a reader that has gone an
/// ordinary error instead of a signal.
void prepare_streams();

/// Standard error; never fails.
void write_to_people(std::string_view text);

/// Standard output. Throws IoError, or Exit when the reader has gone.
void write_to_programs(std::string_view text);

}  // namespace kindred::app
