// One restart in training.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kindred/latent/batches.h"
#include "kindred/latent/dataset_autoencoder.h"
#include "kindred/latent/encoder.h"
#include "kindred/latent/fit.h"
#include "kindred/latent/shared_batches.h"
#include "kindred/nn/tensor_adam.h"

namespace kindred::latent {

/// The parts all restarts share. Where the run has several processes they train together, each on
/// its share of every batch; all of them make the same calls.
struct TrainingSetup {
  TrainingSetup(const Trajectories& data, const Options& options, const RunContext& run);

  const Trajectories& data;
  const Options& options;
  const RunContext& run;
  NetworkInputs inputs;
  AutoencoderArchitecture architecture;
  std::unique_ptr<PartSharing> sharing;  // null: one process
  std::unique_ptr<DatasetAutoencoder> autoencoder;
};

/// What training has cost: steps of trajectories, and seconds since the process started.
struct Work {
  std::int64_t steps = 0;
  std::int64_t padding = 0;
  double seconds = 0.0;

  void operator+=(const Work& other) {
    steps += other.steps;
    padding += other.padding;
    seconds += other.seconds;
  }
};

/// Asked to stop, what trains or evaluates throws Interrupted and leaves the state after the last
/// complete training step, which can be saved: going on from there gives the same result.
class Trainer {
 public:
  Trainer(TrainingSetup& setup, const Method& method, std::int64_t restart);

  /// Before the first round; not when a saved state is loaded.
  void begin() {
    model_->begin([this] { return all_latents(); });
  }
  /// Seconds the whole restart will take, from a few steps that train nothing.
  double estimate_seconds();

  /// Trains to the end of the round; returns its mean loss.
  double train_round(const std::function<void(double fraction)>& progress);
  bool finished() const {
    return finished_ || (steps_ >= setup_.options.max_steps && round_.losses.empty());
  }
  std::int64_t steps() const { return steps_; }
  std::int64_t rounds() const { return rounds_; }
  /// The first round with the loss the model has now.
  std::int64_t objective_since() const { return objective_since_; }

  /// Label of each trajectory when it was last seen; 0 as long as there are no centres.
  const std::vector<std::int32_t>& labels() const { return labels_; }
  std::int64_t changed() const { return changed_; }  ///< Of the labels, in the last round.
  /// Whether hardly a label (one in a thousand of those seen) changed in the last round.
  bool settled() const { return 1000 * changed_ <= seen_; }
  const Work& work() const { return work_; }

  Encoder encoder() const;
  /// Latent vectors of every trajectory.
  Matrix all_latents() const;
  /// Mean loss over every trajectory.
  double evaluate();
  Model& model() { return *model_; }

  void save(ArrayFileWriter& file) const;
  void load(const ArrayFileReader& file);

 private:
  /// Of the trajectories that are selected.
  at::Tensor loss_of(std::int64_t number, at::Tensor& features) const;
  /// Loss and gradient of a training step.
  at::Tensor differentiate(at::Tensor& features);
  void train_step();
  /// Selects all trajectories in their order, some at a time.
  void for_all_trajectories(const std::function<void(std::span<const std::int64_t>)>& visit) const;
  double end_round();
  /// Sets the labels of the round's episodes; returns how many changed.
  std::int64_t relabel(const Matrix& latents, std::vector<std::int32_t>& labels) const;
  void load_round(const ArrayFileReader& file);
  double rate() const;

  /// What the training steps of a round have left, [steps in it].
  struct Round {
    std::vector<at::Tensor> losses, latents;  // read at its end: a GPU need not wait for us
    std::vector<std::int64_t> episodes;       // all of them, in the order of the latent vectors
  };

  TrainingSetup& setup_;
  BatchOrder order_;
  at::Tensor parameters_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<TensorAdam> adam_;
  std::int64_t steps_ = 0;
  std::int64_t rounds_ = 0;
  std::int64_t objective_since_ = 1;
  bool finished_ = false;
  std::vector<std::int32_t> labels_;
  std::int64_t changed_ = 0;
  std::int64_t seen_ = 0;
  Work work_;
  Round round_;  // the one that is not complete yet
};

}  // namespace kindred::latent
