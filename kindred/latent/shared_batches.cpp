#include "kindred/latent/shared_batches.h"

#include "kindred/core/progress.h"
#include "kindred/data/trajectories.h"
#include "kindred/dist/communicator.h"
#include "kindred/latent/batches.h"

namespace kindred::latent {
namespace {

// What a core and loopback did (docs/scale.md): seconds per step of a trajectory and parameter in
// training, per process and training step in which all wait for it, and per byte of a gradient.
constexpr double kPerStep = 1e-10, kPerTurn = 2e-3, kPerByte = 2e-9;

/// As many as the autoencoder has, about.
double parameters(const Options& options, const Trajectories& data) {
  const auto& actions = data.actions;
  const auto step =
      data.observations.dim() + (actions.is_discrete() ? actions.count() : actions.dim());
  const auto h = options.hidden, m = options.gru_width,
             features = options.heads * options.head_size;
  const AutoencoderArchitecture usual;
  const auto encoder = h * (step + h + 3 * m + m + 2 * features) + 3 * m * m;
  const auto decoder = usual.decoder1 * (features + step + usual.decoder2);
  return static_cast<double>(encoder + decoder);
}

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

bool shares_batches(const Options& resolved, const Trajectories& data, const RunContext& run) {
  const auto ranks = ranks_of(run).size();
  if (ranks == 1 || run.device != "cpu") return false;
  const std::int64_t threads = run.pool->threads();
  const auto parts = divided_up(resolved.batch_trajectories, kPartSize);
  const auto numbers = parameters(resolved, data);
  const auto steps = static_cast<double>(resolved.batch_trajectories * data.steps()) /
                     static_cast<double>(parts * data.episodes());
  // Seconds of a training step of every restart, one after the other.
  const auto computing = [&](std::int64_t rounds) {
    return static_cast<double>(rounds) * kPerStep * steps * numbers;
  };
  const auto alone = computing(divided_up(parts, threads));
  const auto shared = computing(divided_up(divided_up(parts, ranks), threads)) +
                      static_cast<double>(ranks) * (kPerTurn + kPerByte * sizeof(float) * numbers);
  return static_cast<double>(resolved.restarts) * shared <
         static_cast<double>(divided_up(resolved.restarts, ranks)) * alone;
}

std::unique_ptr<PartSharing> share_parts(const RunContext& run) {
  if (ranks_of(run).size() == 1) return nullptr;
  return std::make_unique<SharedParts>(run.communicator);
}

}  // namespace kindred::latent
