#include "kindred/methods/pg_kmeans/state.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kindred/clustering/saved_state.h"
#include "kindred/core/random.h"
#include "kindred/methods/pg_kmeans/fingerprint.h"

namespace kindred::pg_kmeans {
namespace {

using nlohmann::json;

json to_json(const Restart& r) {
  return {{"phase", static_cast<int>(r.phase)},
          {"phase_rounds", r.phase_rounds},
          {"rounds", r.rounds},
          {"converged", r.converged},
          {"objective", saved_number(r.objective)},
          {"objective_before_merge", saved_number(r.objective_before_merge)},
          {"changed", r.changed},
          {"reseeds", r.reseeds},
          {"merges", saved_merges(r.merges)}};
}

Restart restart_from(const json& j) {
  Restart r;
  r.phase = static_cast<Phase>(j.at("phase").get<int>());
  r.phase_rounds = j.at("phase_rounds");
  r.rounds = j.at("rounds");
  r.converged = j.at("converged");
  r.objective = restored_number(j.at("objective"));
  r.objective_before_merge = restored_number(j.at("objective_before_merge"));
  r.changed = j.at("changed");
  r.reseeds = j.at("reseeds");
  r.merges = restored_merges(j.at("merges"));
  return r;
}

}  // namespace

std::vector<std::int64_t> Restart::sizes() const {
  std::vector<std::int64_t> result(alive.size(), 0);
  for (const auto label : labels) ++result[static_cast<std::size_t>(label)];
  return result;
}

bool State::running() const {
  return std::ranges::any_of(restarts, [](const auto& r) { return r.phase != Phase::kDone; });
}

std::int64_t State::best() const {
  return std::ranges::max_element(restarts, {}, &Restart::objective) - restarts.begin();
}

State start(const Trajectories& data, const Options& options, const Workers& workers) {
  State state;
  for (std::int64_t r = 0; r < options.restarts; ++r) {
    Restart restart;
    Random random(static_cast<std::uint64_t>(options.seed), "init", static_cast<std::uint64_t>(r));
    if (options.init == Initialisation::kFingerprint) {
      restart.labels = fingerprint_labels(data, options.k, random, workers);
    } else {
      restart.labels.resize(static_cast<std::size_t>(data.episodes()));
      for (std::size_t i = 0; i < restart.labels.size(); ++i)
        restart.labels[i] = static_cast<std::int32_t>(i % static_cast<std::size_t>(options.k));
      random.shuffle(std::span(restart.labels));
    }
    restart.alive.assign(static_cast<std::size_t>(options.k), 1);
    restart.empty_rounds.assign(static_cast<std::size_t>(options.k), 0);
    restart.objective = -std::numeric_limits<double>::infinity();
    state.restarts.push_back(std::move(restart));
  }
  return state;
}

void save_state(const State& state, const Learner& learner, const Options& options,
                const std::filesystem::path& path) {
  ArrayFileWriter file(path);
  json summary = {
      {"round", state.round}, {"restarts", json::array()}, {"trace", saved_trace(state.trace)}};
  for (const auto& restart : state.restarts) summary["restarts"].push_back(to_json(restart));
  file.write_text("state", summary.dump());
  save_options(kindred::to_json(Options(options).describe()), file);
  for (std::size_t r = 0; r < state.restarts.size(); ++r) {
    const auto prefix = fmt::format("restart/{}/", r);
    file.write<std::int32_t>(prefix + "labels", state.restarts[r].labels);
    file.write<std::uint8_t>(prefix + "alive", state.restarts[r].alive);
    file.write<std::int64_t>(prefix + "empty_rounds", state.restarts[r].empty_rounds);
  }
  learner.save(file);
  file.close();
}

State load_state(Learner& learner, const Options& options, const Trajectories& data,
                 const std::filesystem::path& path) {
  const ArrayFileReader file(path);
  require_saved_options(kindred::to_json(Options(options).describe()), file, path);

  State state;
  const auto summary = json::parse(file.read_text("state"));
  state.round = summary.at("round");
  state.trace = restored_trace(summary.at("trace"));
  for (std::size_t r = 0; r < summary.at("restarts").size(); ++r) {
    auto restart = restart_from(summary["restarts"][r]);
    const auto prefix = fmt::format("restart/{}/", r);
    restart.labels = file.read<std::int32_t>(prefix + "labels").values;
    restart.alive = file.read<std::uint8_t>(prefix + "alive").values;
    restart.empty_rounds = file.read<std::int64_t>(prefix + "empty_rounds").values;
    require_saved_episodes(restart.labels, data, path);
    state.restarts.push_back(std::move(restart));
  }
  learner.load(file);
  return state;
}

}  // namespace kindred::pg_kmeans
