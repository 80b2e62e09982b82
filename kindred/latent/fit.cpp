#include "kindred/latent/fit.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

#include "kindred/clustering/checkpoint.h"
#include "kindred/clustering/stoppable.h"
#include "kindred/core/error.h"
#include "kindred/core/stopwatch.h"
#include "kindred/dist/packing.h"
#include "kindred/latent/merge_codes.h"
#include "kindred/latent/shared_batches.h"
#include "kindred/latent/trainer.h"
#include "kindred/nn/torch_threads.h"

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

/// Who does what, where several processes share a fit: restarts are spread over some, and each of
/// those is trained by some; one of the two is this process alone.
struct Processes {
  Processes(const RunContext& run, const Options& options, const Trajectories& data)
      : all(run), training(run), restarts(one_process()) {
    auto batches = static_cast<std::byte>(shares_batches(options, data, run));
    ranks_of(run).broadcast({&batches, 1}, 0);  // it depends on the first one's threads
    if (batches != std::byte{0}) return;
    if (run.communicator) restarts = run.communicator;
    training.communicator = nullptr;
  }

  /// Processes in the middle of different restarts have no one state.
  RunContext keeping() const {
    RunContext run = all;
    if (restarts->size() > 1) run.checkpoint.clear();
    return run;
  }

  const RunContext& all;
  RunContext training;
  std::shared_ptr<Communicator> restarts;
};

/// The restarts that this process trains, of all; several processes have some each.
std::vector<std::int64_t> own_restarts(std::int64_t restarts, const Communicator& ranks) {
  std::vector<std::int64_t> own;
  for (auto r = ranks.rank(); r < restarts; r += ranks.size()) own.push_back(r);
  return own;
}

/// Everything between two rounds.
struct State {
  std::vector<std::int64_t> restarts;  // to be trained here
  std::vector<Finished> finished;
  std::vector<TraceEntry> trace;
  Work work;                         // of the finished restarts
  std::unique_ptr<Trainer> trainer;  // of the restart after the finished ones

  bool is_complete() const { return finished.size() == restarts.size(); }
  std::int64_t restart() const { return restarts[finished.size()]; }
};

std::vector<std::int64_t> sizes_of(const std::vector<std::int32_t>& labels, std::int64_t k) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(k), 0);
  for (const auto label : labels) ++sizes[static_cast<std::size_t>(label)];
  return sizes;
}

nlohmann::json save_finished(const Finished& f, const std::string& prefix, ArrayFileWriter& file) {
  file.write<std::int32_t>(prefix + "labels", f.summary.labels);
  write_tensor(file, prefix + "parameters", f.encoder.parameters);
  if (f.encoder.weight.defined()) {
    write_tensor(file, prefix + "weight", f.encoder.weight);
    write_tensor(file, prefix + "bias", f.encoder.bias);
  }
  file.write<double>(prefix + "codes", f.codes.values, {f.codes.rows, f.codes.columns});
  file.write<std::int32_t>(prefix + "cluster_of_code", f.cluster_of_code);
  return {{"iterations", f.summary.iterations},
          {"converged", f.summary.converged},
          {"objective", f.summary.objective},
          {"objective_before_merge", f.summary.objective_before_merge},
          {"merges", saved_merges(f.summary.merges)},
          {"objective_since", f.summary.objective_since}};
}

Finished restore_finished(const nlohmann::json& j, std::int64_t restart, const std::string& prefix,
                          const ArrayFileReader& file, const TrainingSetup& setup) {
  Finished f;
  f.summary = {restart,
               j.at("iterations"),
               j.at("converged"),
               j.at("objective"),
               j.at("objective_before_merge"),
               restored_merges(j.at("merges")),
               file.read<std::int32_t>(prefix + "labels").values,
               j.at("objective_since")};
  require_labels(f.summary.labels, setup.data.episodes(), setup.options.k);
  const auto width = setup.architecture.features();
  const auto size = AutoencoderLayout(setup.architecture).size;
  f.encoder = {
      setup.inputs, setup.architecture, read_tensor(file, prefix + "parameters", {size}), {}, {}};
  if (file.contains(prefix + "weight")) {
    f.encoder.weight = read_tensor(file, prefix + "weight", {width, width});
    f.encoder.bias = read_tensor(file, prefix + "bias", {1, width});
  }
  auto codes = file.read<double>(prefix + "codes");
  f.codes = Matrix(codes.shape.at(0), codes.shape.at(1));
  f.codes.values = std::move(codes.values);
  f.cluster_of_code = file.read<std::int32_t>(prefix + "cluster_of_code").values;
  require_labels(f.cluster_of_code, f.codes.rows, setup.options.k);
  if (f.codes.rows < 1 || f.codes.columns != width)
    throw DataFormatError("a finished restart has {} codes of {} numbers, expected {} numbers",
                          f.codes.rows, f.codes.columns, width);
  return f;
}

