// A search by several ranks, in the threads of one process: the same bits as by one, whether they
// share memory or send.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "kindred/dist/group.h"
#include "kindred/policies/partition_search.h"
#include "tests/clustering/synthetic.h"

namespace kindred {
namespace {

std::uint16_t free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address));
  socklen_t size = sizeof(address);
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size);
  ::close(socket);
  return ntohs(address.sin_port);
}

SearchResult search(const Trajectories& data, std::shared_ptr<Communicator> ranks) {
  RunContext run;
  run.pool = std::make_shared<ThreadPool>(1);
  run.communicator = std::move(ranks);
  return search_partitions(data, {.starts = 6}, run);
}

void expect_same(const SearchResult& found, const SearchResult& wanted) {
  EXPECT_EQ(found.chosen, wanted.chosen);
  ASSERT_EQ(found.answers.size(), wanted.answers.size());
  for (std::size_t i = 0; i < found.answers.size(); ++i) {
    const auto &one = found.answers[i], &other = wanted.answers[i];
    EXPECT_EQ(one.fit.labels, other.fit.labels);
    EXPECT_EQ(one.held_out.v, other.held_out.v);
    EXPECT_EQ(one.separation, other.separation);
    EXPECT_EQ(one.checked, other.checked);
  }
}

TEST(SearchOverRanks, HasTheSameBits) {
  const auto data = testing::linear_control(
      {.episodes = 24, .length = 450, .obs_dim = 4, .policies = 3}, 5);  // two pieces an episode
  const auto alone = search(data, nullptr);
  for (const bool shares_memory : {true, false})
    for (const std::int64_t size : {2, 3}) {
      const auto port = free_port();
      std::vector<std::thread> ranks;
      for (std::int64_t r = 0; r < size; ++r)
        ranks.emplace_back([&, r] {
          GroupOptions options;
          options.rank = r;
          options.size = size;
          options.address = "127.0.0.1";
          options.port = port;
          options.keeps_store = r == 0;
          options.shares_memory = shares_memory;
          const auto own = join_group(options);
          expect_same(search(data, own), alone);
          EXPECT_EQ(own->shares_memory(), shares_memory);
          own->leave();
        });
      for (auto& rank : ranks) rank.join();
    }
}

}  // namespace
}  // namespace kindred
