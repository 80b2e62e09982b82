// The processes that share a run, as the program starts them and ends with them.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

#include "kindred/dist/place.h"

namespace kindred::app {

void add_rank_flags(CLI::App& command, RankFlags& flags);

/// By the environment of this process.
Place find_place(const RankFlags& flags);

/// Throws InvalidArgument where this is one of several processes that were started together, which
/// `command` cannot share.
void require_one_process(const std::string& command);

/// Joins the others, if there are any. When one of them is lost, this process ends with a line that
/// names it.
std::shared_ptr<Communicator> join(const Place& place);

/// The exit code then.
inline constexpr int kLostPeer = 3;

}  // namespace kindred::app
