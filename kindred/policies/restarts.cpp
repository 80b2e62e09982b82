#include "kindred/policies/restarts.h"

#include <fmt/format.h>

#include <algorithm>

#include "kindred/core/error.h"

namespace kindred {
namespace {

using nlohmann::json;

json saved_restart(const Restart& r) {
  return {{"phase", static_cast<int>(r.phase)},
          {"phase_rounds", r.phase_rounds},
          {"rounds", r.rounds},
          {"converged", r.converged},
          {"objective", saved_number(r.objective)},
          {"objective_before_merge", saved_number(r.objective_before_merge)},
          {"changed", r.changed},
          {"merges", saved_merges(r.merges)}};
}

Restart restored_restart(const json& j) {
  Restart r;
  const int phase = j.at("phase");
  if (phase < 0 || phase > static_cast<int>(Phase::kDone))
    throw DataFormatError("there is no phase {}", phase);
  r.phase = static_cast<Phase>(phase);
  r.phase_rounds = j.at("phase_rounds");
  r.rounds = j.at("rounds");
  r.converged = j.at("converged");
  r.objective = restored_number(j.at("objective"));
  r.objective_before_merge = restored_number(j.at("objective_before_merge"));
  r.changed = j.at("changed");
  r.merges = restored_merges(j.at("merges"));
  return r;
}

std::string labels_name(std::size_t restart) { return fmt::format("labels/{}", restart); }

}  // namespace

std::vector<std::int64_t> Restart::sizes(std::int64_t k) const {
  std::vector<std::int64_t> result(static_cast<std::size_t>(k), 0);
  for (const auto label : labels) ++result[static_cast<std::size_t>(label)];
  return result;
}

bool Restart::settled(double tolerance) const {
  return changed <= static_cast<std::int64_t>(tolerance * static_cast<double>(labels.size()));
}

Restarts::Restarts(RestartPlan plan, const Trajectories& data, const RunContext& run)
    : plan_(std::move(plan)),
      data_(data),
      run_(run),
      checkpoint_(plan_.method, plan_.options, data, run),
      all_(static_cast<std::size_t>(plan_.restarts)) {
  for (auto& restart : all_) restart.labels.assign(static_cast<std::size_t>(data.episodes()), 0);
}

std::vector<std::int64_t> Restarts::running() const {
  std::vector<std::int64_t> result;
  for (std::int64_t r = 0; r < count(); ++r)
    if ((*this)[r].phase != Phase::kDone) result.push_back(r);
  return result;
}

const Restart& Restarts::best() const {
  return *std::ranges::max_element(all_, {}, &Restart::objective);
}

bool Restarts::resume(const Restore& restore) {
  if (!checkpoint_.resumes()) return false;
  checkpoint_.load([&](const json& state, const ArrayFileReader& file) {
    round_ = state.at("round");
    trace_ = restored_trace(state.at("trace"));
    if (std::ssize(state.at("restarts")) != count())
      throw DataFormatError("it has {} restarts, expected {}", state["restarts"].size(), count());
    for (const auto& entry : trace_)
      if (entry.restart < 0 || entry.restart >= count())
        throw DataFormatError("its trace has a restart {}", entry.restart);
    for (std::size_t r = 0; r < all_.size(); ++r) {
      all_[r] = restored_restart(state["restarts"][r]);
      all_[r].labels = file.read<std::int32_t>(labels_name(r)).values;
      require_labels(all_[r].labels, data_.episodes(), plan_.k);
    }
    restore(state.at("method"), file);
  });
  return true;
}

void Restarts::save(const Save& save) const {
  json restarts = json::array();
  for (const auto& restart : all_) restarts.push_back(saved_restart(restart));
  checkpoint_.save([&](ArrayFileWriter& file) {
    for (std::size_t r = 0; r < all_.size(); ++r)
      file.write<std::int32_t>(labels_name(r), all_[r].labels);
    return json{{"round", round_},
                {"restarts", std::move(restarts)},
                {"trace", saved_trace(trace_)},
                {"method", save(file)}};
  });
}

bool Restarts::next_round() {
  if (running().empty()) return false;
  run_.throw_if_stopped();
  ++round_;
  return true;
}

void Restarts::note_round(std::int64_t index) {
  auto& restart = (*this)[index];
  ++restart.rounds;
  ++restart.phase_rounds;
  trace_.push_back({index, restart.rounds, restart.objective, restart.changed,
                    restart.sizes(plan_.k), clock_.seconds()});
}

void Restarts::end_round(const Save& save_method) {
  if (checkpoint_.kept()) timed("checkpoint", [&] { save(save_method); });
  report();
}

void Restarts::report() const {
  Progress progress{.stage = "round",
                    .iteration = round_,
                    .max_iterations = plan_.most_rounds,
                    .fraction = 1.0,
                    .objective = best().objective,
                    .changed = best().changed,
                    .running = std::ssize(running()),
                    .sizes = best().sizes(plan_.k),
                    .seconds = clock_.seconds()};
  std::erase(progress.sizes, 0);
  run_.report(progress);
}

Clustering Restarts::conclude(
    std::string score_meaning, const std::function<Matrix(Slots)>& score,
    const std::function<std::shared_ptr<const Centres>(Slots)>& centres) const {
  Clustering result;
  result.method = plan_.method;
  result.score_meaning = std::move(score_meaning);
  result.options = plan_.options;
  result.trace = trace_;
  std::vector<RestartSummary> summaries;
  for (std::int64_t r = 0; r < count(); ++r) {
    const auto& restart = (*this)[r];
    summaries.push_back(
        {r, restart.rounds, restart.converged, restart.objective,
         restart.merges.empty() ? restart.objective : restart.objective_before_merge,
         restart.merges, consecutive_labels(restart.labels)});
  }
  adopt_best(std::move(summaries), result);

  std::vector<std::int64_t> slots;
  const auto sizes = (*this)[result.best_restart].sizes(plan_.k);
  for (std::size_t c = 0; c < sizes.size(); ++c)
    if (sizes[c] > 0) slots.push_back(result.best_restart * plan_.k + static_cast<std::int64_t>(c));
  result.scores = score(slots);
  result.centres = centres(slots);
  result.timings = seconds_;
  result.timings["rounds"] = round_;
  result.seconds = clock_.seconds();
  return result;
}

}  // namespace kindred
