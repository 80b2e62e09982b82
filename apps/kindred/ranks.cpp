#include "ranks.h"

#include <cstdlib>

#include "command.h"
#include "kindred/core/error.h"
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

void require_one_process(const std::string& command) {
  if (const auto count = started_together(variable); count > 1)
    throw InvalidArgument(
        "{} processes were started together, and only one can do 'kindred {}'; start one, or set "
        "RANK=0 and WORLD_SIZE=1 where each has work of its own",
        count, command);
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
