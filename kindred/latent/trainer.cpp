#include "kindred/latent/trainer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kindred/clustering/checkpoint.h"
#include "kindred/core/error.h"
#include "kindred/core/stopwatch.h"

namespace kindred::latent {
namespace {

constexpr std::int64_t kRoundSteps = 50;  // training steps between two looks at the codebook
constexpr std::int64_t kPool = 8;         // batches among which trajectories are sorted by length
constexpr std::int64_t kRecent = 4096;    // latent vectors of a round a model gets to see

at::Device device_of(const RunContext& run) { return at::Device(run.device); }

}  // namespace

TrainingSetup::TrainingSetup(const Trajectories& d, const Options& o, const RunContext& r)
    : data(d),
      options(o),
      run(r),
      inputs(NetworkInputs::from(d.observations, o.standardize == Standardize::kOn)),
      architecture(architecture_for(d, inputs, o)),
      sharing(share_parts(r)),
      autoencoder(make_dataset_autoencoder(d, inputs, architecture, o.batch_trajectories, r,
                                           sharing.get())) {}

Trainer::Trainer(TrainingSetup& setup, const Method& method, std::int64_t restart)
    : setup_(setup),
      order_(setup.data, setup.options.batch_trajectories, kPool, setup.options.buffer_steps,
             static_cast<std::uint64_t>(setup.options.seed), restart),
      parameters_(initial_parameters(setup.architecture,
                                     restart_random(setup.options, "autoencoder", restart))
                      .to(device_of(setup.run))),
      model_(method.make_model(restart, parameters_)),
      labels_(static_cast<std::size_t>(setup.data.episodes()), 0) {
  auto all = model_->parameters();
  all.insert(all.begin(), parameters_);
  adam_ = std::make_unique<TensorAdam>(all);
  adam_->use(setup.autoencoder->adam());
}

at::Tensor Trainer::loss_of(std::int64_t number, at::Tensor& features) const {
  auto& autoencoder = *setup_.autoencoder;
  features = autoencoder.encode(parameters_);
  const auto reconstruction = [&](const at::Tensor& z) {
    auto log_likelihood = autoencoder.log_likelihood(parameters_, z);
    if (setup_.options.reconstruction == Reconstruction::kMean) {
      std::vector<float> lengths;
      for (const auto episode : autoencoder.selected())
        lengths.push_back(static_cast<float>(setup_.data.length(episode)));
      log_likelihood = log_likelihood / at::tensor(lengths).to(log_likelihood.device());
    }
    return -log_likelihood.mean();
  };
  return model_->loss({number, autoencoder.selected(), features, reconstruction});
}

at::Tensor Trainer::differentiate(at::Tensor& features) {
  if (auto terms = model_->centroid_terms(steps_)) {
    terms->mean_over_steps = setup_.options.reconstruction == Reconstruction::kMean;
    if (const auto found = setup_.autoencoder->gradient(parameters_, *terms)) {
      features = found->features;
      adam_->set_gradient(found->gradient);
      return found->loss;
    }
  }
  const auto loss = loss_of(steps_, features);
  adam_->differentiate(loss);
  return loss.detach();
}

double Trainer::rate() const {
  if (!setup_.options.decay) return 1.0;
  const double done = static_cast<double>(steps_) / static_cast<double>(setup_.options.max_steps);
  return std::min(1.0, 2.0 * (1.0 - done));
}

double Trainer::estimate_seconds() {
  double seconds = 0.0;
  constexpr int kTries = 3;  // the first one only warms up
  for (int i = 0; i < kTries; ++i) {
    const Stopwatch clock;
    setup_.autoencoder->select(order_[i]);
    at::Tensor features;
    differentiate(features).item<float>();
    if (i > 0) seconds += clock.seconds() / (kTries - 1);
  }
  // At the end everything is encoded and evaluated once: two passes forward, a third of a step
  // each.
  const double batches = static_cast<double>(setup_.data.episodes()) /
                         static_cast<double>(setup_.options.batch_trajectories);
  return seconds * (static_cast<double>(setup_.options.max_steps) + batches * 2.0 / 3.0);
}

double Trainer::train_round(const std::function<void(double fraction)>& progress) {
  const Stopwatch clock;
  const auto begin = rounds_ * kRoundSteps;
  const auto end = std::min(setup_.options.max_steps, begin + kRoundSteps);
  while (steps_ < end) {
    train_step();
    progress(static_cast<double>(steps_ - begin) / static_cast<double>(end - begin));
  }
  const double loss = end_round();
  work_.seconds += clock.seconds();
  return loss;
}

void Trainer::train_step() {
  setup_.run.throw_if_stopped();
  auto& autoencoder = *setup_.autoencoder;
  autoencoder.select(order_[steps_]);
  at::Tensor features;
  const auto loss = differentiate(features);  // what may throw comes before what changes anything
  adam_->update({.learning_rate = rate() * setup_.options.learning_rate,
                 .max_gradient_norm = setup_.options.max_gradient_norm});
  ++steps_;
  work_.steps += autoencoder.steps();
  work_.padding += autoencoder.padding();
  round_.losses.push_back(loss);
  round_.latents.push_back(model_->latent(features.detach()).detach());
  round_.episodes.insert(round_.episodes.end(), autoencoder.selected().begin(),
                         autoencoder.selected().end());
}

double Trainer::end_round() {
  const double loss = at::stack(round_.losses).mean().item<double>();
  if (!std::isfinite(loss))
    throw NumericError("training diverged before step {}; lower learning-rate, now {}", steps_,
                       setup_.options.learning_rate);
  const auto seen = to_matrix(at::cat(round_.latents));
  auto labels = labels_;
  const auto changed = relabel(seen, labels);
  Matrix recent(std::min(kRecent, seen.rows), seen.columns);
  std::copy(seen.values.end() - std::ssize(recent.values), seen.values.end(),
            recent.values.begin());
  const auto after = model_->end_round({steps_, recent, [this] { return all_latents(); }});
  // The model may have been stopped; from here on the round is complete.
  if (after == AfterRound::kParametersReplaced || after == AfterRound::kLossReplaced)
    for (std::size_t i = 0; i < model_->parameters().size(); ++i) adam_->forget(i + 1);
  finished_ = after == AfterRound::kFinished;
  labels_ = std::move(labels);
  changed_ = changed;
  seen_ = seen.rows;
  ++rounds_;
  if (after == AfterRound::kLossReplaced) objective_since_ = rounds_ + 1;
  round_ = {};
  return loss;
}

std::int64_t Trainer::relabel(const Matrix& latents, std::vector<std::int32_t>& labels) const {
  if (!model_->centres().defined()) return 0;
  const auto centres = to_matrix(model_->centres());
  std::vector<std::int32_t> own(static_cast<std::size_t>(centres.rows));
  std::iota(own.begin(), own.end(), 0);
  const auto nearest = best_columns(LatentCentres({}, centres, own).score_latents(latents));
  std::int64_t changed = 0;
  for (std::size_t i = 0; i < nearest.size(); ++i) {
    auto& label = labels[static_cast<std::size_t>(round_.episodes[i])];
    changed += label != nearest[i];
    label = nearest[i];
  }
  return changed;
}

double Trainer::evaluate() {
  const c10::NoGradGuard no_grad;
  double sum = 0.0;
  for_all_trajectories([&](std::span<const std::int64_t> some) {
    at::Tensor features;
    sum += loss_of(steps_, features).item<double>() * static_cast<double>(some.size());
  });
  return sum / static_cast<double>(setup_.data.episodes());
}

Matrix Trainer::all_latents() const {
  if (!setup_.autoencoder->is_on_gpu()) return encode_in_shares(encoder(), setup_.data, setup_.run);
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> latents;
  for_all_trajectories([&](std::span<const std::int64_t>) {
    latents.push_back(model_->latent(setup_.autoencoder->encode(parameters_)));
  });
  return to_matrix(at::cat(latents));
}

void Trainer::for_all_trajectories(
    const std::function<void(std::span<const std::int64_t>)>& visit) const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(setup_.data.episodes()));
  std::iota(all.begin(), all.end(), 0);
  const auto size = static_cast<std::size_t>(setup_.autoencoder->at_once());
  for (std::size_t begin = 0; begin < all.size(); begin += size) {
    setup_.run.throw_if_stopped();
    const auto some = std::span(all).subspan(begin, std::min(size, all.size() - begin));
    setup_.autoencoder->select(some);
    visit(some);
  }
}

