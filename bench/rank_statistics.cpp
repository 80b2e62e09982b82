// The statistics of episodes by one process, and shared by several, in turns: what each takes by
// the clock and in CPU seconds of the busiest, and how much of that is sending.
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
  double clock = 0.0, cpu = 0.0, sending = 0.0;
};

double cpu_seconds() {
  rusage used = {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return of(used.ru_utime) + of(used.ru_stime);
}

/// Waits for all, so that the clock tells the work and not who came first.
void meet(Communicator& ranks) {
  std::int64_t here = 1;
  ranks.all_reduce({&here, 1});
}

/// CPU seconds of exchanging as much as the statistics are, without making them.
double sending(std::int64_t numbers, Communicator& ranks) {
  std::vector<double> all(static_cast<std::size_t>(numbers), 1.0);
  std::vector<Share> shares;
  for (std::int64_t r = 0; r < ranks.size(); ++r)
    shares.push_back(share_of(numbers, r, ranks.size()));
  meet(ranks);
  const double before = cpu_seconds();
  exchange(ranks, shares, 1, std::span(all));
  return cpu_seconds() - before;
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
  const double seconds = clock.seconds();
  return {seconds, cpu,
          ranks.size() == 1 ? 0.0 : sending(sums.pieces() * sums.layout().size(), ranks)};
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
  const auto count = static_cast<std::size_t>(turns * size);
  auto* shared =
      static_cast<Times*>(::mmap(nullptr, 2 * count * sizeof(Times), PROT_READ | PROT_WRITE,
                                 MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  for (std::int64_t rank = 0; rank < size; ++rank) {
    if (::fork() != 0) continue;
    GroupOptions options;
    options.rank = rank;
    options.size = size;
    options.address = "127.0.0.1";
    options.port = static_cast<std::uint16_t>(20000 + ::getppid() % 20000);
    options.keeps_store = rank == 0;
    const auto ranks = join_group(options);
    for (std::int64_t turn = 0; turn < turns; ++turn) {
      auto* alone = shared + 2 * (turn * size + rank);
      if (rank == 0) alone[0] = measure(data, map, targets, *one_process());
      alone[1] = measure(data, map, targets, *ranks);
    }
    ranks->leave();
    std::_Exit(0);
  }
  for (std::int64_t rank = 0; rank < size; ++rank) ::wait(nullptr);
  std::vector<double> clock, cpu, sent, alone_clock, alone_cpu, faster_clock, faster_cpu;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    const auto of = [&](std::int64_t rank, int which) {
      return shared[2 * (turn * size + rank) + which];
    };
    double busiest = 0.0, sending_cpu = 0.0;
    for (std::int64_t rank = 0; rank < size; ++rank) {
      busiest = std::max(busiest, of(rank, 1).cpu);
      sending_cpu = std::max(sending_cpu, of(rank, 1).sending);
    }
    alone_clock.push_back(of(0, 0).clock);
    alone_cpu.push_back(of(0, 0).cpu);
    clock.push_back(of(0, 1).clock);
    cpu.push_back(busiest);
    sent.push_back(sending_cpu);
    faster_clock.push_back(alone_clock.back() / clock.back());
    faster_cpu.push_back(alone_cpu.back() / busiest);
  }
  const KeptSums sums(data, map, targets, Workers(1));
  fmt::print("{} episodes, {} steps, {:.1f} MB of statistics, {} processes, median of {}\n",
             data.episodes(), data.steps(),
             8e-6 * static_cast<double>(sums.pieces() * sums.layout().size()), size, turns);
  fmt::print("one:     {:.3f} s, CPU {:.3f} s\n", median(alone_clock), median(alone_cpu));
  fmt::print("several: {:.3f} s, CPU {:.3f} s of the busiest, of which sending {:.3f} s\n",
             median(clock), median(cpu), median(sent));
  fmt::print("faster:  {:.2f} by the clock, {:.2f} by CPU\n", median(faster_clock),
             median(faster_cpu));
  return 0;
}

}  // namespace
}  // namespace kindred

int main(int argc, char** argv) {
  if (argc > 1) return kindred::run(argc, argv);
  fmt::print("rank_statistics FILE [ranks=2] [turns=5] [episodes=1000] [cosines=60]\n");
  return 2;
}
