// Calls one function of each room a user starts with, from the installed headers and libraries.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/random.h"
#include "kindred/core/version.h"
#include "kindred/data/array_file.h"
#include "kindred/data/trajectories.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/nn/device.h"

int main() {
  kindred::Random random(1, "install-test");
  const std::vector<float> rewards = {1.0F, 2.0F, static_cast<float>(random.uniform())};

  kindred::Trajectories data;
  data.offsets = std::vector<std::int64_t>{0, 2, 3};
  data.rewards = rewards;
  const std::vector<double> returns = kindred::episode_returns(data);

  const std::filesystem::path path = "consumer.h5";
  kindred::ArrayFileWriter writer(path);
  writer.write("rewards", rewards);
  writer.close();
  const bool kept = kindred::ArrayFileReader(path).read<float>("rewards").values == rewards;
  std::filesystem::remove(path);

  kindred::Matrix scores(2, 2);
  scores(0, 1) = 1.0;
  scores(1, 0) = 1.0;
  const std::vector<std::int32_t> labels = kindred::best_columns(scores);
  const std::vector<std::int32_t> truth = {0, 1};
  const double nmi = kindred::normalized_mutual_information(labels, truth);

  // Opens the library that needs LibTorch, which this program does not link.
  const char* gpu = kindred::has_cuda() ? "a GPU" : "no GPU";

  std::printf("kindred %s: %zu returns, NMI %.2f, %s\n", kindred::kVersion, returns.size(), nmi,
              gpu);
  return returns.size() == 2 && returns[0] == 3.0 && kept && nmi > 0.999 ? 0 : 1;
}
