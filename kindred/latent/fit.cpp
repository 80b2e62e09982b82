#include "kindred/latent/fit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

#include "kindred/clustering/saved_state.h"
#include "kindred/clustering/stoppable.h"
#include "kindred/core/error.h"
#include "kindred/core/stopwatch.h"
#include "kindred/latent/merge_codes.h"
#include "kindred/latent/trainer.h"
#include "kindred/nn/device.h"

namespace kindred::latent {
namespace {

constexpr double kSecondsBetweenSaves = 10.0;

/// A restart that has been trained, and what is needed to use it.
struct Finished {
  RestartSummary summary;
  Encoder encoder;
  Matrix codes;
  std::vector<std::int32_t> cluster_of_code;
  Matrix latents;  // empty after resuming: they follow from the encoder
};

/// Everything between two rounds.
struct State {
  std::vector<Finished> finished;
  std::vector<TraceEntry> trace;
  Work work;  // of the finished restarts
  std::unique_ptr<Trainer> trainer;
};

std::vector<std::int64_t> sizes_of(const std::vector<std::int32_t>& labels, std::int64_t k) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(k), 0);
  for (const auto label : labels) ++sizes[static_cast<std::size_t>(label)];
  return sizes;
}

void save_state(const State& state, const Recipe& recipe, const std::filesystem::path& path) {
  ArrayFileWriter file(path);
  save_options(recipe.all_options, file);
  nlohmann::json restarts = nlohmann::json::array();
  for (std::size_t r = 0; r < state.finished.size(); ++r) {
    const auto& f = state.finished[r];
    restarts.push_back({{"iterations", f.summary.iterations},
                        {"converged", f.summary.converged},
                        {"objective", f.summary.objective},
                        {"objective_before_merge", f.summary.objective_before_merge},
                        {"merges", saved_merges(f.summary.merges)}});
    const auto prefix = fmt::format("finished/{}/", r);
    file.write<std::int32_t>(prefix + "labels", f.summary.labels);
    write_tensor(file, prefix + "parameters", f.encoder.parameters);
    if (f.encoder.weight.defined()) {
      write_tensor(file, prefix + "weight", f.encoder.weight);
      write_tensor(file, prefix + "bias", f.encoder.bias);
    }
    file.write<double>(prefix + "codes", f.codes.values, {f.codes.rows, f.codes.columns});
    file.write<std::int32_t>(prefix + "cluster_of_code", f.cluster_of_code);
  }
  file.write_text("state", nlohmann::json{{"restarts", restarts},
                                          {"trace", saved_trace(state.trace)},
                                          {"work", {state.work.steps, state.work.padding}}}
                               .dump());
  state.trainer->save(file);
  file.close();
}

State load_state(Workshop& workshop, const Recipe& recipe, const std::filesystem::path& path) {
  const ArrayFileReader file(path);
  require_saved_options(recipe.all_options, file, path);
  const auto stored = nlohmann::json::parse(file.read_text("state"));
  State state;
  state.trace = restored_trace(stored.at("trace"));
  state.work = {stored.at("work").at(0), stored.at("work").at(1), 0.0};
  for (std::size_t r = 0; r < stored.at("restarts").size(); ++r) {
    const auto& j = stored["restarts"][r];
    const auto prefix = fmt::format("finished/{}/", r);
    Finished f;
    f.summary = {static_cast<std::int64_t>(r),
                 j.at("iterations"),
                 j.at("converged"),
                 j.at("objective"),
                 j.at("objective_before_merge"),
                 restored_merges(j.at("merges")),
                 file.read<std::int32_t>(prefix + "labels").values};
    f.encoder = {
        workshop.inputs, workshop.architecture, read_tensor(file, prefix + "parameters"), {}, {}};
    if (file.contains(prefix + "weight")) {
      f.encoder.weight = read_tensor(file, prefix + "weight");
      f.encoder.bias = read_tensor(file, prefix + "bias");
    }
    auto codes = file.read<double>(prefix + "codes");
    f.codes = Matrix(codes.shape.at(0), codes.shape.at(1));
    f.codes.values = std::move(codes.values);
    f.cluster_of_code = file.read<std::int32_t>(prefix + "cluster_of_code").values;
    state.finished.push_back(std::move(f));
  }
  state.trainer =
      std::make_unique<Trainer>(workshop, recipe, static_cast<std::int64_t>(state.finished.size()));
  state.trainer->load(file);
  require_saved_episodes(state.trainer->labels(), workshop.data, path);
  return state;
}

