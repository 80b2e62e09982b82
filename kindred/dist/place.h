// Which of the processes of a run this one is: from flags, or from what torchrun, Slurm, Open MPI
// or another MPI's process manager put into the environment.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "kindred/dist/group.h"

namespace kindred {

struct RankFlags {
  std::int64_t rank = -1;  ///< -1: not given.
  std::int64_t ranks = 0;  ///< 0: not given.
  std::string address;     ///< HOST:PORT
  double patience = 20.0;  ///< Seconds.
};

/// This process among those that were started together.
struct Place {
  GroupOptions group;
  std::int64_t on_this_host = 1;  ///< As far as is known.
};

/// What a variable of the environment holds, if there is one.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

/// How many processes were started together with this one, as the variables say; 1 where they do
/// not.
std::int64_t started_together(const Variables& variables);

/// Flags first, then variables. Throws InvalidArgument where they do not say enough.
Place find_place(const RankFlags& flags, const Variables& variables);

}  // namespace kindred