std::string finished_prefix(std::size_t restart) { return fmt::format("finished/{}/", restart); }

void save_state(const State& state, const Checkpoint& checkpoint) {
  checkpoint.save([&](ArrayFileWriter& file) {
    nlohmann::json restarts = nlohmann::json::array();
    for (std::size_t r = 0; r < state.finished.size(); ++r)
      restarts.push_back(save_finished(state.finished[r], finished_prefix(r), file));
    state.trainer->save(file);
    return nlohmann::json{{"restarts", std::move(restarts)},
                          {"trace", saved_trace(state.trace)},
                          {"work", {state.work.steps, state.work.padding}}};
  });
}

State load_state(TrainingSetup& setup, const Method& method, const Checkpoint& checkpoint) {
  State state;
  state.restarts = own_restarts(method.options.restarts, *one_process());
  checkpoint.load([&](const nlohmann::json& stored, const ArrayFileReader& file) {
    state.trace = restored_trace(stored.at("trace"));
    state.work = {stored.at("work").at(0), stored.at("work").at(1), 0.0};
    const auto& restarts = stored.at("restarts");
    if (std::ssize(restarts) > method.options.restarts)
      throw DataFormatError("{} restarts are finished, of {}", restarts.size(),
                            method.options.restarts);
    for (std::size_t r = 0; r < restarts.size(); ++r)
      state.finished.push_back(restore_finished(restarts[r], static_cast<std::int64_t>(r),
                                                finished_prefix(r), file, setup));
    state.trainer = std::make_unique<Trainer>(setup, method, std::ssize(state.finished));
    state.trainer->load(file);
    for (const auto& entry : state.trace)
      if (entry.restart < 0 || entry.restart >= method.options.restarts)
        throw DataFormatError("its trace has a restart {}", entry.restart);
  });
  return state;
}

/// Ends a restart: encodes everything, takes the model's centres, drops empty ones and merges.
Finished conclude(Trainer& trainer, const Method& method, std::int64_t restart) {
  Finished done;
  done.encoder = trainer.encoder();
  done.latents = trainer.all_latents();
  const auto& latents = done.latents;
  trainer.model().conclude(latents);
  const double objective = -trainer.evaluate();
  const auto centres = to_matrix(trainer.model().centres());
  std::vector<std::int32_t> own(static_cast<std::size_t>(centres.rows));
  for (std::size_t c = 0; c < own.size(); ++c) own[c] = static_cast<std::int32_t>(c);
  const auto code_of = best_columns(LatentCentres({}, centres, own).score_latents(latents));
  const auto merged = merge_codes(latents, code_of, centres.rows, method.options.merge_to,
                                  objective, method.distance_weight);
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
                  {},
                  trainer.objective_since()};
  for (const auto code : code_of)
    done.summary.labels.push_back(merged.cluster_of_code[static_cast<std::size_t>(code)]);
  return done;
}

/// One round of the current restart, with its trace and its report.
void train_round(State& state, const Method& method, const RunContext& run,
                 const Stopwatch& clock) {
  auto& trainer = *state.trainer;
  const auto restart = state.restart();
  const double loss = trainer.train_round([&](double fraction) {
    run.report({.stage = "training", .fraction = fraction, .sizes = {}});
  });
  const auto sizes = sizes_of(trainer.labels(), method.options.k);
  state.trace.push_back(
      {restart, trainer.rounds(), -loss, trainer.changed(), sizes, clock.seconds()});
  const auto per_restart =
      (method.options.max_steps * trainer.rounds() + trainer.steps() - 1) / trainer.steps();
  Progress progress{.stage = "round",
                    .iteration = restart * per_restart + trainer.rounds(),
                    .max_iterations = method.options.restarts * per_restart,
                    .fraction = 1.0,
                    .objective = -loss,
                    .changed = trainer.changed(),
                    .running = method.options.restarts - restart,
                    .sizes = sizes,
                    .seconds = clock.seconds()};
  std::erase(progress.sizes, 0);
  run.report(progress);
}