Encoder Trainer::encoder() const {
  const auto copy = [](const at::Tensor& tensor) {
    return tensor.defined() ? tensor.detach().to(at::kCPU).clone() : at::Tensor();
  };
  return {setup_.inputs, setup_.architecture, copy(parameters_), copy(model_->latent_weight()),
          copy(model_->latent_bias())};
}

void Trainer::save(ArrayFileWriter& file) const {
  file.write<std::int64_t>(
      "training/counters",
      std::vector<std::int64_t>{steps_, rounds_, finished_, work_.steps, work_.padding,
                                objective_since_, changed_, seen_});
  file.write<std::int32_t>("training/labels", labels_);
  const auto own = model_->parameters();
  for (std::size_t i = 0; i <= own.size(); ++i)
    write_tensor(file, fmt::format("training/value/{}", i), i == 0 ? parameters_ : own[i - 1]);
  const auto adam = adam_->state();
  file.write<std::int64_t>("training/adam/steps", adam.steps);
  file.write<float>("training/adam/first", adam.first);
  file.write<float>("training/adam/second", adam.second);
  model_->save(file);
  if (round_.losses.empty()) return;
  write_tensor(file, "training/round/losses", at::stack(round_.losses));
  write_tensor(file, "training/round/latents", at::cat(round_.latents));
  file.write<std::int64_t>("training/round/episodes", round_.episodes);
}

