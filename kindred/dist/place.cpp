#include "kindred/dist/place.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "kindred/core/error.h"

namespace kindred {
namespace {

constexpr std::int64_t kMostRanks = 64;  // each holds at least one part of the episodes
constexpr std::uint16_t kFirstPort = 20000;
constexpr std::uint64_t kPorts = 20000;

std::int64_t whole_number(const std::string& name, const std::string& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    throw InvalidArgument("{} is '{}', expected a whole number", name, text);
  return number;
}

/// A port that all processes with the same `seed` take.
std::string port_from(const std::string& seed) {
  std::uint64_t hash = 1469598103934665603U;
  for (const char c : seed) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return std::to_string(kFirstPort + hash % kPorts);
}

/// The first of the hosts that Slurm writes as "node[003-007,9],other".
std::string first_host(const std::string& list) {
  const auto bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const auto number_end = list.find_first_of("-,]", bracket);
  const auto tail = list.find(']', bracket);
  if (number_end == std::string::npos || tail == std::string::npos) return list;
  const auto after = list.find(',', tail);
  return list.substr(0, bracket) + list.substr(bracket + 1, number_end - bracket - 1) +
         list.substr(tail + 1, after == std::string::npos ? after : after - tail - 1);
}

/// A way of starting processes, and where it says what of each.
struct Starter {
  const char *name, *rank, *ranks, *on_this_host, *job;
};

// In the order in which they are asked. Slurm sets the second only for what srun starts.
constexpr Starter kStarters[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID"},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS_PER_NODE", "SLURM_JOB_ID"},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE",
     "PMIX_NAMESPACE"},
    {"PMI", "PMI_RANK", "PMI_SIZE", "MPI_LOCALNRANKS", "PMI_JOBID"},
};

/// Who started this process among others; null where nobody says so.
const Starter* find_starter(const Variables& variables) {
  for (const auto& one : kStarters)
    if (variables(one.rank) && variables(one.ranks)) return &one;
  return nullptr;
}

std::string slurm_address(const Variables& variables) {
  const auto hosts = variables("SLURM_STEP_NODELIST");
  const auto job = variables("SLURM_JOB_ID").value_or("") + variables("SLURM_STEP_ID").value_or("");
  return hosts ? first_host(*hosts) + ":" + port_from(job) : "";
}

/// Where all processes are on this host, they find each other by the one that started them.
std::string local_address(const Place& place, const Starter& starter, const Variables& variables) {
  if (place.on_this_host < place.group.size) return "";
  return "127.0.0.1:" + port_from(variables(starter.job).value_or(std::to_string(getppid())));
}

std::string address_of(const Place& place, const Starter& starter, const Variables& variables) {
  const auto host = variables("MASTER_ADDR"), port = variables("MASTER_PORT");
  if (host && port) return *host + ":" + *port;
  if (starter.name == std::string("Slurm")) return slurm_address(variables);
  return local_address(place, starter, variables);
}

void set_address(const std::string& address, GroupOptions& group) {
  const auto colon = address.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw InvalidArgument("the address '{}' is not HOST:PORT", address);
  group.address = address.substr(0, colon);
  const auto port = whole_number("the port of the address", address.substr(colon + 1));
  if (port < 1 || port > 65535)
    throw InvalidArgument("the address '{}' has no port from 1 to 65535", address);
  group.port = static_cast<std::uint16_t>(port);
}

void require_sensible(const GroupOptions& group) {
  if (group.rank >= group.size)
    throw InvalidArgument("rank {} is not one of {} ranks, which are numbered from 0", group.rank,
                          group.size);
  if (group.size > kMostRanks)
    throw InvalidArgument("{} ranks are too many, of at most {}; give each more threads",
                          group.size, kMostRanks);
}

}  // namespace

std::int64_t started_together(const Variables& variables) {
  const auto* starter = find_starter(variables);
  return starter ? whole_number(starter->ranks, *variables(starter->ranks)) : 1;
}

Place find_place(const RankFlags& flags, const Variables& variables) {
  Place place;
  auto& group = place.group;
  group.patience = std::chrono::milliseconds(std::llround(1000.0 * flags.patience));
  group.interface = variables("GLOO_SOCKET_IFNAME").value_or("");
  std::string address = flags.address;
  if (flags.rank >= 0 || flags.ranks > 0) {
    if (flags.rank < 0 || flags.ranks < 1 || (address.empty() && flags.ranks > 1))
      throw InvalidArgument("--rank, --ranks and --address belong together; give all three");
    group.rank = flags.rank;
    group.size = flags.ranks;
  } else {
    const auto* starter = find_starter(variables);
    if (!starter) return place;
    group.rank = whole_number(starter->rank, *variables(starter->rank));
    group.size = whole_number(starter->ranks, *variables(starter->ranks));
    if (const auto local = variables(starter->on_this_host))
      place.on_this_host = std::max<std::int64_t>(1, whole_number(starter->on_this_host, *local));
    if (address.empty()) address = address_of(place, *starter, variables);
    if (address.empty() && group.size > 1)
      throw InvalidArgument(
          "{} does not say where the first of {} processes listens; give --address HOST:PORT, or "
          "set MASTER_ADDR and MASTER_PORT",
          starter->name, group.size);
    group.store_is_apart = variables("TORCHELASTIC_USE_AGENT_STORE") == "True";
    group.prefix = "kindred/" + variables("TORCHELASTIC_RESTART_COUNT").value_or("0") + "/";
  }
  if (group.size < 2) return place;
  require_sensible(group);
  set_address(address, group);
  group.keeps_store = group.rank == 0 && !group.store_is_apart;
  return place;
}

}  // namespace kindred
