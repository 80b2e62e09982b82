#include "kindred/reproduce/runner.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <thread>

#include "kindred/core/child_process.h"
#include "kindred/core/error.h"
#include "kindred/core/resources.h"
#include "kindred/core/stopwatch.h"

namespace kindred::reproduce {
namespace {

constexpr std::chrono::milliseconds kGlance{100};
constexpr int kTries = 2;

struct Waiting {
  Job job;
  int tries = 0;
};

struct Child {
  Waiting at;
  std::size_t lane = 0;
  std::unique_ptr<RunningProgram> program;
  Stopwatch clock{};
};

/// How long jobs took.
class Durations {
 public:
  void add(const Job& job, double seconds) {
    for (const auto& kind : {of_its_task(job), job.configuration})
      longest_[kind] = std::max(longest_[kind], seconds);
  }

  /// As long as the longest of its task and configuration, or of its configuration; 0 where none
  /// has ended yet.
  double expected(const Job& job) const {
    for (const auto& kind : {of_its_task(job), job.configuration})
      if (const auto known = longest_.find(kind); known != longest_.end()) return known->second;
    return 0.0;
  }

 private:
  static std::string of_its_task(const Job& job) { return job.task + "-" + job.configuration; }

  std::map<std::string, double> longest_;
};

/// The last line that is not empty.
std::string last_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

class Runner {
 public:
  Runner(std::vector<Job> jobs, const Store& store, const RunnerOptions& options)
      : store_(store), options_(options) {
    for (auto& job : missing(std::move(jobs), store, outcome_.stored))
      waiting_.push_back({std::move(job)});
  }

  RunnerOutcome run() {
    while (!waiting_.empty() || !children_.empty()) {
      if (!ending_ && should_end()) end_early();
      for (std::size_t lane = 0; !ending_ && lane < options_.lanes.size(); ++lane) fill(lane);
      if (children_.empty()) break;  // nothing more may begin
      tell();
      std::this_thread::sleep_for(kGlance);
      collect();
    }
    outcome_.left = std::ssize(waiting_);
    outcome_.out_of_time =
        outcome_.left > 0 && !outcome_.stopped && !outcome_.disk_full && options_.within > 0.0;
    tell();
    return std::move(outcome_);
  }

 private:
  bool should_end() {
    outcome_.stopped = options_.stop_requested && options_.stop_requested();
    return outcome_.stopped || outcome_.disk_full || seconds_left_to_run() <= 0.0;
  }

  double seconds_left_to_run() const {
    return options_.within > 0.0 ? options_.within - clock_.seconds()
                                 : std::numeric_limits<double>::infinity();
  }

  void end_early() {
    ending_ = true;
    for (auto& child : children_) child.program->ask_to_end();
  }

  /// Begins what is next for the lane until it is full.
  void fill(std::size_t lane) {
    while (std::ranges::count(children_, lane, &Child::lane) < options_.lanes[lane].at_once) {
      const auto next = std::ranges::find_if(waiting_, [&](const Waiting& one) {
        return lane_of(one.job) == lane && durations_.expected(one.job) <= seconds_left_to_run();
      });
      if (next == waiting_.end()) return;
      Waiting at = std::move(*next);
      waiting_.erase(next);
      auto program = std::make_unique<RunningProgram>(
          options_.program, options_.arguments(at.job, options_.lanes[lane]));
      children_.push_back({std::move(at), lane, std::move(program)});
    }
  }

  /// The GPU's where it is of use, if there is one; else the first on the CPU.
  std::size_t lane_of(const Job& job) const {
    const auto& lanes = options_.lanes;
    const auto found = std::ranges::find_if(
        lanes, [&](const Lane& lane) { return (lane.device != "cpu") == job.gpu; });
    return found == lanes.end() ? 0 : static_cast<std::size_t>(found - lanes.begin());
  }

  void collect() {
    for (std::size_t i = 0; i < children_.size();) {
      if (!children_[i].program->has_ended()) {
        ++i;
        continue;
      }
      Child child = std::move(children_[i]);
      children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(i));
      end(std::move(child));
    }
  }

