#include "kindred/dist/board.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "kindred/core/error.h"

namespace kindred {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Nobody listens there for now.
std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  auto address = loopback(0);
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

TEST(Board, AllSeeWhatOneHasSet) {
  const auto port = free_port();
  const auto kept = keep_board("127.0.0.1", port);
  const auto one = connect_to_board("127.0.0.1", port, seconds(5));
  const auto other = connect_to_board("localhost", port, seconds(5));
  EXPECT_EQ(other->get("key"), std::nullopt);
  one->set("key", "");
  EXPECT_EQ(other->get("key"), "");
  const std::string bytes("\0\n\xff", 3);
  other->set("key", bytes);
  EXPECT_EQ(one->get("key"), bytes);
  EXPECT_EQ(one->set_once("key", "late"), bytes);
  EXPECT_EQ(one->set_once("verdict", "first"), "first");
  EXPECT_EQ(other->set_once("verdict", "second"), "first");
}

TEST(Board, ManyAskAtOnce) {
  const auto port = free_port();
  const auto kept = keep_board("127.0.0.1", port);
  std::vector<std::thread> threads;
  for (int n = 0; n < 16; ++n)
    threads.emplace_back([=] {
      const auto own = connect_to_board("127.0.0.1", port, seconds(5));
      for (int i = 0; i < 50; ++i) {
        own->set("key/" + std::to_string(n), std::to_string(i));
        EXPECT_EQ(own->get("key/" + std::to_string(n)), std::to_string(i));
      }
    });
  for (auto& thread : threads) thread.join();
}

TEST(Board, WhoComesBeforeTheKeeperWaits) {
  const auto port = free_port();
  std::thread early([=] {
    const auto own = connect_to_board("127.0.0.1", port, seconds(5));
    own->set("key", "value");
  });
  std::this_thread::sleep_for(milliseconds(200));
  const auto kept = keep_board("127.0.0.1", port);
  early.join();
  EXPECT_EQ(connect_to_board("127.0.0.1", port, seconds(5))->get("key"), "value");
}

TEST(Board, IsGoneWithItsKeeper) {
  const auto port = free_port();
  auto kept = keep_board("127.0.0.1", port);
  const auto own = connect_to_board("127.0.0.1", port, seconds(5));
  own->set("key", "value");
  kept.reset();
  EXPECT_THROW(own->get("key"), IoError);
  EXPECT_THROW(connect_to_board("127.0.0.1", port, milliseconds(200)), IoError);
}

TEST(Board, OnePortHasOneKeeper) {
  const auto port = free_port();
  const auto kept = keep_board("127.0.0.1", port);
  EXPECT_THROW(keep_board("127.0.0.1", port), IoError);
}

TEST(Board, StrangersDoNotDisturb) {
  const auto port = free_port();
  const auto kept = keep_board("127.0.0.1", port);
  const int stranger = ::socket(AF_INET, SOCK_STREAM, 0);
  const auto address = loopback(port);
  ASSERT_EQ(::connect(stranger, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  const std::string words = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_EQ(::send(stranger, words.data(), words.size(), MSG_NOSIGNAL), std::ssize(words));
  const auto own = connect_to_board("127.0.0.1", port, seconds(5));
  own->set("key", "value");
  EXPECT_EQ(own->get("key"), "value");
  ::close(stranger);
}

TEST(Board, AnotherProgramIsNotTakenForOne) {
  const int listening = ::socket(AF_INET, SOCK_STREAM, 0);
  auto address = loopback(0);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listening, 1), 0);
  ::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size);
  EXPECT_THROW(connect_to_board("127.0.0.1", ntohs(address.sin_port), milliseconds(300)), IoError);
  ::close(listening);
}

}  // namespace
}  // namespace kindred
