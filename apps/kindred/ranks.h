// The processes that share a run, as the program starts them and ends with them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "kindred/dist/place.h"

namespace kindred::app {

void add_rank_flags(CLI::App& command, RankFlags& flags);

/// By the environment of this process.
Place find_place(const RankFlags& flags);

/// So many threads as were asked for; where that is 0, the cores that are left to a process that
/// shares them with others of the run.
int threads_for(const Place& place, std::int64_t asked);

/// Joins the others, if there are any. When one of them is lost, this process ends with a line that
/// names it.
std::shared_ptr<Communicator> join(const Place& place);

/// The exit code then.
inline constexpr int kLostPeer = 3;

}  // namespace kindred::app
