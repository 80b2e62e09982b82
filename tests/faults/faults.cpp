// The fault suite: every command that writes, where disks are full, processes are killed, streams
// cannot be written, two write at once and datasets are lost.
//
//   faults [--thorough] [full-disk] [killed] [streams] [two-writers] [lost-dataset]
//
// A disk is tried at every 4 kB with --thorough, at half a dozen sizes without; more kills, too.
// It fails when the program crashed, left something under a final name that is not whole, changed
// an input, left temporary files behind or did not say why it stopped. Exit code 77: not permitted
// here.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <functional>
#include <list>
#include <mutex>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "commands.h"
#include "contents.h"
#include "kindred/core/files.h"
#include "place.h"

namespace kindred::faults {
namespace {

using Words = std::vector<std::string>;
using Contents = std::map<std::string, std::string>;

constexpr int kWorkers = 2;
constexpr int kSkipped = 77;

/// What one kind of fault did.
struct Tally {
  std::string fault;
  std::set<std::string> commands;
  int tries = 0, crashes = 0, damaged = 0, lost = 0, leftovers = 0, other = 0;

  bool clean() const { return crashes + damaged + lost + leftovers + other == 0; }
};

/// What a command does where nothing disturbs it.
struct Undisturbed {
  Contents meanings;  ///< Of everything in its folder afterwards.
  double seconds = 0;
  std::uint64_t blocks = 0;  ///< It adds to the disk.
};

bool is_temporary(const std::string& name) { return name.find(".partial-") != std::string::npos; }

std::string top_of(const std::string& name) { return name.substr(0, name.find('/')); }

/// Files that belong to a command that was not finished.
bool is_of_unfinished(const std::string& name) {
  for (const char* end : {"state.h5", ".kindred-undo.next", "checkpoint.h5", ".course.h5", ".lock"})
    if (name.ends_with(end)) return true;
  return false;
}

class Suite {
 public:
  Suite(fs::path base, bool mounted, bool thorough)
      : base_(std::move(base)), mounted_(mounted), thorough_(thorough), home_(base_, mounted) {
    make_scene(base_ / "scene");
    scene_ = bytes_below(base_ / "scene");
    commands_ = writing_commands(base_ / "scene");
    undisturbed_.resize(commands_.size());
    each_command([&](std::size_t i, Disk& disk) {
      const auto before = prepare(commands_[i], disk);
      const auto used = mounted_ ? disk.used() : 0;
      const auto outcome = run(disk.path(), commands_[i].arguments);
      if (outcome.code != 0)
        throw std::runtime_error(fmt::format("{} fails by itself with {}: {}", commands_[i].name,
                                             outcome.code, outcome.err));
      undisturbed_[i] = {meanings_below(disk.path()), outcome.seconds,
                         mounted_ ? disk.used() - used : 0};
    });
  }

  bool full_disk();
  bool killed();
  bool streams();
  bool two_writers();
  bool lost_dataset();
  void summarise() const;

 private:
  enum class End { kSuccess, kRefusal, kKilled };

  /// Calls try_one(number of a command, an own disk) for every command, several at a time.
  void each_command(const std::function<void(std::size_t, Disk&)>& try_one) {
    std::atomic<std::size_t> next = 0;
    std::exception_ptr problem;
    std::vector<std::jthread> workers;
    for (int w = 0; w < kWorkers; ++w)
      workers.emplace_back([&, w] {
        Disk disk(base_ / fmt::format("disk-{}", w), mounted_);
        for (std::size_t i = next++; i < commands_.size(); i = next++) try {
            try_one(i, disk);
          } catch (...) {
            const std::lock_guard lock(mutex_);
            problem = std::current_exception();
          }
      });
    workers.clear();
    if (problem) std::rethrow_exception(problem);
  }

  /// Puts a command's inputs on an empty disk. Returns what is there.
  Contents prepare(const Command& command, Disk& disk) const {
    disk.clear();
    for (const auto& input : command.inputs)
      fs::copy(base_ / "scene" / input, disk.path() / input, fs::copy_options::recursive);
    return bytes_below(disk.path());
  }

