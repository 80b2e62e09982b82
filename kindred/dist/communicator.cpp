#include "kindred/dist/communicator.h"

namespace kindred {
namespace {

class OneProcess final : public Communicator {
 public:
  std::int64_t rank() const override { return 0; }
  std::int64_t size() const override { return 1; }
  void broadcast(std::span<std::byte>, std::int64_t) override {}
  void all_reduce(std::span<std::int64_t>) override {}
  void all_reduce(std::span<double>) override {}
  std::vector<std::vector<std::byte>> gather(std::span<const std::byte> own) override {
    return {std::vector<std::byte>(own.begin(), own.end())};
  }
  std::shared_ptr<std::byte> common_memory(std::size_t) override { return nullptr; }
  bool shares_memory() const override { return false; }
  void fail(const std::string&) override {}
  void leave() override {}
  std::int64_t bytes() const override { return 0; }
};

}  // namespace

std::shared_ptr<Communicator> one_process() {
  static const auto alone = std::make_shared<OneProcess>();
  return alone;
}

Communicator& ranks_of(const RunContext& run) {
  return run.communicator ? *run.communicator : *one_process();
}

void meet(Communicator& ranks) {
  std::int64_t here = 1;
  ranks.all_reduce({&here, 1});
}

Share share_of(std::int64_t count, std::int64_t rank, std::int64_t ranks) {
  return {count * rank / ranks, count * (rank + 1) / ranks};
}

}  // namespace kindred
