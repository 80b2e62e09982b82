// SORL's policies on the CPU. Where observations repeat and actions are discrete, each distinct
// observation of a slice is looked at once.
#include <algorithm>

#include "kindred/clustering/over_ranks.h"
#include "kindred/methods/sorl/mixture.h"
#include "kindred/policies/centres.h"

namespace kindred::sorl {
namespace {

/// The steps of a slice as a network reads them.
struct Rows {
  std::span<const std::int64_t> owners;  // [steps]: the trajectory's place in the minibatch
  std::size_t begin = 0;                 // of the slice in the minibatch
  std::vector<float> inputs;             // [rows, inputs]
  std::vector<std::int64_t> codes;       // discrete: [steps], row * actions + action
  std::vector<float> actions;            // continuous: [steps, act_dim]
};

class CpuMixture final : public Mixture {
 public:
  CpuMixture(const Trajectories& data, const Options& options, const RunContext& run)
      : Mixture(data, options, run) {
    for (std::int64_t slot = 0; slot < kept_.size(); ++slot) {
      policies_.push_back(std::make_unique<CpuPolicy>(architecture_));
      policies_.back()->load(kept_, slot);
    }
    if (!data.observations.is_interned() || !data.actions.is_discrete()) return;
    table_.resize(static_cast<std::size_t>(data.observations.distinct() * inputs_.count()));
    inputs_.apply(data.observations.table().span(), table_);
    row_of_.assign(static_cast<std::size_t>(data.observations.distinct()), -1);
  }

  Matrix score(std::span<const std::int64_t> slots, OverSteps over) const override {
    return score_everywhere(NetworkCentres({inputs_, {}}, stack(slots), {.over = over}), data_,
                            run_);
  }

 private:
  CpuPolicy& policy(std::int64_t slot) const { return *policies_[static_cast<std::size_t>(slot)]; }

  Training training(std::int64_t slot) const override { return policy(slot).training(); }
  void resume(std::int64_t slot, Training training) override {
    policy(slot).resume(std::move(training));
  }
  void adopt(const PolicyStack& from, std::int64_t slot) override { policy(slot).load(from, slot); }
  void store(std::int64_t slot, PolicyStack& to, std::int64_t at) const override {
    policy(slot).store(to, at);
  }

  void train_on(const Minibatch& batch, std::span<const std::int64_t> slots) override {
    std::vector<Rows> slices;
    std::size_t begin = 0;
    for (const auto end : batch.ends) {
      slices.push_back(look(batch, begin, end));
      begin = end;
    }
    Matrix scores(batch.trajectories, std::ssize(slots), score_of_no_steps(options_.over_steps()));
    run_.chunks(scores.columns, 1, [&](std::int64_t column, std::int64_t) {
      for (const auto& slice : slices)
        add_scores(slice, policy(slots[static_cast<std::size_t>(column)]), scores, column);
    });
    const Matrix shares = posteriors(scores, options_.k);
    run_.chunks(scores.columns, 1, [&](std::int64_t column, std::int64_t) {
      const auto of_steps = weights(batch, shares, column);
      for (const auto& slice : slices)
        step(slice, std::span(of_steps).subspan(slice.begin, slice.owners.size()),
             policy(slots[static_cast<std::size_t>(column)]));
    });
  }

  void add_scores(const Rows& slice, CpuPolicy& policy, Matrix& scores, std::int64_t column) {
    run_.throw_if_stopped();
    std::vector<float> log_probs;
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

  void step(const Rows& slice, std::span<const float> weights, CpuPolicy& policy) {
    run_.throw_if_stopped();
    // A policy that has no share in anything stays as it is.
    if (std::ranges::all_of(weights, [](float w) { return w == 0.0F; })) return;
    if (architecture_.discrete) {
      const auto rows = slice.inputs.size() / inputs_.columns.size();
      std::vector<float> of_actions(rows * static_cast<std::size_t>(architecture_.actions));
      for (std::size_t i = 0; i < weights.size(); ++i)
        of_actions[static_cast<std::size_t>(slice.codes[i])] += weights[i];
      require_finite(policy.gradient_on_weights(slice.inputs, of_actions));
    } else {
      require_finite(policy.gradient_on_actions(slice.inputs, slice.actions, weights));
    }
    policy.update(adam());
  }

  Rows look(const Minibatch& batch, std::size_t begin, std::size_t end) {
    const auto steps = std::span(batch.steps).subspan(begin, end - begin);
    Rows rows;
    rows.owners = std::span(batch.owners).subspan(begin, steps.size());
    rows.begin = begin;
    if (table_.empty())
      fill_rows(steps, rows);
    else
      fill_distinct_rows(steps, rows);
    if (!architecture_.discrete)
      for (const auto step : steps) {
        const auto* action = data_.actions.floats().data() + step * data_.actions.dim();
        rows.actions.insert(rows.actions.end(), action, action + data_.actions.dim());
      }
    return rows;
  }

  void fill_rows(std::span<const std::int64_t> steps, Rows& rows) const {
    rows.inputs.resize(steps.size() * inputs_.columns.size());
    inputs_.gather(data_.observations, steps, rows.inputs);
    if (!architecture_.discrete) return;
    for (std::size_t i = 0; i < steps.size(); ++i)
      rows.codes.push_back(static_cast<std::int64_t>(i) * data_.actions.count() +
                           data_.actions.ints()[steps[i]]);
  }

  void fill_distinct_rows(std::span<const std::int64_t> steps, Rows& rows) {
    std::int64_t count = 0;
    for (const auto step : steps) {
      const auto observation = data_.observations.index()[step];
      auto& row = row_of_[static_cast<std::size_t>(observation)];
      if (row < 0) {
        row = count++;
        const auto* from = table_.data() + observation * inputs_.count();
        rows.inputs.insert(rows.inputs.end(), from, from + inputs_.count());
      }
      rows.codes.push_back(row * data_.actions.count() + data_.actions.ints()[step]);
    }
    for (const auto step : steps)
      row_of_[static_cast<std::size_t>(data_.observations.index()[step])] = -1;
  }

  std::vector<std::unique_ptr<CpuPolicy>> policies_;  // [restarts × k]
  std::vector<float> table_;          // [distinct, inputs]; empty unless rows are shared
  std::vector<std::int64_t> row_of_;  // [distinct]: the row in the slice being made, or -1
};

}  // namespace

std::unique_ptr<Mixture> make_cpu_mixture(const Trajectories& data, const Options& options,
                                          const RunContext& run) {
  return std::make_unique<CpuMixture>(data, options, run);
}

}  // namespace kindred::sorl
