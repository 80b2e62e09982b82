#include "kindred/latent/shared_batches.h"

#include "kindred/core/progress.h"
#include "kindred/dist/communicator.h"
#include "kindred/latent/batches.h"

namespace kindred::latent {
namespace {

/// Exchanging what a training step leaves costs about as much as so much of computing a part.
constexpr double kExchange = 0.1;

std::int64_t divided_up(std::int64_t count, std::int64_t by) { return (count + by - 1) / by; }

class SharedParts final : public PartSharing {
 public:
  explicit SharedParts(std::shared_ptr<Communicator> ranks) : ranks_(std::move(ranks)) {}

  bool is_own(std::int64_t part, std::int64_t parts) const override {
    const auto own = share_of(parts, ranks_->rank(), ranks_->size());
    return part >= own.begin && part < own.end;
  }

  void exchange(std::span<float> rows, std::int64_t width,
                std::span<const std::int64_t> begins) override {
    std::vector<Share> shares;
    for (std::int64_t r = 0; r < ranks_->size(); ++r) {
      const auto own = share_of(std::ssize(begins) - 1, r, ranks_->size());
      shares.push_back(
          {begins[static_cast<std::size_t>(own.begin)], begins[static_cast<std::size_t>(own.end)]});
    }
    kindred::exchange(*ranks_, shares, width, rows);
  }

  void add_in_turn(std::span<float> sum, std::int64_t parts,
                   const std::function<void()>& add_own) override {
    for (std::int64_t r = 0; r < ranks_->size(); ++r) {
      if (share_of(parts, r, ranks_->size()).size() == 0) continue;
      if (r == ranks_->rank()) add_own();
      ranks_->broadcast(std::as_writable_bytes(sum), r);
    }
  }

 private:
  std::shared_ptr<Communicator> ranks_;
};

}  // namespace

bool shares_batches(const Options& resolved, const RunContext& run) {
  const auto ranks = ranks_of(run).size();
  if (ranks == 1 || run.device != "cpu") return false;
  const std::int64_t threads = run.pool->threads();
  const auto parts = divided_up(resolved.batch_trajectories, kPartSize);
  const auto restarts = static_cast<double>(resolved.restarts);
  const auto spread = divided_up(resolved.restarts, ranks) * divided_up(parts, threads);
  const auto shared = divided_up(divided_up(parts, ranks), threads);
  return restarts * (static_cast<double>(shared) + kExchange * static_cast<double>(ranks)) <
         static_cast<double>(spread);
}

std::unique_ptr<PartSharing> share_parts(const RunContext& run) {
  if (ranks_of(run).size() == 1) return nullptr;
  return std::make_unique<SharedParts>(run.communicator);
}

}  // namespace kindred::latent
