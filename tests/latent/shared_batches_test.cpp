#include "kindred/latent/shared_batches.h"

#include <gtest/gtest.h>

#include "kindred/data/trajectories.h"
#include "kindred/dist/communicator.h"

namespace kindred::latent {
namespace {

/// So many processes, which have nothing to say.
class Silent final : public Communicator {
 public:
  explicit Silent(std::int64_t size) : size_(size) {}
  std::int64_t rank() const override { return 0; }
  std::int64_t size() const override { return size_; }
  void broadcast(std::span<std::byte>, std::int64_t) override {}
  void all_reduce(std::span<std::int64_t>) override {}
  void all_reduce(std::span<double>) override {}
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte>) override { return {}; }
  std::shared_ptr<std::byte> common_memory(std::size_t) override { return nullptr; }
  bool shares_memory() const override { return false; }
  void fail(const std::string&) override {}
  void leave() override {}
  std::int64_t bytes() const override { return 0; }

 private:
  std::int64_t size_;
};

bool shares(std::int64_t ranks, std::int64_t restarts, std::int64_t length, int threads = 1) {
  constexpr std::int64_t kEpisodes = 512;
  Trajectories data;
  std::vector<std::int64_t> offsets{0};
  for (std::int64_t i = 0; i < kEpisodes; ++i) offsets.push_back(offsets.back() + length);
  data.observations =
      Observations::dense(std::vector<float>(static_cast<std::size_t>(offsets.back())), 1);
  data.actions =
      Actions::discrete(std::vector<std::int32_t>(static_cast<std::size_t>(offsets.back())), 2);
  data.offsets = std::move(offsets);
  Options options;
  options.restarts = restarts;
  options.batch_trajectories = 64;  // four parts
  RunContext run;
  run.pool = std::make_shared<ThreadPool>(threads);
  run.communicator = std::make_shared<Silent>(ranks);
  return shares_batches(options, data, run);
}

TEST(SharedBatches, WhereRestartsAreFewerThanProcesses) {
  EXPECT_FALSE(shares(1, 1, 1000));
  EXPECT_TRUE(shares(2, 1, 1000));
  EXPECT_TRUE(shares(4, 2, 1000));
  EXPECT_TRUE(shares(2, 3, 1000));  // spread, one process would train two of the three
  EXPECT_FALSE(shares(2, 2, 1000));
  EXPECT_FALSE(shares(4, 8, 1000));
}

TEST(SharedBatches, NotWhereExchangingTakesLongerThanComputing) { EXPECT_FALSE(shares(2, 1, 13)); }

TEST(SharedBatches, NotWhereThreadsTakeAllParts) { EXPECT_FALSE(shares(2, 1, 1000, 4)); }

}  // namespace
}  // namespace kindred::latent
