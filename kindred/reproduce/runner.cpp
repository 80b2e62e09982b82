#include "kindred/reproduce/runner.h"

#include <algorithm>
#include <chrono>
#include <deque>
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
  std::unique_ptr<RunningProgram> program;
  Stopwatch clock{};
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
      while (!ending_ && !waiting_.empty() && std::ssize(children_) < options_.at_once) start();
      if (ending_ && children_.empty()) break;
      tell();
      std::this_thread::sleep_for(kGlance);
      collect();
    }
    outcome_.left = std::ssize(waiting_);
    tell();
    return std::move(outcome_);
  }

 private:
  bool should_end() {
    outcome_.stopped = options_.stop_requested && options_.stop_requested();
    return outcome_.stopped || outcome_.disk_full;
  }

  void end_early() {
    ending_ = true;
    for (auto& child : children_) child.program->ask_to_end();
  }

  void start() {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    auto program = std::make_unique<RunningProgram>(options_.program, options_.arguments(next.job));
    children_.push_back({std::move(next), std::move(program)});
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
                         static_cast<double>(options_.at_once);
    now.news = std::move(news);
    options_.watch(now);
  }

  const Store& store_;
  const RunnerOptions& options_;
  std::deque<Waiting> waiting_;
  std::vector<Child> children_;
  RunnerOutcome outcome_;
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

std::int64_t jobs_at_once(const std::string& device) {
  if (device != "cpu") return 1;  // one fills it
  constexpr double kJobMb = 1200.0;
  const auto cores = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  const double memory = available_memory_mb();
  if (memory <= 0.0) return cores;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(memory / kJobMb), 1, cores);
}

RunnerOutcome run_jobs(std::vector<Job> jobs, const Store& store, const RunnerOptions& options) {
  return Runner(std::move(jobs), store, options).run();
}

}  // namespace kindred::reproduce
