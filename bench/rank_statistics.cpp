// The statistics of episodes by one process, and by several that share memory or send each other
// their part, in turns: what each takes by the clock and in CPU seconds of the busiest.
//
//   rank_statistics FILE [ranks=2] [turns=5] [episodes=1000] [cosines=60]
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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

double cpu_seconds() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

Times measure(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
              Communicator& ranks) {
  const Workers one(1);
  meet(ranks);
  const Stopwatch clock;
  const double before = cpu_seconds();
  const KeptSums sums(data, map, targets, one, "cpu", ranks);
  const double cpu = cpu_seconds() - before;
  meet(ranks);
  return {clock.seconds(), cpu};
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

int run(int argc, char** argv) {
  const auto number = [&](int i, std::int64_t usual) {
    return argc > i ? std::int64_t{std::atoll(argv[i])} : usual;
  };
  const auto size = number(2, 2), turns = number(3, 5), episodes = number(4, 1000);
  DatasetOptions reading;
  reading.files = {argv[1]};
  auto data = reading.load().data;
  std::vector<std::int64_t> some(static_cast<std::size_t>(std::min(episodes, data.episodes())));
  std::iota(some.begin(), some.end(), 0);
  data = select_episodes(data, some);
  const FeatureMap map(data.observations, number(5, 60));
  const ActionTargets targets(data.actions);
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
    options.port = static_cast<std::uint16_t>(20000 + ::getppid() % 20000);
    options.keeps_store = rank == 0;
    const auto ranks = join_group(options);
    options.port = static_cast<std::uint16_t>(options.port + 1);
    options.shares_memory = false;
    const auto senders = join_group(options);
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      if (rank == 0) of(turn, rank, 0) = measure(data, map, targets, *one_process());
      of(turn, rank, 1) = measure(data, map, targets, *ranks);
      of(turn, rank, 2) = measure(data, map, targets, *senders);
    }
    senders->leave();
    ranks->leave();
    std::_Exit(0);
  }
  for (std::int64_t rank = 0; rank < size; ++rank) ::wait(nullptr);
  const KeptSums sums(data, map, targets, Workers(1));
  fmt::print("{} episodes, {} steps, {:.1f} MB of statistics, {} processes, median of {}\n",
             data.episodes(), data.steps(),
             8e-6 * static_cast<double>((sums.pieces() + sums.episodes()) * sums.layout().size()),
             size, turns);
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
  return 0;
}

}  // namespace
}  // namespace kindred

int main(int argc, char** argv) {
  if (argc > 1) return kindred::run(argc, argv);
  fmt::print("rank_statistics FILE [ranks=2] [turns=5] [episodes=1000] [cosines=60]\n");
  return 2;
}
