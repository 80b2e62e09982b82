#include "kindred/methods/sorl/mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/error.h"
#include "kindred/policies/architecture.h"
#include "kindred/policies/centres.h"
#include "kindred/policies/scoring.h"

namespace kindred::sorl {
namespace {

// Far below Adam's epsilon; smaller ones would only fill its averages with slow denormal numbers.
constexpr double kLeastShare = 1e-12;

}  // namespace

Matrix posteriors(const Matrix& scores, std::int64_t k) {
  Matrix shares(scores.rows, scores.columns);
  for (std::int64_t i = 0; i < scores.rows; ++i)
    for (std::int64_t first = 0; first < scores.columns; first += k) {
      const auto group =
          scores.row(i).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(k));
      const double most = std::ranges::max(group);
      double total = 0.0;
      for (const double score : group) total += std::exp(score - most);
      for (std::int64_t z = 0; z < k; ++z) {
        const double share = std::exp(scores(i, first + z) - most) / total;
        shares(i, first + z) = share < kLeastShare ? 0.0 : share;
      }
    }
  return shares;
}

Mixture::Mixture(const Trajectories& data, const Options& options, const RunContext& run)
    : data_(data),
      options_(options),
      run_(run),
      inputs_(NetworkInputs::from(data.observations, options.standardize == Standardize::kOn)),
      architecture_(architecture_for(data, {inputs_, {}}, options.hidden, options.hidden_layers)),
      minibatches_(data, inputs_, options_),
      kept_(architecture_, options.restarts * options.k) {
  for (std::int64_t slot = 0; slot < kept_.size(); ++slot) {
    kept_.initialise(slot, Random(static_cast<std::uint64_t>(options.seed), "policy",
                                  static_cast<std::uint64_t>(slot)));
    policies_.push_back(std::make_unique<CpuPolicy>(architecture_));
    policies_.back()->load(kept_, slot);
  }
}

void Mixture::train(std::span<const std::int64_t> restarts, std::int64_t round) {
  auto& ranks = ranks_of(run_);
  const auto slots_of = [&](std::int64_t rank) {
    std::vector<std::int64_t> slots;
    for (auto i = rank; i < std::ssize(restarts); i += ranks.size())
      for (std::int64_t z = 0; z < options_.k; ++z)
        slots.push_back(restarts[static_cast<std::size_t>(i)] * options_.k + z);
    return slots;
  };
  train_here(slots_of(ranks.rank()), round);
  if (ranks.size() == 1) return;
  Packer trained;
  for (const auto slot : slots_of(ranks.rank())) pack(slot, trained);
  const auto all = ranks.gather(trained.bytes());
  for (std::int64_t r = 0; r < ranks.size(); ++r) {
    Unpacker from(all[static_cast<std::size_t>(r)]);
    if (r == ranks.rank()) continue;
    for (const auto slot : slots_of(r)) unpack(slot, from);
  }
}

void Mixture::pack(std::int64_t slot, Packer& to) const {
  const auto training = policies_[static_cast<std::size_t>(slot)]->training();
  to.add(training.parameters);
  to.add(training.adam.steps);
  to.add(training.adam.first);
  to.add(training.adam.second);
}

void Mixture::unpack(std::int64_t slot, Unpacker& from) {
  CpuPolicy::Training training;
  from.take(training.parameters);
  from.take(training.adam.steps);
  from.take(training.adam.first);
  from.take(training.adam.second);
  policies_[static_cast<std::size_t>(slot)]->resume(std::move(training));
}

void Mixture::train_here(std::span<const std::int64_t> slots, std::int64_t round) {
  if (slots.empty()) return;
  minibatches_.shuffle(round);
  for (std::int64_t m = 0; m < minibatches_.count(); ++m) {
    train_on(minibatches_.make(m), slots);
    Progress progress;
    progress.stage = "training";
    progress.fraction = static_cast<double>(m + 1) / static_cast<double>(minibatches_.count());
    run_.report(progress);
  }
}

void Mixture::train_on(const Minibatch& batch, std::span<const std::int64_t> slots) {
  const auto n = static_cast<std::int64_t>(slots.size());
  Matrix scores(batch.trajectories, n, score_of_no_steps(options_.over_steps()));
  run_.chunks(n, 1, [&](std::int64_t column, std::int64_t) {
    score_batch(batch, slots[static_cast<std::size_t>(column)], scores, column);
  });
  const Matrix shares = posteriors(scores, options_.k);
  run_.chunks(n, 1, [&](std::int64_t column, std::int64_t) {
    for (const auto& slice : batch.slices)
      train_slice(slice, slots[static_cast<std::size_t>(column)], shares, column);
  });
}

