// Answers of a search on their way from the process that found them to the others.
#pragma once

#include "kindred/dist/packing.h"
#include "kindred/methods/policy_search/partitions/descents.h"

namespace kindred::policy_search {

void pack(const ExactFit& fit, Packer& to);
void unpack(ExactFit& fit, Unpacker& from);

void pack(const HeldOutScore& score, Packer& to);
void unpack(HeldOutScore& score, Unpacker& from);

/// The partition and its score; what is judged later is not part of it.
void pack(const Answer& answer, Packer& to);
void unpack(Answer& answer, Unpacker& from);

void pack(const Descent& descent, Packer& to);
void unpack(Descent& descent, Unpacker& from);

}  // namespace kindred::policy_search