/// Ends a restart: encodes everything, takes the model's centres, drops empty ones and merges.
Finished conclude(Trainer& trainer, const Workshop& workshop, const Recipe& recipe,
                  std::int64_t restart) {
  Finished done;
  done.encoder = trainer.encoder();
  done.latents = done.encoder.encode(workshop.data, workshop.run);
  const auto& latents = done.latents;
  trainer.model().conclude(latents);
  const double objective = -trainer.evaluate();
  const auto centres = to_matrix(trainer.model().centres());
  std::vector<std::int32_t> own(static_cast<std::size_t>(centres.rows));
  for (std::size_t c = 0; c < own.size(); ++c) own[c] = static_cast<std::int32_t>(c);
  const auto code_of = best_columns(LatentCentres({}, centres, own).score_latents(latents));
  const auto merged = merge_codes(latents, code_of, centres.rows, recipe.options.merge_to,
                                  objective, recipe.distance_weight);
  done.codes = Matrix(0, centres.columns);
  for (std::size_t c = 0; c < own.size(); ++c) {
    if (merged.cluster_of_code[c] < 0) continue;
    const auto row = centres.row(static_cast<std::int64_t>(c));
    done.codes.values.insert(done.codes.values.end(), row.begin(), row.end());
    ++done.codes.rows;
    done.cluster_of_code.push_back(merged.cluster_of_code[c]);
  }
  done.summary = {restart,
                  trainer.rounds(),
                  trainer.settled(),
                  merged.steps.empty() ? objective : merged.steps.back().objective,
                  objective,
                  merged.steps,
                  {}};
  for (const auto code : code_of)
    done.summary.labels.push_back(merged.cluster_of_code[static_cast<std::size_t>(code)]);
  return done;
}

/// One round of the current restart, with its trace and its report.
void train_round(State& state, const Recipe& recipe, const RunContext& run,
                 const Stopwatch& clock) {
  auto& trainer = *state.trainer;
  const auto restart = static_cast<std::int64_t>(state.finished.size());
  const double loss = trainer.train_round([&](double fraction) {
    run.report({.stage = "training", .fraction = fraction, .sizes = {}});
  });
  const auto sizes = sizes_of(trainer.labels(), recipe.options.k);
  state.trace.push_back(
      {restart, trainer.rounds(), -loss, trainer.changed(), sizes, clock.seconds()});
  const auto per_restart =
      (recipe.options.max_steps * trainer.rounds() + trainer.steps() - 1) / trainer.steps();
  Progress progress{.stage = "round",
                    .iteration = restart * per_restart + trainer.rounds(),
                    .max_iterations = recipe.options.restarts * per_restart,
                    .fraction = 1.0,
                    .objective = -loss,
                    .changed = trainer.changed(),
                    .running = recipe.options.restarts - restart,
                    .sizes = sizes,
                    .seconds = clock.seconds()};
  std::erase(progress.sizes, 0);
  run.report(progress);
}

/// Concludes the restart that has been trained and sets up the next one, if any. A stop before that
/// is complete leaves the state as it was.
void finish_restart(State& state, Workshop& workshop, const Recipe& recipe) {
  const auto restart = static_cast<std::int64_t>(state.finished.size());
  auto done = conclude(*state.trainer, workshop, recipe, restart);
  std::unique_ptr<Trainer> next;
  if (restart + 1 < recipe.options.restarts) {
    next = std::make_unique<Trainer>(workshop, recipe, restart + 1);
    next->begin();
  }
  state.finished.push_back(std::move(done));
  state.work += state.trainer->work();
  if (next) state.trainer = std::move(next);
}

