// A dataset of any size for measuring how Kindred scales: several noisy policies act in a made-up
// world of 17 numbers, 1,000 steps at a time. It is made in scratch files and written as a Kindred
// file, so that it may be larger than memory.
//
//   scale_data STEPS FILE MEMORY      as in: scale_data 100000000 big.h5 2GB
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/options.h"
#include "kindred/core/random.h"
#include "kindred/core/resources.h"
#include "kindred/core/thread_pool.h"
#include "kindred/data/formats.h"
#include "kindred/data/memory_promise.h"
#include "kindred/data/sparse.h"

namespace {

constexpr std::int64_t kLength = 1000;  // of an episode
constexpr std::size_t kSeen = 17, kDone = 6, kPolicies = 5;
constexpr float kNoise = 0.5f;  // of an action
constexpr float kDrift = 0.3f;  // of the world

using Matrix = std::array<float, kSeen * kDone>;

Matrix draw(std::string_view name, std::uint64_t number, double scale) {
  kindred::Random random(0, name, number);
  Matrix matrix;
  for (auto& x : matrix) x = static_cast<float>(scale * random.normal());
  return matrix;
}

/// What the actions do to the world, and what the policies have in common and apart.
struct World {
  Matrix push = draw("push", 0, 0.03);
  std::array<Matrix, kPolicies> policies;

  World() {
    const auto common = draw("common", 0, 0.3);
    for (std::size_t k = 0; k < kPolicies; ++k) {
      policies[k] = draw("policy", k, 0.1);
      for (std::size_t i = 0; i < common.size(); ++i) policies[k][i] += common[i];
    }
  }

  void act(std::int64_t episode, std::size_t policy, float* seen, float* done,
           float* rewards) const {
    kindred::Random random(1, "episode", static_cast<std::uint64_t>(episode));
    std::array<float, kSeen> state;
    for (auto& x : state) x = static_cast<float>(random.normal());
    for (std::int64_t t = 0; t < kLength; ++t, seen += kSeen, done += kDone) {
      std::ranges::copy(state, seen);
      float effort = 0.0f;
      for (std::size_t a = 0; a < kDone; ++a) {
        float action = kNoise * static_cast<float>(random.normal());
        for (std::size_t s = 0; s < kSeen; ++s)
          action += policies[policy][s * kDone + a] * state[s];
        done[a] = action;
        effort += action * action;
      }
      for (std::size_t s = 0; s < kSeen; ++s) {
        state[s] = 0.8f * state[s] + kDrift * static_cast<float>(random.normal());
        for (std::size_t a = 0; a < kDone; ++a) state[s] += push[s * kDone + a] * done[a];
      }
      rewards[t] = state[0] - 0.1f * effort;
    }
  }
};

void make(std::int64_t steps, const std::filesystem::path& file, std::int64_t memory) {
  std::unique_ptr<kindred::MemoryPromise> promise;
  if (memory > 0)
    promise = std::make_unique<kindred::MemoryPromise>(
        memory, std::filesystem::absolute(file).parent_path());
  const auto episodes = std::max<std::int64_t>(1, steps / kLength);
  const auto rows = episodes * kLength;
  kindred::NewColumn<float> seen(rows * static_cast<std::int64_t>(kSeen), false);
  kindred::NewColumn<float> done(rows * static_cast<std::int64_t>(kDone), false);
  kindred::NewColumn<float> rewards(rows, false);
  kindred::Trajectories data;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> labels;
  kindred::Random random(2, "labels");
  for (std::int64_t i = 0; i < episodes; ++i) {
    offsets.push_back((i + 1) * kLength);
    labels.push_back(static_cast<std::int32_t>(random.below(kPolicies)));
    data.ids.push_back(std::to_string(i));
  }
  const World world;
  kindred::ThreadPool().chunks(episodes, 1, [&](std::int64_t i, std::int64_t) {
    world.act(i, static_cast<std::size_t>(labels[static_cast<std::size_t>(i)]),
              seen.data() + i * kLength * static_cast<std::int64_t>(kSeen),
              done.data() + i * kLength * static_cast<std::int64_t>(kDone),
              rewards.data() + i * kLength);
  });
  data.offsets = std::move(offsets);
  data.observations = kindred::Observations::dense(seen.column(), kSeen);
  data.actions = kindred::Actions::continuous(done.column(), kDone);
  data.rewards = rewards.column();
  data.labels = std::move(labels);
  data.provenance = {{"generator", "scale_data"}, {"policies", kPolicies}};
  kindred::write_trajectories(data, file, kindred::Format::kKindred);
  fmt::print("{} steps, {} episodes, {} bytes, peak {:.0f} MB\n", rows, episodes,
             std::filesystem::file_size(file), kindred::peak_rss_mb());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 4) {
    fmt::print(stderr, "usage: scale_data STEPS FILE MEMORY (as 2GB, or none)\n");
    return 2;
  }
  std::int64_t steps = 0, memory = 0;
  kindred::set_from_text(kindred::integer("steps", steps, 1, 1'000'000'000'000, ""), argv[1]);
  kindred::set_from_text(kindred::bytes("memory", memory, ""), argv[3]);
  make(steps, argv[2], memory);
  return 0;
} catch (const kindred::Error& error) {
  fmt::print(stderr, "scale_data: {}\n", error.what());
  return 2;
}