  Tally& begin(const std::string& fault) {
    tallies_.emplace_back().fault = fault;
    return tallies_.back();
  }

  void count(Tally& tally, const std::string& command, const Outcome& outcome,
             bool killed = false) {
    const std::lock_guard lock(mutex_);
    ++tally.tries;
    tally.commands.insert(command);
    if (!outcome.crashed() || (killed && outcome.code == -SIGKILL)) return;
    ++tally.crashes;
    tell(tally, command, fmt::format("ended with {}: {}", outcome.code, outcome.err));
  }

  void complain(Tally& tally, int Tally::*kind, const std::string& command,
                const std::string& problem) {
    const std::lock_guard lock(mutex_);
    ++(tally.*kind);
    tell(tally, command, problem);
  }

  void tell(const Tally& tally, const std::string& command, const std::string& problem) const {
    fmt::print("  {}: {}: {}\n", tally.fault, command, problem);
    std::fflush(stdout);
  }

  void check(Tally& tally, std::size_t number, const Contents& before, const Disk& disk, End end,
             const std::string& when);
  bool is_complete(std::size_t number, const Disk& disk) const;
  void check_undo(Tally& tally, const Command& command, const Contents& before, const Disk& disk,
                  const std::string& when);
  void kill_once(Tally& tally, std::size_t number, Disk& disk, std::uint64_t seed);
  void two_clusters(Tally& tally, Disk& disk);
  void two_labels(Tally& tally, Disk& disk, const std::string& second_key);
  void two_datasets(Tally& tally, Disk& disk);
  void lose(Tally& tally, Disk& disk, const std::string& format, bool shortened);