/// Concludes the restart that has been trained and sets up the next one, if any. A stop before that
/// is complete leaves the state as it was.
void finish_restart(State& state, TrainingSetup& setup, const Method& method) {
  auto done = conclude(*state.trainer, method, state.restart());
  std::unique_ptr<Trainer> next;
  if (state.finished.size() + 1 < state.restarts.size()) {
    next = std::make_unique<Trainer>(setup, method, state.restarts[state.finished.size() + 1]);
    next->begin();
  }
  state.finished.push_back(std::move(done));
  state.work += state.trainer->work();
  if (next) state.trainer = std::move(next);
}

/// Those of a restart that this process trained are known, unless it went on from a saved state.
Matrix latents_of(const Finished& best, const TrainingSetup& setup, const Processes& processes) {
  if (best.latents.rows > 0 && processes.restarts->size() == 1) return best.latents;
  return encode_in_shares(best.encoder, setup.data, processes.all);
}

Clustering assemble(const State& state, const TrainingSetup& setup, const Method& method,
                    const Processes& processes) {
  Clustering result;
  result.method = method.name;
  result.score_meaning = "negative squared distance";
  result.options = method.all_options;
  result.trace = state.trace;
  std::vector<RestartSummary> restarts;
  for (const auto& f : state.finished) restarts.push_back(f.summary);
  adopt_best(std::move(restarts), result);
  const auto& best = state.finished[static_cast<std::size_t>(result.best_restart)];
  result.latents = latents_of(best, setup, processes);
  auto centres = std::make_shared<LatentCentres>(best.encoder, best.codes, best.cluster_of_code);
  result.scores = centres->score_latents(result.latents);
  result.centres = std::move(centres);
  return result;
}

State begin(TrainingSetup& setup, const Method& method, const Checkpoint& checkpoint,
            const Processes& processes) {
  if (checkpoint.resumes()) return load_state(setup, method, checkpoint);
  State state;
  state.restarts = own_restarts(method.options.restarts, *processes.restarts);
  if (state.is_complete()) return state;  // there are fewer restarts than processes
  state.trainer = std::make_unique<Trainer>(setup, method, state.restart());
  state.trainer->begin();
  processes.all.report(
      {.stage = "estimate",
       .sizes = {},
       .seconds = state.trainer->estimate_seconds() * static_cast<double>(state.restarts.size())});
  return state;
}

