// The processes that share a run, as the program starts them and ends with them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "place.h"

namespace kindred::app {

void add_rank_flags(CLI::App& command, RankFlags& flags);

/// By the environment of this process.
Place find_place(const RankFlags& flags);

/// Joins the others, if there are any. When one of them is lost, this process ends with a line that
/// names it.
std::shared_ptr<Communicator> join(const Place& place);

/// The exit code then.
inline constexpr int kLostPeer = 3;

}  // namespace kindred::app