  void end(Child child) {
    const auto result = child.program->finish();
    const auto name = child.at.job.name();
    const bool whole = std::ranges::all_of(
        child.at.job.outputs, [&](const Output& output) { return store_.has(output.record); });
    if (result.problem.empty() && whole) {
      ++outcome_.done;
      busy_seconds_ += child.clock.seconds();
      durations_.add(child.at.job, child.clock.seconds());
      return tell(fmt::format("{}: {:.1f} s{}", name, child.clock.seconds(), score_words(name)));
    }
    if (ending_) return waiting_.push_front(std::move(child.at));
    const auto said = last_line(result.outputs[0]);
    const auto why = result.problem.empty() ? std::string("left no record")
                     : said.empty()         ? result.problem
                                            : said;
    if (!store_.can_write()) {
      outcome_.disk_full = true;
      waiting_.push_front(std::move(child.at));
      return tell(fmt::format("{}: {}", name, why));
    }
    if (++child.at.tries < kTries) {
      waiting_.push_back(std::move(child.at));
      return tell(fmt::format("{}: {}; it will be tried once more", name, why));
    }
    outcome_.failed.push_back({name, why});
    tell(fmt::format("{}: FAILED: {}", name, why));
  }

  /// ", NMI 0.9264, the oracle's 0.9380" where they are known.
  std::string score_words(const std::string& record) const {
    if (!store_.has(record)) return "";
    const auto json = store_.read(record);
    const auto result = json.value("result", Json::object());
    if (!result.contains("nmi")) return "";
    const auto oracle = result.value("ceiling", Json());
    return fmt::format(
        ", NMI {:.4f}{}", result["nmi"].get<double>(),
        oracle.is_number() ? fmt::format(", the oracle's {:.4f}", oracle.get<double>()) : "");
  }

  void tell(std::string news = "") {
    if (!options_.watch) return;
    Overview now;
    now.stored = outcome_.stored;
    now.done = outcome_.done;
    now.failed = std::ssize(outcome_.failed);
    now.left = std::ssize(waiting_);
    for (const auto& child : children_)
      now.running.push_back({child.at.job.name(), child.clock.seconds()});
    now.seconds = clock_.seconds();
    if (now.done > 0)
      now.seconds_left = busy_seconds_ / static_cast<double>(now.done) *
                         static_cast<double>(now.left + std::ssize(children_)) /
                         static_cast<double>(jobs_at_once(options_.lanes));
    now.news = std::move(news);
    options_.watch(now);
  }

  const Store& store_;
  const RunnerOptions& options_;
  std::deque<Waiting> waiting_;
  std::vector<Child> children_;
  RunnerOutcome outcome_;
  Durations durations_;
  Stopwatch clock_;
  double busy_seconds_ = 0.0;
  bool ending_ = false;
};

}  // namespace

std::vector<Job> missing(std::vector<Job> jobs, const Store& store, std::int64_t& stored) {
  for (auto& job : jobs)
    std::erase_if(job.outputs, [&](const Output& output) { return store.has(output.record); });
  stored = std::erase_if(jobs, [](const Job& job) { return job.outputs.empty(); });
  return jobs;
}

Machine this_machine() {
  return {std::max<std::int64_t>(1, std::thread::hardware_concurrency()), available_memory_mb()};
}

std::vector<Lane> lanes_for(const std::vector<Job>& jobs, const Machine& machine,
                            const std::string& device, std::int64_t at_once, std::int64_t threads) {
  constexpr double kJobMb = 1200.0;
  constexpr std::int64_t kMostOnGpu = 8;  // more would only wait for each other
  const auto most =
      machine.memory_mb > 0.0
          ? std::clamp<std::int64_t>(static_cast<std::int64_t>(machine.memory_mb / kJobMb), 1,
                                     machine.cores)
          : machine.cores;
  const auto on_gpu = device == "cpu" ? 0 : std::ranges::count(jobs, true, &Job::gpu);
  const auto on_cpu = std::ssize(jobs) - on_gpu;
  std::vector<Lane> lanes;
  const auto add = [&](const std::string& where, std::int64_t wanted, std::int64_t there_are) {
    if (there_are > 0) lanes.push_back({where, std::clamp<std::int64_t>(wanted, 1, there_are)});
  };
  add(device, at_once > 0 ? at_once : std::min(kMostOnGpu, std::min(most, machine.cores / 2)),
      on_gpu);
  const auto beside = jobs_at_once(lanes);
  if (at_once > 0)  // who names a number knows the memory
    add("cpu", beside == 0 ? at_once : machine.cores - beside, on_cpu);
  else
    add("cpu", most - beside, on_cpu);
  for (auto& lane : lanes)
    lane.threads =
        threads > 0 ? threads : std::max<std::int64_t>(1, machine.cores / jobs_at_once(lanes));
  return lanes;
}

std::int64_t jobs_at_once(const std::vector<Lane>& lanes) {
  std::int64_t sum = 0;
  for (const auto& lane : lanes) sum += lane.at_once;
  return sum;
}

RunnerOutcome run_jobs(std::vector<Job> jobs, const Store& store, const RunnerOptions& options) {
  return Runner(std::move(jobs), store, options).run();
}

}  // namespace kindred::reproduce
