// What happens when a dataset is shortened while it is read from memory.
#pragma once

namespace kindred::app {

/// From now on the loss of a mapped file ends the program with a sentence and exit code 2 instead
/// of a signal.
void explain_lost_mappings();

}  // namespace kindred::app