  fs::path base_;
  bool mounted_, thorough_;
  Disk home_;
  Contents scene_;
  std::vector<Command> commands_;
  std::vector<Undisturbed> undisturbed_;
  std::list<Tally> tallies_;
  std::mutex mutex_;
};

/// Compares what is on the disk with what was there and with what an undisturbed command makes.
void Suite::check(Tally& tally, std::size_t number, const Contents& before, const Disk& disk,
                  End end, const std::string& when) {
  const auto& command = commands_[number];
  const auto& expected = undisturbed_[number].meanings;
  const auto found = bytes_below(disk.path());
  const auto say = [&](int Tally::*kind, const std::string& name, const std::string& problem) {
    complain(tally, kind, command.name, fmt::format("{}: '{}' {}", when, name, problem));
  };
  const auto means_the_same = [&](const std::string& name) {
    const auto wanted = expected.find(name);
    return wanted != expected.end() && meaning_of(disk.path() / name) == wanted->second;
  };
  const bool may_change = command.changes_inputs && end != End::kRefusal;
  for (const auto& [name, bytes] : before) {
    const auto now = found.find(name);
    if (now == found.end() ? !(may_change && !expected.contains(name))
                           : now->second != bytes && !(may_change && means_the_same(name)))
      say(&Tally::lost, name, "was an input and is changed");
  }
  std::set<std::string> made;
  for (const auto& [name, bytes] : found) {
    if (before.contains(name) || name == "filler" || fs::is_directory(disk.path() / name)) continue;
    if (is_temporary(name)) {
      if (end != End::kKilled) say(&Tally::leftovers, name, "was left behind");
      continue;
    }
    made.insert(top_of(name));
    if (end == End::kRefusal && !command.may_leave_some)
      say(&Tally::damaged, name, "is there though the command failed");
    else if (expected.contains(name) && !means_the_same(name))
      say(&Tally::damaged, name, "is not whole: " + meaning_of(disk.path() / name).substr(0, 200));
    else if (!expected.contains(name) && (end == End::kSuccess || !is_of_unfinished(name)))
      say(&Tally::damaged, name, "is not expected");
  }
  // Inputs are changed one after the other: killed in between, the next try goes on, or undoes it.
  const bool may_leave_some =
      command.may_leave_some || (end == End::kKilled && command.changes_inputs);
  for (const auto& [name, meaning] : expected)
    if (!found.contains(name) &&
        (end == End::kSuccess || (!may_leave_some && made.contains(top_of(name)))))
      say(&Tally::damaged, name, "is missing");
  if (bytes_below(base_ / "scene") != scene_) say(&Tally::lost, "scene", "is changed");
}

bool Suite::is_complete(std::size_t number, const Disk& disk) const {
  return meanings_below(disk.path()) == undisturbed_[number].meanings;
}

/// Whatever was done to labels, undoing brings back every byte.
void Suite::check_undo(Tally& tally, const Command& command, const Contents& before,
                       const Disk& disk, const std::string& when) {
  auto words = command.arguments;
  if (words[0] != "label" || std::ranges::count(words, "--undo") > 0) return;
  if (bytes_below(disk.path()) == before) return;
  words.emplace_back("--undo");
  const auto outcome = run(disk.path(), words);
  auto after = bytes_below(disk.path());
  after.erase("filler");
  if (outcome.code != 0 || after != before)
    complain(tally, &Tally::lost, command.name,
             fmt::format("{}: cannot be undone ({}): {}", when, outcome.code, outcome.err));
}

bool Suite::full_disk() {
  auto& tally = begin("full disk");
  each_command([&](std::size_t i, Disk& disk) {
    const auto& command = commands_[i];
    const auto blocks = undisturbed_[i].blocks;
    const std::uint64_t stride = thorough_ || blocks <= 6 ? 1 : blocks / 5;
    for (std::uint64_t free = 0; free < 100000; free += free < 2 ? 1 : stride) {
      const auto before = prepare(command, disk);
      disk.leave(free);
      const auto outcome = run(disk.path(), command.arguments);
      const auto when = fmt::format("{} kB free", free * 4);
      count(tally, command.name, outcome);
      if (outcome.crashed()) continue;
      check(tally, i, before, disk, outcome.code == 0 ? End::kSuccess : End::kRefusal, when);
      const bool told = outcome.err.find("No space left on device") != std::string::npos ||
                        outcome.err.find("needs room for a copy") != std::string::npos;
      if (outcome.code == 2 && !told)
        complain(tally, &Tally::other, command.name, when + ": does not say why: " + outcome.err);
      if (outcome.code == 0) return;
    }
  });
  return tally.clean();
}

void Suite::kill_once(Tally& tally, std::size_t number, Disk& disk, std::uint64_t seed) {
  const auto& command = commands_[number];
  std::mt19937_64 random(seed * 1000 + number);
  const double share = std::uniform_real_distribution(0.3, 1.05)(random);
  const auto delay = std::chrono::duration<double>(share * undisturbed_[number].seconds);
  const auto when = fmt::format("killed after {:.3f} s", delay.count());
  const auto before = prepare(command, disk);
  Process process(disk.path(), command.arguments);
  std::this_thread::sleep_for(delay);
  ::kill(process.id(), SIGKILL);
  count(tally, command.name, process.finish(), true);
  check(tally, number, before, disk, End::kKilled, when);

  const bool complete = is_complete(number, disk);
  auto words = command.arguments;
  if (command.name == "cluster" && fs::exists(disk.path() / "run" / "state.h5") && seed % 2 == 0)
    words.emplace_back("--resume");
  const auto outcome = run(disk.path(), words);
  if (outcome.crashed() || (outcome.code == 2 && !complete))
    complain(tally, &Tally::other, command.name,
             fmt::format("{}, then again: ended with {}: {}", when, outcome.code, outcome.err));
  else if (outcome.code == 0)
    check(tally, number, before, disk, End::kSuccess, when + ", then again");
  check_undo(tally, command, before, disk, when + ", then again");
}

bool Suite::killed() {
  auto& tally = begin("killed");
  each_command([&](std::size_t i, Disk& disk) {
    for (std::uint64_t seed = 0; seed < (thorough_ ? 100 : 2); ++seed)
      kill_once(tally, i, disk, seed);
  });
  return tally.clean();
}

bool Suite::streams() {
  auto& tally = begin("streams");
  each_command([&](std::size_t i, Disk& disk) {
    const auto& command = commands_[i];
    for (const auto kind : {Stream::kFull, Stream::kClosed})
      for (const bool out : {true, false}) {
        if (!thorough_ && (kind == Stream::kFull) != (i % 2 == 0)) continue;
        const auto when =
            fmt::format("{}{}", out ? ">" : "2>", kind == Stream::kFull ? "/dev/full" : "&-");
        const auto before = prepare(command, disk);
        const auto outcome = Process(disk.path(), command.arguments, out ? kind : Stream::kFile,
                                     out ? Stream::kFile : kind)
                                 .finish();
        count(tally, command.name, outcome);
        if (outcome.crashed()) continue;
        // Work that was done before its JSON could not be printed stays.
        check(tally, i, before, disk, outcome.code == 0 ? End::kSuccess : End::kKilled, when);
        if (outcome.code != (out ? 2 : 0))
          complain(tally, &Tally::other, command.name,
                   fmt::format("{}: ended with {}", when, outcome.code));
      }
  });
  return tally.clean();
}

/// Two runs in one folder: one refuses or both take turns, and what is there is one of them.
void Suite::two_clusters(Tally& tally, Disk& disk) {
  disk.clear();
  const auto words = [&](int seed, const std::string& folder) {
    return Words{"cluster",   (base_ / "scene" / "kindred.h5").string(),
                 "-k",        "3",
                 "--policy",  "mlp",
                 "--seed",    std::to_string(seed),
                 "--threads", "1",
                 "-o",        folder};
  };
  for (int seed : {1, 2}) run(disk.path(), words(seed, fmt::format("alone-{}", seed)));
  Process first(disk.path(), words(1, "run"));
  Process second(disk.path(), words(2, "run"));
  const auto one = first.finish(), two = second.finish();
  count(tally, "cluster", one);
  count(tally, "cluster", two);
  if (one.crashed() || two.crashed()) return;
  if (one.code != 0 && two.code != 0)
    complain(tally, &Tally::other, "cluster", "both of two refuse: " + one.err);
  const auto record = nlohmann::json::parse(read_text(disk.path() / "run" / "run.json"));
  const auto seed = record["options"]["seed"].get<int>();
  const auto alone = disk.path() / fmt::format("alone-{}", seed);
  for (const char* file : {"labels.csv", "scores.h5", "centres.h5", "run.json"})
    if (meaning_of(alone / file) != meaning_of(disk.path() / "run" / file))
      complain(tally, &Tally::damaged, "cluster", fmt::format("'{}' is of the other run", file));
  if (read_text(disk.path() / "run" / "config.toml").find(fmt::format("seed = {}", seed)) ==
      std::string::npos)
    complain(tally, &Tally::damaged, "cluster", "'config.toml' is of the other run");
}

void Suite::two_labels(Tally& tally, Disk& disk, const std::string& second_key) {
  const auto command = *std::ranges::find(commands_, "label d4rl.hdf5", &Command::name);
  const auto before = prepare(command, disk);
  auto words = command.arguments;
  Process first(disk.path(), words);
  *std::ranges::find(words, "found") = second_key;
  Process second(disk.path(), words);
  for (auto* process : {&first, &second}) {
    const auto outcome = process->finish();
    count(tally, "label", outcome);
    if (outcome.code == 2)
      complain(tally, &Tally::other, "label", "one of two refuses: " + outcome.err);
  }
  check_undo(tally, command, before, disk, "two at once");
}

/// Two datasets of one name: it is one of them.
void Suite::two_datasets(Tally& tally, Disk& disk) {
  for (const char* name : {"generate kindred", "generate npz", "split"}) {
    const auto number = static_cast<std::size_t>(
        std::ranges::find(commands_, name, &Command::name) - commands_.begin());
    const auto before = prepare(commands_[number], disk);
    Process first(disk.path(), commands_[number].arguments);
    Process second(disk.path(), commands_[number].arguments);
    const auto one = first.finish(), two = second.finish();
    count(tally, name, one);
    count(tally, name, two);
    if (one.code != 0 && two.code != 0)
      complain(tally, &Tally::other, name, "both of two refuse: " + one.err);
    check(tally, number, before, disk, End::kSuccess, "two at once");
  }
}

bool Suite::two_writers() {
  auto& tally = begin("two writers");
  Disk disk(base_ / "disk", mounted_);
  for (int i = 0; i < (thorough_ ? 20 : 1); ++i) {
    two_clusters(tally, disk);
    two_labels(tally, disk, "found");
    two_labels(tally, disk, "other");
    two_datasets(tally, disk);
  }
  return tally.clean();
}

/// The dataset goes, or becomes shorter, while a run that has read it is busy.
void Suite::lose(Tally& tally, Disk& disk, const std::string& format, bool shortened) {
  disk.clear();
  const auto data = disk.path() / "data";
  run(disk.path(),
      {"generate", "diagonal", "--per-expert", "1000", "--format", format, "-o", "data"});
  Process process(disk.path(), {"cluster", "data", "-k", "6", "--policy", "mlp", "--restarts", "5",
                                "--threads", "1", "-o", "run"});
  while (process.running() && !fs::exists(disk.path() / "run" / "state.h5"))
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const bool in_time = process.running();
  if (shortened)
    fs::resize_file(data, 4096);
  else
    fs::remove(data);
  const auto outcome = process.finish();
  const auto name = fmt::format("cluster {}, {}", format, shortened ? "shortened" : "removed");
  count(tally, name, outcome);
  const bool whole = fs::exists(disk.path() / "run" / "run.json");
  if (!in_time)
    complain(tally, &Tally::other, name, "the run was over before the file was lost");
  else if (!outcome.crashed() && !shortened && !(outcome.code == 0 && whole))
    complain(tally, &Tally::other, name, "the run was thrown away: " + outcome.err);
  else if (!outcome.crashed() && shortened && outcome.code != (whole ? 0 : 2))
    complain(tally, &Tally::other, name,
             fmt::format("ended with {}: {}", outcome.code, outcome.err));
}

bool Suite::lost_dataset() {
  auto& tally = begin("lost dataset");
  Disk disk(base_ / "disk", mounted_);
  for (const char* format : {"kindred", "d4rl"})
    for (const bool shortened : {false, true}) lose(tally, disk, format, shortened);
  return tally.clean();
}

void Suite::summarise() const {
  fmt::print("{:<14}{:>9}{:>8}{:>9}{:>9}{:>13}{:>11}{:>8}\n", "fault", "commands", "tries",
             "crashes", "corrupt", "lost inputs", "leftovers", "other");
  for (const auto& tally : tallies_)
    fmt::print("{:<14}{:>9}{:>8}{:>9}{:>9}{:>13}{:>11}{:>8}\n", tally.fault, tally.commands.size(),
               tally.tries, tally.crashes, tally.damaged, tally.lost, tally.leftovers, tally.other);
}

int main_of(const Words& arguments) {
  const std::map<std::string, bool (Suite::*)()> faults = {{"full-disk", &Suite::full_disk},
                                                           {"killed", &Suite::killed},
                                                           {"streams", &Suite::streams},
                                                           {"two-writers", &Suite::two_writers},
                                                           {"lost-dataset", &Suite::lost_dataset}};
  bool thorough = false;
  std::set<std::string> chosen;
  for (const auto& argument : arguments)
    if (argument == "--thorough")
      thorough = true;
    else if (faults.contains(argument))
      chosen.insert(argument);
    else
      throw std::runtime_error("unknown: " + argument);
  if (chosen.empty())
    for (const auto& [name, function] : faults) chosen.insert(name);

  std::string why_not;
  const bool mounted = enter_own_mounts(why_not);
  const bool skipped = !mounted && chosen.erase("full-disk") > 0;
  if (skipped)
    fmt::print("*** NOT TESTED: full-disk: this system does not permit mounting ({})\n", why_not);
  if (chosen.empty()) return kSkipped;
  Suite suite(fs::temp_directory_path() / fmt::format("kindred-faults-{}", ::getpid()), mounted,
              thorough);
  bool clean = true;
  for (const auto& name : chosen) clean = (suite.*faults.at(name))() && clean;
  suite.summarise();
  return !clean ? 1 : skipped ? kSkipped : 0;
}

}  // namespace
}  // namespace kindred::faults

int main(int count, char** arguments) try {
  return kindred::faults::main_of({arguments + 1, arguments + count});
} catch (const std::exception& error) {
  fmt::print("the fault suite itself failed: {}\n", error.what());
  return 1;
}