std::vector<float> numbers_of(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const auto flat = tensor.to(at::kCPU).contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

at::Tensor tensor_of(const std::vector<float>& numbers, at::IntArrayRef shape) {
  if (numbers.empty()) return {};
  return at::tensor(numbers, at::kFloat).reshape(shape);
}

void pack(const Finished& f, Packer& to) {
  const auto& s = f.summary;
  to.add(std::array{s.restart, s.iterations, s.objective_since});
  to.add(s.converged);
  to.add(std::array{s.objective, s.objective_before_merge});
  to.add(s.merges);
  to.add(s.labels);
  for (const auto* tensor : {&f.encoder.parameters, &f.encoder.weight, &f.encoder.bias})
    to.add(numbers_of(*tensor));
  to.add(std::array{f.codes.rows, f.codes.columns});
  to.add(f.codes.values);
  to.add(f.cluster_of_code);
}

Finished unpack(Unpacker& from, const TrainingSetup& setup) {
  Finished f;
  auto& s = f.summary;
  std::array<std::int64_t, 3> counts;
  std::array<double, 2> objectives;
  std::array<std::int64_t, 2> codes;
  std::vector<float> parameters, weight, bias;
  from.take(counts);
  from.take(s.converged);
  from.take(objectives);
  from.take(s.merges);
  from.take(s.labels);
  for (auto* numbers : {&parameters, &weight, &bias}) from.take(*numbers);
  from.take(codes);
  from.take(f.codes.values);
  from.take(f.cluster_of_code);
  s.restart = counts[0];
  s.iterations = counts[1];
  s.objective_since = counts[2];
  s.objective = objectives[0];
  s.objective_before_merge = objectives[1];
  f.codes.rows = codes[0];
  f.codes.columns = codes[1];
  const auto width = setup.architecture.features();
  f.encoder = {setup.inputs, setup.architecture, tensor_of(parameters, {-1}),
               tensor_of(weight, {width, width}), tensor_of(bias, {1, width})};
  return f;
}

void pack(const TraceEntry& entry, Packer& to) {
  to.add(std::array{entry.restart, entry.iteration, entry.changed});
  to.add(std::array{entry.objective, entry.seconds});
  to.add(entry.sizes);
}

TraceEntry unpack_entry(Unpacker& from) {
  TraceEntry entry;
  std::array<std::int64_t, 3> counts;
  std::array<double, 2> numbers;
  from.take(counts);
  from.take(numbers);
  from.take(entry.sizes);
  entry.restart = counts[0];
  entry.iteration = counts[1];
  entry.changed = counts[2];
  entry.objective = numbers[0];
  entry.seconds = numbers[1];
  return entry;
}

/// Everybody gets the restarts of all, in order.
void gather_restarts(State& state, const TrainingSetup& setup, Communicator& ranks) {
  if (ranks.size() == 1) return;
  Packer own;
  own.add(state.finished.size());
  for (const auto& f : state.finished) pack(f, own);
  own.add(state.trace.size());
  for (const auto& entry : state.trace) pack(entry, own);
  const auto all = ranks.gather(own.bytes());
  for (std::int64_t r = 0; r < ranks.size(); ++r) {
    if (r == ranks.rank()) continue;
    Unpacker from(all[static_cast<std::size_t>(r)]);
    std::size_t restarts = 0, rounds = 0;
    for (from.take(restarts); restarts > 0; --restarts)
      state.finished.push_back(unpack(from, setup));
    for (from.take(rounds); rounds > 0; --rounds) state.trace.push_back(unpack_entry(from));
  }
  std::ranges::sort(state.finished, {}, [](const Finished& f) { return f.summary.restart; });
  std::ranges::stable_sort(state.trace, {}, &TraceEntry::restart);
}

/// Goes from restart to restart; saves now and then, and when it is stopped. `rounds`: those that
/// are complete.
Clustering run_restarts(State& state, TrainingSetup& setup, const Method& method,
                        const Checkpoint& checkpoint, const Processes& processes,
                        const Stopwatch& clock, std::int64_t& rounds) try {
  const auto& run = processes.training;
  Stopwatch since_saved;
  rounds = std::ssize(state.trace);
  while (!state.is_complete()) {
    if (!state.trainer->finished()) train_round(state, method, run, clock);
    rounds = std::ssize(state.trace);
    if (state.trainer->finished()) finish_restart(state, setup, method);
    run.throw_if_stopped();
    if (!checkpoint.kept() || since_saved.seconds() < kSecondsBetweenSaves) continue;
    save_state(state, checkpoint);
    since_saved = {};
  }
  gather_restarts(state, setup, *processes.restarts);
  return assemble(state, setup, method, processes);
} catch (const Interrupted&) {
  if (checkpoint.kept()) save_state(state, checkpoint);
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

Clustering fit(const Trajectories& data, const Method& method, const RunContext& run) {
  return stoppable([&](std::int64_t& rounds) {
    const Stopwatch clock;
    const TorchOnOneThread one_thread;  // what the kernels leave to LibTorch is small
    const Processes processes(run, method.options, data);
    TrainingSetup setup(data, method.options, processes.training);
    const Checkpoint checkpoint(method.name, method.all_options, data, processes.keeping());
    State state = begin(setup, method, checkpoint, processes);
    Clustering result = run_restarts(state, setup, method, checkpoint, processes, clock, rounds);
    result.seconds = clock.seconds();
    result.timings = {{"rounds", state.finished.back().summary.iterations},
                      {"training", state.work.seconds},
                      {"training_steps", state.work.steps},
                      {"padded_steps", state.work.padding}};
    return result;
  });
}

}  // namespace kindred::latent
