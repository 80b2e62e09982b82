// Ranks of one run in the threads of a test, over loopback.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "kindred/dist/group.h"

namespace kindred::testing {

inline std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) return 0;
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

inline GroupOptions member(std::int64_t rank, std::int64_t size, std::uint16_t port) {
  GroupOptions options;
  options.rank = rank;
  options.size = size;
  options.address = "127.0.0.1";
  options.port = port;
  options.keeps_store = rank == 0;
  options.patience = std::chrono::seconds(5);
  return options;
}

/// Each rank does the same, and leaves in the end.
inline void together(std::int64_t size,
                     const std::function<void(std::shared_ptr<Communicator>)>& action,
                     bool shares_memory = true) {
  const auto port = free_port();
  std::vector<std::thread> ranks;
  for (std::int64_t r = 0; r < size; ++r)
    ranks.emplace_back([&, r] {
      auto options = member(r, size, port);
      options.shares_memory = shares_memory;
      const auto own = join_group(options);
      action(own);
      own->leave();
    });
  for (auto& rank : ranks) rank.join();
}

}  // namespace kindred::testing
