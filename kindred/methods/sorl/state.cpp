#include "kindred/methods/sorl/state.h"

#include <fmt/format.h>

#include <algorithm>

#include "kindred/clustering/saved_state.h"

namespace kindred::sorl {
namespace {

using nlohmann::json;

json saved_restart(const Restart& r) {
  return {{"done", r.done},
          {"converged", r.converged},
          {"rounds", r.rounds},
          {"objective", saved_number(r.objective)},
          {"objective_before_merge", saved_number(r.objective_before_merge)},
          {"best_objective", saved_number(r.best_objective)},
          {"plateau_objective", saved_number(r.plateau_objective)},
          {"plateau_rounds", r.plateau_rounds},
          {"changed", r.changed},
          {"merges", saved_merges(r.merges)}};
}

Restart restored_restart(const json& j) {
  Restart r;
  r.done = j.at("done");
  r.converged = j.at("converged");
  r.rounds = j.at("rounds");
  r.objective = restored_number(j.at("objective"));
  r.objective_before_merge = restored_number(j.at("objective_before_merge"));
  r.best_objective = restored_number(j.at("best_objective"));
  r.plateau_objective = restored_number(j.at("plateau_objective"));
  r.plateau_rounds = j.at("plateau_rounds");
  r.changed = j.at("changed");
  r.merges = restored_merges(j.at("merges"));
  return r;
}

}  // namespace

std::vector<std::int64_t> Restart::sizes(std::int64_t k) const {
  std::vector<std::int64_t> result(static_cast<std::size_t>(k), 0);
  for (const auto label : labels) ++result[static_cast<std::size_t>(label)];
  return result;
}

std::vector<std::int64_t> State::running() const {
  std::vector<std::int64_t> result;
  for (std::size_t r = 0; r < restarts.size(); ++r)
    if (!restarts[r].done) result.push_back(static_cast<std::int64_t>(r));
  return result;
}

std::int64_t State::best() const {
  return std::ranges::max_element(restarts, {}, &Restart::objective) - restarts.begin();
}

State start(const Trajectories& data, const Options& options) {
  Restart restart;
  restart.labels.assign(static_cast<std::size_t>(data.episodes()), 0);
  State state;
  state.restarts.assign(static_cast<std::size_t>(options.restarts), restart);
  return state;
}

void save_state(const State& state, const Mixture& mixture, const Options& options,
                const std::filesystem::path& path) {
  ArrayFileWriter file(path);
  json summary = {
      {"round", state.round}, {"restarts", json::array()}, {"trace", saved_trace(state.trace)}};
  for (const auto& restart : state.restarts) summary["restarts"].push_back(saved_restart(restart));
  file.write_text("state", summary.dump());
  save_options(to_json(Options(options).describe()), file);
  for (std::size_t r = 0; r < state.restarts.size(); ++r)
    file.write<std::int32_t>(fmt::format("labels/{}", r), state.restarts[r].labels);
  mixture.save(file);
  file.close();
}

State load_state(Mixture& mixture, const Options& options, const Trajectories& data,
                 const std::filesystem::path& path) {
  const ArrayFileReader file(path);
  require_saved_options(to_json(Options(options).describe()), file, path);
  State state;
  const auto summary = json::parse(file.read_text("state"));
  state.round = summary.at("round");
  state.trace = restored_trace(summary.at("trace"));
  for (const auto& saved : summary.at("restarts")) {
    auto restart = restored_restart(saved);
    restart.labels =
        file.read<std::int32_t>(fmt::format("labels/{}", state.restarts.size())).values;
    require_saved_episodes(restart.labels, data, path);
    state.restarts.push_back(std::move(restart));
  }
  mixture.load(file);
  return state;
}

}  // namespace kindred::sorl
