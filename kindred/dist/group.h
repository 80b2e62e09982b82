// Joining the processes of a run: they meet at a board that one of them keeps, and speak over Gloo.
// LibTorch is needed where they were started by torchrun, whose agent keeps a store of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kindred/core/torch_part.h"
#include "kindred/dist/board.h"
#include "kindred/dist/communicator.h"

namespace kindred {

struct GroupOptions {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::string address;          ///< Of the process that keeps the board.
  std::uint16_t port = 0;       ///< Where it listens.
  bool keeps_store = false;     ///< Whether this is that process.
  bool store_is_apart = false;  ///< The agent of torchrun keeps a store of torch's, and no rank.
  std::string prefix;           ///< Before all keys, so that another run may use the same board.
  bool shares_memory = true;    ///< Where all ranks are on one machine.
  std::string interface;        ///< The network device to use; empty: that of the host's name.
  /// How long a silent process is waited for.
  std::chrono::milliseconds patience{20000};
  /// Called once, on a thread of its own, when another process is lost: whoever waits for it cannot
  /// be told, so a program that wants to end has to end here. May be empty.
  std::function<void(const std::string& line)> on_loss;
};

/// Keeps a board, where options say so, for processes that join more than once: all of them then
/// join as clients, with another prefix each time. It is there until the result is gone. Throws
/// IoError where it cannot be kept.
std::shared_ptr<void> keep_store(const GroupOptions& options);

/// Returns when all have joined. Throws PeerLost, or IoError where the board cannot be kept.
std::shared_ptr<Communicator> join_group(const GroupOptions& options);

/// A board on the store that torchrun's agent keeps. Throws where it cannot be reached.
extern TorchFunction<std::unique_ptr<Board>(const GroupOptions& options)> connect_to_agent;

}  // namespace kindred