void Mixture::score_batch(const Minibatch& batch, std::int64_t slot, Matrix& scores,
                          std::int64_t column) {
  auto& policy = *policies_[static_cast<std::size_t>(slot)];
  std::vector<float> log_probs;
  for (const auto& slice : batch.slices) {
    run_.throw_if_stopped();
    if (architecture_.discrete) {
      log_probs.resize(slice.inputs.size() / inputs_.columns.size() *
                       static_cast<std::size_t>(architecture_.actions));
      policy.all_log_probs(slice.inputs, log_probs);
    } else {
      log_probs.resize(slice.owners.size());
      policy.log_densities(slice.inputs, slice.actions, log_probs);
    }
    for (std::size_t i = 0; i < slice.owners.size(); ++i) {
      const auto at = architecture_.discrete ? static_cast<std::size_t>(slice.codes[i]) : i;
      auto& score = scores(slice.owners[i], column);
      score = with_step(score, log_probs[at], options_.over_steps());
    }
  }
}

void Mixture::train_slice(const Slice& slice, std::int64_t slot, const Matrix& shares,
                          std::int64_t column) {
  run_.throw_if_stopped();
  const auto steps = slice.owners.size();
  const auto rows = slice.inputs.size() / inputs_.columns.size();
  std::vector<float> weights(
      architecture_.discrete ? rows * static_cast<std::size_t>(architecture_.actions) : steps);
  for (std::size_t i = 0; i < steps; ++i)
    weights[architecture_.discrete ? static_cast<std::size_t>(slice.codes[i]) : i] +=
        static_cast<float>(shares(slice.owners[i], column) / static_cast<double>(steps));
  // A policy that has no share in anything stays as it is.
  if (std::ranges::all_of(weights, [](float w) { return w == 0.0F; })) return;

  auto& policy = *policies_[static_cast<std::size_t>(slot)];
  const double loss = architecture_.discrete
                          ? policy.gradient_on_weights(slice.inputs, weights)
                          : policy.gradient_on_actions(slice.inputs, slice.actions, weights);
  if (!std::isfinite(loss))
    throw NumericError("training diverged (loss {}); lower learning-rate, now {}", loss,
                       options_.learning_rate);
  policy.update(
      {.learning_rate = options_.learning_rate, .max_gradient_norm = options_.max_gradient_norm});
}

void Mixture::keep(std::int64_t restart) {
  for (auto slot = restart * options_.k; slot < (restart + 1) * options_.k; ++slot)
    policies_[static_cast<std::size_t>(slot)]->store(kept_, slot);
}

void Mixture::restore(std::int64_t restart) {
  for (auto slot = restart * options_.k; slot < (restart + 1) * options_.k; ++slot)
    policies_[static_cast<std::size_t>(slot)]->load(kept_, slot);
}

PolicyStack Mixture::stack(std::span<const std::int64_t> slots) const {
  PolicyStack result(architecture_, static_cast<std::int64_t>(slots.size()));
  for (std::size_t i = 0; i < slots.size(); ++i)
    policies_[static_cast<std::size_t>(slots[i])]->store(result, static_cast<std::int64_t>(i));
  return result;
}

Matrix Mixture::score(std::span<const std::int64_t> slots, OverSteps over) const {
  return score_everywhere(NetworkCentres({inputs_, {}}, stack(slots), {.over = over}), data_, run_);
}

std::shared_ptr<const Centres> Mixture::centres(std::span<const std::int64_t> slots) const {
  return std::make_shared<NetworkCentres>(NetworkView{inputs_, {}}, stack(slots),
                                          Scoring{.over = options_.over_steps()});
}

void Mixture::save(ArrayFileWriter& file) const {
  save_stack(kept_, "kept", file);
  for (std::size_t slot = 0; slot < policies_.size(); ++slot) {
    const auto training = policies_[slot]->training();
    const auto prefix = fmt::format("policy/{}/", slot);
    file.write<float>(prefix + "parameters", training.parameters);
    file.write<std::int64_t>(prefix + "steps", training.adam.steps);
    file.write<float>(prefix + "first", training.adam.first);
    file.write<float>(prefix + "second", training.adam.second);
  }
}

void Mixture::load(const ArrayFileReader& file) {
  restore_stack("kept", file, kept_);
  for (std::size_t slot = 0; slot < policies_.size(); ++slot) {
    const auto prefix = fmt::format("policy/{}/", slot);
    policies_[slot]->resume(
        {file.read<float>(prefix + "parameters").values,
         {file.read<std::int64_t>(prefix + "steps").values,
          file.read<float>(prefix + "first").values, file.read<float>(prefix + "second").values}});
  }
}

}  // namespace kindred::sorl
