#include "ranks.h"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "command.h"
#include "kindred/core/words.h"
#include "streams.h"

namespace kindred::app {

void add_rank_flags(CLI::App& command, RankFlags& flags) {
  const auto* group = "Several processes";
  command.add_option("--rank", flags.rank, "Which of the processes this one is, from 0")
      ->group(group);
  command.add_option("--ranks", flags.ranks, "How many processes share the run")->group(group);
  command
      .add_option("--address", flags.address,
                  wrapped("Where the first of them listens. torchrun, srun and mpirun give all "
                          "three",
                          kHelpWidth))
      ->type_name("HOST:PORT")
      ->group(group);
  command
      .add_option("--patience", flags.patience,
                  wrapped("Seconds after which a silent process counts as lost, and the others end",
                          kHelpWidth))
      ->check(CLI::Range(1.0, 3600.0))
      ->group(group);
}

namespace {

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

Place find_place(const RankFlags& flags) { return find_place(flags, variable); }

int threads_for(const Place& place, std::int64_t asked) {
  if (asked > 0 || place.on_this_host == 1) return static_cast<int>(asked);
  const auto cores = static_cast<std::int64_t>(std::thread::hardware_concurrency());
  return static_cast<int>(std::max<std::int64_t>(1, cores / place.on_this_host));
}

std::shared_ptr<Communicator> join(const Place& place) {
  if (place.group.size < 2) return nullptr;
  // LibTorch's own words about sockets; what matters is said in ours.
  ::setenv("TORCH_CPP_LOG_LEVEL", "FATAL", 0);
  ::setenv("GLOG_minloglevel", "3", 0);
  auto group = place.group;
  group.on_loss = [](const std::string& line) {
    write_to_people("kindred: " + printable(line) + "; what was saved goes on with --resume\n");
    std::_Exit(kLostPeer);
  };
  return join_group(group);
}

}  // namespace kindred::app