void Trainer::load(const ArrayFileReader& file) {
  const c10::NoGradGuard no_grad;
  const auto counters = file.read<std::int64_t>("training/counters").values;
  if (counters.size() != 8 || counters[0] < 0 || counters[0] > setup_.options.max_steps)
    throw DataFormatError("the counters of the training are not those of this run");
  steps_ = counters[0];
  rounds_ = counters[1];
  finished_ = counters[2] != 0;
  work_ = {counters[3], counters[4], 0.0};
  objective_since_ = counters[5];
  changed_ = counters[6];
  seen_ = counters[7];
  labels_ = file.read<std::int32_t>("training/labels").values;
  require_labels(labels_, setup_.data.episodes(), setup_.options.k);
  const auto own = model_->parameters();
  for (std::size_t i = 0; i <= own.size(); ++i) {
    auto value = i == 0 ? parameters_ : own[i - 1];
    value.copy_(read_tensor(file, fmt::format("training/value/{}", i), value.sizes().vec()));
  }
  adam_->restore({file.read<std::int64_t>("training/adam/steps").values,
                  file.read<float>("training/adam/first").values,
                  file.read<float>("training/adam/second").values});
  model_->load(file, setup_.data.episodes());
  load_round(file);
}

void Trainer::load_round(const ArrayFileReader& file) {
  if (!file.contains("training/round/losses")) return;
  const auto steps = steps_ - rounds_ * kRoundSteps;
  round_.episodes = file.read<std::int64_t>("training/round/episodes").values;
  const bool known = std::ranges::all_of(
      round_.episodes, [&](auto i) { return i >= 0 && i < setup_.data.episodes(); });
  if (!known || steps < 1) throw DataFormatError("the saved training state does not fit together");
  const auto on_device = [&](const char* name, const std::vector<std::int64_t>& shape) {
    return read_tensor(file, name, shape).to(parameters_.device());
  };
  round_.losses = on_device("training/round/losses", {steps}).unbind();
  round_.latents = {on_device("training/round/latents",
                              {std::ssize(round_.episodes), setup_.architecture.features()})};
}

}  // namespace kindred::latent
