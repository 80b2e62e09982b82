#include "kindred/methods/sorl/mixture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/error.h"
#include "kindred/policies/architecture.h"
#include "kindred/policies/centres.h"

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
      kept_(architecture_, options.restarts * options.k),
      minibatches_(data, options_) {
  for (std::int64_t slot = 0; slot < kept_.size(); ++slot)
    kept_.initialise(slot, Random(static_cast<std::uint64_t>(options.seed), "policy",
                                  static_cast<std::uint64_t>(slot)));
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
  for (const auto slot : slots_of(ranks.rank())) {
    const auto own = training(slot);
    trained.add(own.parameters);
    trained.add(own.adam.steps);
    trained.add(own.adam.first);
    trained.add(own.adam.second);
  }
  const auto all = ranks.gather(trained.bytes());
  for (std::int64_t r = 0; r < ranks.size(); ++r) {
    Unpacker from(all[static_cast<std::size_t>(r)]);
    if (r == ranks.rank()) continue;
    for (const auto slot : slots_of(r)) {
      Training others;
      from.take(others.parameters);
      from.take(others.adam.steps);
      from.take(others.adam.first);
      from.take(others.adam.second);
      resume(slot, std::move(others));
    }
  }
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

std::vector<float> Mixture::weights(const Minibatch& batch, const Matrix& shares,
                                    std::int64_t column) const {
  std::vector<float> result;
  result.reserve(batch.steps.size());
  for (const auto end : batch.ends) {
    const auto steps = static_cast<double>(end - result.size());
    while (result.size() < end)
      result.push_back(static_cast<float>(shares(batch.owners[result.size()], column) / steps));
  }
  return result;
}

void Mixture::require_finite(double loss) const {
  if (!std::isfinite(loss))
    throw NumericError("training diverged (loss {}); lower learning-rate, now {}", loss,
                       options_.learning_rate);
}

void Mixture::keep(std::int64_t restart) {
  for (auto slot = restart * options_.k; slot < (restart + 1) * options_.k; ++slot)
    store(slot, kept_, slot);
}

void Mixture::restore(std::int64_t restart) {
  for (auto slot = restart * options_.k; slot < (restart + 1) * options_.k; ++slot)
    adopt(kept_, slot);
}

PolicyStack Mixture::stack(std::span<const std::int64_t> slots) const {
  PolicyStack result(architecture_, std::ssize(slots));
  for (std::int64_t i = 0; i < result.size(); ++i)
    store(slots[static_cast<std::size_t>(i)], result, i);
  return result;
}

std::shared_ptr<const Centres> Mixture::centres(std::span<const std::int64_t> slots) const {
  return std::make_shared<NetworkCentres>(NetworkView{inputs_, {}}, stack(slots),
                                          Scoring{.over = options_.over_steps()});
}

void Mixture::save(ArrayFileWriter& file) const {
  save_stack(kept_, "kept", file);
  for (std::int64_t slot = 0; slot < kept_.size(); ++slot) {
    const auto saved = training(slot);
    const auto prefix = fmt::format("policy/{}/", slot);
    file.write<float>(prefix + "parameters", saved.parameters);
    file.write<std::int64_t>(prefix + "steps", saved.adam.steps);
    file.write<float>(prefix + "first", saved.adam.first);
    file.write<float>(prefix + "second", saved.adam.second);
  }
}

void Mixture::load(const ArrayFileReader& file) {
  restore_stack("kept", file, kept_);
  for (std::int64_t slot = 0; slot < kept_.size(); ++slot) {
    const auto prefix = fmt::format("policy/{}/", slot);
    resume(slot, {file.read<float>(prefix + "parameters").values,
                  {file.read<std::int64_t>(prefix + "steps").values,
                   file.read<float>(prefix + "first").values,
                   file.read<float>(prefix + "second").values}});
  }
}

std::unique_ptr<Mixture> make_mixture(const Trajectories& data, const Options& options,
                                      const RunContext& run) {
  return run.device == "cpu" ? make_cpu_mixture(data, options, run)
                             : make_tensor_mixture(data, options, run);
}

}  // namespace kindred::sorl
