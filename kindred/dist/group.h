// Joining the processes of a run through LibTorch's c10d: a store of keys and values that one
// process keeps, and Gloo between all of them.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kindred/core/late_part.h"
#include "kindred/dist/communicator.h"

namespace kindred {

struct GroupOptions {
  std::int64_t rank = 0;
  std::int64_t size = 1;
  std::string address;          ///< Of the process that keeps the store.
  std::uint16_t port = 0;       ///< Where it listens.
  bool keeps_store = false;     ///< Whether this is that process.
  bool store_is_apart = false;  ///< Another keeps it than the first rank: the agent of torchrun.
  std::string prefix;           ///< Before all keys, so that another run may use the same store.
  bool shares_memory = true;    ///< Where all ranks are on one machine.
  std::string interface;        ///< The network device to use; empty: that of the host's name.
  /// How long a silent process is waited for.
  std::chrono::milliseconds patience{20000};
  /// Called once, on a thread of its own, when another process is lost: whoever waits for it cannot
  /// be told, so a program that wants to end has to end here. May be empty.
  std::function<void(const std::string& line)> on_loss;
};

/// Keeps a store, where options say so, for processes that join more than once: all of them then
/// join as clients, with another prefix each time. It is there until the result is gone. Throws
/// IoError where it cannot be kept.
extern TorchFunction<std::shared_ptr<void>(const GroupOptions& options)> keep_store;

/// Returns when all have joined. Throws PeerLost, or IoError where the store cannot be kept.
extern TorchFunction<std::shared_ptr<Communicator>(const GroupOptions& options)> join_group;

}  // namespace kindred
