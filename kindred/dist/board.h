// Keys and values that all processes of a run see: where they meet, and where each says that it is
// alive. One process keeps them, the others connect to it over TCP.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace kindred {

/// A call may take for ever where the keeper is gone, or throw. From one thread at a time.
class Board {
 public:
  virtual ~Board() = default;
  virtual void set(const std::string& key, const std::string& value) = 0;
  /// Nothing where nobody has set it.
  virtual std::optional<std::string> get(const std::string& key) = 0;
  /// Sets the key unless somebody has; returns what it is then.
  virtual std::string set_once(const std::string& key, const std::string& value) = 0;
};

/// Keeps a board until the result is gone, for who connects at `port`: of this machine alone where
/// the address is one of its own. Throws IoError.
std::shared_ptr<void> keep_board(const std::string& address, std::uint16_t port);

/// Tries until somebody keeps one there. Throws IoError where nobody does so in time.
std::unique_ptr<Board> connect_to_board(const std::string& address, std::uint16_t port,
                                        std::chrono::milliseconds patience);

/// Whether it is an address by which no other machine reaches this one.
bool is_loopback(const std::string& address);

}  // namespace kindred
