// The true policies an HDF5 file holds, under a key: numbers or text, in arrays or attributes.
// Internal.
//
// Text of variable length, which a damaged file can make dangerous to follow
// (docs/decisions/0004-hdf5-corrupt-files.md), is read only under another key than the usual one:
// somebody asked for it.
#pragma once

#include <string>
#include <vector>

#include "kindred/data/episodes.h"
#include "kindred/data/hdf5_input.h"

namespace kindred::hdf5 {

/// An array of integers or text, an item for each step or episode. Throws DataFormatError when it
/// holds something else.
FoundLabels read_labels(const InputFile& file, const std::string& name, bool asked_for);

/// One for each group: an attribute of it, an array in it whose items are all the same, or else its
/// row in an array of the root. Nothing where no group has any.
FoundLabels read_group_labels(const InputFile& file, const std::vector<std::string>& groups,
                              const std::string& key);

/// Whether a key is another than readers look for by themselves.
bool is_asked_for(const std::string& key);

}  // namespace kindred::hdf5