Clustering assemble(const State& state, const Workshop& workshop, const Recipe& recipe) {
  Clustering result;
  result.method = recipe.method;
  result.score_meaning = "negative squared distance";
  result.options = recipe.all_options;
  result.trace = state.trace;
  std::vector<RestartSummary> restarts;
  for (const auto& f : state.finished) restarts.push_back(f.summary);
  adopt_best(std::move(restarts), result);
  const auto& best = state.finished[static_cast<std::size_t>(result.best_restart)];
  result.latents =
      best.latents.rows > 0 ? best.latents : best.encoder.encode(workshop.data, workshop.run);
  auto centres = std::make_shared<LatentCentres>(best.encoder, best.codes, best.cluster_of_code);
  result.scores = centres->score_latents(result.latents);
  result.centres = std::move(centres);
  return result;
}

State begin(Workshop& workshop, const Recipe& recipe, const RunContext& run) {
  if (run.resume && std::filesystem::exists(run.checkpoint))
    return load_state(workshop, recipe, run.checkpoint);
  State state;
  state.trainer = std::make_unique<Trainer>(workshop, recipe, 0);
  state.trainer->begin();
  run.report({.stage = "estimate",
              .sizes = {},
              .seconds = state.trainer->estimate_seconds() *
                         static_cast<double>(recipe.options.restarts)});
  return state;
}

/// Goes from restart to restart; saves now and then, and when it is stopped. `rounds`: those that
/// are complete.
Clustering run_restarts(State& state, Workshop& workshop, const Recipe& recipe,
                        const RunContext& run, const Stopwatch& clock, std::int64_t& rounds) try {
  Stopwatch since_saved;
  rounds = std::ssize(state.trace);
  while (static_cast<std::int64_t>(state.finished.size()) < recipe.options.restarts) {
    if (!state.trainer->finished()) train_round(state, recipe, run, clock);
    rounds = std::ssize(state.trace);
    if (state.trainer->finished()) finish_restart(state, workshop, recipe);
    run.throw_if_stopped();
    if (run.checkpoint.empty() || since_saved.seconds() < kSecondsBetweenSaves) continue;
    save_state(state, recipe, run.checkpoint);
    since_saved = {};
  }
  return assemble(state, workshop, recipe);
} catch (const Interrupted&) {
  if (!run.checkpoint.empty()) save_state(state, recipe, run.checkpoint);
  throw;
}

}  // namespace

Random restart_random(const Options& options, const char* name, std::int64_t restart) {
  return Random(static_cast<std::uint64_t>(options.seed), name,
                static_cast<std::uint64_t>(restart));
}

at::Tensor normal_tensor(std::int64_t rows, std::int64_t columns, Random random,
                         const at::Tensor& like) {
  Matrix values(rows, columns);
  for (auto& x : values.values) x = random.normal();
  return to_tensor(values, like);
}

Clustering fit(const Trajectories& data, const Recipe& recipe, const RunContext& run) {
  return stoppable([&](std::int64_t& rounds) {
    const Stopwatch clock;
    std::optional<TorchOnOneThread> one_thread;  // what the kernels leave to LibTorch is small
    if (run.device == "cpu") one_thread.emplace();
    Workshop workshop(data, recipe.options, run);
    State state = begin(workshop, recipe, run);
    Clustering result = run_restarts(state, workshop, recipe, run, clock, rounds);
    result.seconds = clock.seconds();
    result.timings = {{"rounds", state.trainer->rounds()},
                      {"training", state.work.seconds},
                      {"training_steps", state.work.steps},
                      {"padded_steps", state.work.padding}};
    return result;
  });
}

}  // namespace kindred::latent
