#include "kindred/methods/choose_k.h"

#include <algorithm>
#include <optional>

#include "kindred/clustering/stoppable.h"
#include "kindred/core/error.h"
#include "kindred/core/stopwatch.h"
#include "kindred/methods/policy_search/partition_judge.h"
#include "kindred/metrics/clustering_scores.h"

namespace kindred {
namespace {

using policy_search::PartitionJudge;

constexpr std::int64_t kPatience = 3;  // numbers of clusters without a higher V, then it ends

/// Mean NMI of the other restarts with the best.
double agreement_of(const Clustering& fitted) {
  double sum = 0.0;
  for (const auto& restart : fitted.restarts)
    if (restart.restart != fitted.best_restart)
      sum += normalized_mutual_information(restart.labels, fitted.labels);
  const auto others = std::ssize(fitted.restarts) - 1;
  return others > 0 ? sum / static_cast<double>(others) : 1.0;
}

/// What one fit among several reports, as a share of that fit.
class FitProgress {
 public:
  FitProgress(std::int64_t k, const RunContext& run)
      : stage_(fmt::format("fitting {} {}", k, k == 1 ? "cluster" : "clusters")), run_(run) {
    report(0.0);
  }

  void hear(const Progress& progress) {
    if (progress.stage == "estimate") return;  // it is of this fit alone
    if (progress.stage == "round") {
      rounds_ = static_cast<double>(progress.iteration);
      most_ = static_cast<double>(progress.max_iterations);
      report(rounds_ / std::max(1.0, most_));
    } else {
      report((rounds_ + progress.fraction) / std::max(1.0, most_));
    }
  }

 private:
  void report(double fraction) const {
    run_.report({.stage = stage_, .fraction = fraction, .sizes = {}});
  }

  std::string stage_;
  const RunContext& run_;
  double rounds_ = 0.0;
  double most_ = 0.0;  // 0: not known yet
};

class ChoosingK final : public ConfiguredMethod {
 public:
  explicit ChoosingK(std::unique_ptr<ConfiguredMethod> method)
      : method_(std::move(method)), own_(method_->describe()), k_(own("k").get()) {}

  OptionTable describe() override {
    OptionTable table;
    for (const auto& option : own_) {
      if (option.name != "k") {
        table.push_back(option);
        continue;
      }
      table.push_back(integer_or_auto(
          "k", k_, 10000, option.help + " auto: as many as predict held-out episodes better."));
      table.push_back(
          integer("k-max", k_max_, 1, 1000, "The most clusters to try where k is auto."));
    }
    return table;
  }

  void use_preset(const std::string& preset) override { method_->use_preset(preset); }

  void check(const Trajectories& data, const RunContext& run,
             const std::vector<std::string>& set_by_user) const override {
    if (k_ > 0) refuse_unused({{{"k-max"}, "'-k auto'; leave it out"}}, set_by_user);
    if (k_ == 0 && own("merge-to").get() != 0)
      throw InvalidArgument("merge-to is {}, but k is to be found; give k, or leave out merge-to",
                            own("merge-to").get().dump());
    own("k").set(std::max<std::int64_t>(k_, 1));
    method_->check(data, run, set_by_user);
    const bool can_judge = policy_search::judged_on_planes(data) ||
                           (!policy_search::too_wide_for_closed_form(data) &&
                            policy_search::episodes_to_judge(data).has_value());
    if (k_ == 0 && !can_judge)
      throw InvalidArgument(
          "{} numbers per observation are too many to find out how many clusters there are; give "
          "their number with -k",
          data.observations.dim());
  }

  Sharing sharing(const Trajectories& data, const RunContext& run) const override {
    return method_->sharing(data, run);
  }

  Clustering fit(const Trajectories& data, const RunContext& run) override {
    if (k_ > 0) {
      own("k").set(k_);
      return method_->fit(data, run);
    }
    check(data, run, {});
    if (run.resume)
      throw InvalidArgument(
          "nothing is saved while k is looked for, so there is nothing to resume; leave out "
          "--resume");
    return stoppable([&](std::int64_t&) { return choose(data, run); });
  }

 private:
  const Option& own(std::string_view name) const { return *find_option(own_, name); }

  Clustering fit_with(std::int64_t k, const Trajectories& data, const RunContext& run) {
    own("k").set(k);
    FitProgress progress(k, run);
    RunContext one = run;
    one.checkpoint.clear();  // what one fit saves would not tell what the others gave
    one.progress = [&](const Progress& p) { progress.hear(p); };
    auto fitted = method_->fit(data, one);
    if (fitted.stopped) throw Interrupted();
    for (const auto& [name, value] : fitted.timings.items())
      timings_[name] = timings_.value(name, 0.0) + value.get<double>();
    return fitted;
  }

  /// The most clusters that are believed, as in the search; going up ends where V no longer rises.
  Clustering choose(const Trajectories& data, const RunContext& run) {
    const Stopwatch clock;
    timings_ = nlohmann::ordered_json::object();
    PartitionJudge judge(data, *policy_search::episodes_to_judge(data), run);
    std::vector<policy_search::Answer> answers{judge.judge_one()};  // the same for every method
    std::optional<Clustering> best;
    std::size_t chosen = 0;
    double highest = answers.front().held_out.v;
    std::int64_t rose = 1;
    for (std::int64_t k = 2; k <= std::min(k_max_, data.episodes()) && k <= rose + kPatience; ++k) {
      auto fitted = fit_with(k, data, run);
      auto answer = judge.judge(fitted.labels);
      // Some may have no episodes, or none that is judged; of as many as before nothing new is
      // told.
      if (answer.fit.k < fitted.k() || answer.fit.k <= answers.back().fit.k) continue;
      answer.gain = judge.gain(answers.back(), answer);
      answer.agreement = agreement_of(fitted);
      if (judge.believes(answer, highest)) {
        best = std::move(fitted);
        chosen = answers.size();
      }
      if (answer.held_out.v > highest) {
        highest = answer.held_out.v;
        rose = k;
      }
      answers.push_back(std::move(answer));
    }
    auto result = best ? std::move(*best) : fit_with(1, data, run);
    for (const auto& answer : answers) result.considered.push_back(answer.in_brief());
    result.k_found = true;
    result.judgement = judge.compare(answers.front(), answers[chosen]);
    result.options["k"] = "auto";
    result.options["merge-to"] = 0;
    result.options["k-max"] = k_max_;
    result.timings = timings_;
    result.seconds = clock.seconds();
    return result;
  }

  std::unique_ptr<ConfiguredMethod> method_;
  OptionTable own_;  // of the method
  std::int64_t k_;
  std::int64_t k_max_ = 12;
  nlohmann::ordered_json timings_;  // of all fits together
};

}  // namespace

std::unique_ptr<ConfiguredMethod> choosing_k(std::unique_ptr<ConfiguredMethod> method) {
  return std::make_unique<ChoosingK>(std::move(method));
}

}  // namespace kindred
