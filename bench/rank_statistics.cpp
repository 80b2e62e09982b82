// The statistics of episodes by one process, and by several that share memory or send each other
// their part, in turns: what each takes by the clock and in CPU seconds of the busiest. First those
// that a search keeps of some episodes, then the sums of five clusters over all of them.
//
//   rank_statistics FILE [ranks=2] [turns=5] [episodes=1000] [cosines=60]
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>

#include "kindred/core/stopwatch.h"
#include "kindred/data/select.h"
#include "kindred/dist/group.h"
#include "kindred/policies/episode_statistics.h"
#include "kindred/runs/dataset.h"

namespace kindred {
namespace {

struct Times {
  double clock = 0.0, cpu = 0.0;
};

constexpr const char* kWays[] = {"one", "several, in common memory", "several, sent"};
constexpr std::int64_t kWayCount = std::ssize(kWays);
constexpr std::int64_t kClusters = 5;

double cpu_seconds() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

using Work = std::function<void(Communicator& ranks)>;

Times measure(const Work& work, Communicator& ranks) {
  meet(ranks);
  const Stopwatch clock;
  const double before = cpu_seconds();
  work(ranks);
  const double cpu = cpu_seconds() - before;
  meet(ranks);
  return {clock.seconds(), cpu};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void compare(const Work& work, std::int64_t size, std::int64_t turns) {
  static std::uint16_t port = static_cast<std::uint16_t>(20000 + ::getpid() % 20000);
  const auto count = static_cast<std::size_t>(turns * size * kWayCount);
  auto* shared = static_cast<Times*>(::mmap(nullptr, count * sizeof(Times), PROT_READ | PROT_WRITE,
                                            MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  const auto of = [&](std::int64_t turn, std::int64_t rank, std::int64_t way) -> Times& {
    return shared[(turn * size + rank) * kWayCount + way];
  };
  for (std::int64_t rank = 0; rank < size; ++rank) {
    if (::fork() != 0) continue;
    GroupOptions options;
    options.rank = rank;
    options.size = size;
    options.address = "127.0.0.1";
    options.port = port;
    options.keeps_store = rank == 0;
    const auto ranks = join_group(options);
    options.port = static_cast<std::uint16_t>(port + 1);
    options.shares_memory = false;
    const auto senders = join_group(options);
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      if (rank == 0) of(turn, rank, 0) = measure(work, *one_process());
      of(turn, rank, 1) = measure(work, *ranks);
      of(turn, rank, 2) = measure(work, *senders);
    }
    senders->leave();
    ranks->leave();
    std::_Exit(0);
  }
  for (std::int64_t rank = 0; rank < size; ++rank) ::wait(nullptr);
  port = static_cast<std::uint16_t>(port + 2);
  for (std::int64_t way = 0; way < kWayCount; ++way) {
    std::vector<double> clock, cpu, faster_clock, faster_cpu;
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      double busiest = 0.0;
      for (std::int64_t rank = 0; rank < size; ++rank)
        busiest = std::max(busiest, of(turn, rank, way).cpu);
      clock.push_back(of(turn, 0, way).clock);
      cpu.push_back(busiest);
      faster_clock.push_back(of(turn, 0, 0).clock / clock.back());
      faster_cpu.push_back(of(turn, 0, 0).cpu / busiest);
    }
    fmt::print(
        "{:26} {:.4f} s, CPU {:.4f} s of the busiest; faster: {:.2f} by the clock, {:.2f} by CPU\n",
        kWays[way], median(clock), median(cpu), median(faster_clock), median(faster_cpu));
  }
}

int run(int argc, char** argv) {
  const auto number = [&](int i, std::int64_t usual) {
    return argc > i ? std::int64_t{std::atoll(argv[i])} : usual;
  };
  const auto size = number(2, 2), turns = number(3, 5), episodes = number(4, 1000);
  DatasetOptions reading;
  reading.files = {argv[1]};
  const auto all = reading.load().data;
  std::vector<std::int64_t> some(static_cast<std::size_t>(std::min(episodes, all.episodes())));
  std::iota(some.begin(), some.end(), 0);
  const auto searched = select_episodes(all, some);
  const FeatureMap map(searched.observations, number(5, 60));
  const ActionTargets targets(searched.actions);
  const StatisticsLayout layout{map.count(), targets.count()};
  std::int64_t rows = 0;
  for (std::int64_t i = 0; i < searched.episodes(); ++i)
    rows += 1 + std::ssize(pieces_of(0, searched.length(i)));

  fmt::print("{} processes, medians of {}\n", size, turns);
  fmt::print("Kept of {} episodes, {} steps: {:.1f} MB\n", searched.episodes(), searched.steps(),
             8e-6 * static_cast<double>(rows * layout.size()));
  compare(
      [&](Communicator& ranks) {
        const KeptSums sums(searched, map, targets, Workers(1), "cpu", ranks);
      },
      size, turns);

  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < all.episodes(); ++i)
    labels.push_back(static_cast<std::int32_t>(i % kClusters));
  fmt::print("Sums of {} clusters over {} episodes, {} steps\n", kClusters, all.episodes(),
             all.steps());
  compare(
      [&](Communicator& ranks) {
        cluster_sums(all, map, targets, labels, kClusters, Workers(1), "cpu", ranks);
      },
      size, turns);
  return 0;
}

}  // namespace
}  // namespace kindred

int main(int argc, char** argv) {
  if (argc > 1) return kindred::run(argc, argv);
  fmt::print("rank_statistics FILE [ranks=2] [turns=5] [episodes=1000] [cosines=60]\n");
  return 2;
}
