// Policies as networks on the CPU. Where observations repeat and actions are discrete the gradient
// is exact and comes from counts, otherwise from minibatches of steps. Each core trains one policy
// at a time; a policy's round stays in its cache.
#include <optional>

#include "kindred/core/shared_progress.h"
#include "kindred/methods/pg_kmeans/batch_sampler.h"
#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/methods/pg_kmeans/plateau.h"
#include "kindred/nn/cpu_policy.h"
#include "kindred/policies/architecture.h"
#include "kindred/policies/centres.h"
#include "kindred/policies/scoring.h"
#include "kindred/policies/step_counts.h"
#include "kindred/policies/step_trainer.h"

namespace kindred::pg_kmeans {
namespace {

class NetworkLearner final : public PolicyLearner {
 public:
  NetworkLearner(const Trajectories& data, const Options& options, const RunContext& run)
      : data_(data),
        options_(options),
        run_(run),
        inputs_(NetworkInputs::from(data.observations, options.standardize == Standardize::kOn)),
        policies_(architecture_for(data, inputs_, options.hidden, options.hidden_layers),
                  options.restarts * options.k),
        adam_{.learning_rate = options.learning_rate,
              .max_gradient_norm = options.max_gradient_norm} {
    for (std::int64_t slot = 0; slot < policies_.size(); ++slot) reinitialise(slot, 0);
    if (data.observations.is_interned() && data.actions.is_discrete()) {
      codes_.emplace(data, run);
      table_.resize(static_cast<std::size_t>(data.observations.distinct() * inputs_.count()));
      inputs_.apply(data.observations.table().span(), table_);
    }
  }

  void fit(std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
           std::int64_t round) override {
    const auto counts = codes_ ? codes_->count(slots, options_.k, labels) : std::vector<double>();
    const auto n = static_cast<std::int64_t>(slots.size());
    SharedProgress trained(n, [&](double fraction) {
      run_.report({.stage = "training", .fraction = fraction, .sizes = {}});
    });
    const auto train = [&](std::int64_t begin, std::int64_t end) {
      CpuPolicy policy(policies_.architecture());
      for (auto i = begin; i < end; ++i) {
        const auto slot = slots[static_cast<std::size_t>(i)];
        policy.load(policies_, slot);
        if (codes_) {
          fit_on_counts(policy,
                        std::span(counts).subspan(static_cast<std::size_t>(i * codes_->codes()),
                                                  static_cast<std::size_t>(codes_->codes())));
        } else {
          BatchSampler sampler(data_, options_, slot, labels(slot / options_.k), round);
          fit_on_batches(policy, sampler);
        }
        policy.store(policies_, slot);
        trained.add();
      }
    };
    run_.chunks(n, 1, train, [&] { trained.tell(); });
  }

  Matrix score(std::span<const std::int64_t> slots) const override {
    const auto stack = policies_.select(slots);
    if (!codes_) return score_trajectories(data_, inputs_, stack, options_.log_prob_floor, run_);
    return codes_->sum_over_steps(
        table_log_probs(data_.observations, inputs_, stack, options_.log_prob_floor, run_),
        stack.size());
  }

  void reinitialise(std::int64_t slot, std::int64_t round) override {
    policies_.initialise(slot, Random(static_cast<std::uint64_t>(options_.seed), "policy",
                                      static_cast<std::uint64_t>(round << 32 | slot)));
  }

  std::shared_ptr<const Centres> centres(std::span<const std::int64_t> slots) const override {
    return std::make_shared<NetworkCentres>(inputs_, policies_.select(slots),
                                            options_.log_prob_floor);
  }

  void save(ArrayFileWriter& file) const override { save_stack(policies_, "learner", file); }
  void load(const ArrayFileReader& file) override { restore_stack("learner", file, policies_); }

 private:
  void fit_on_counts(CpuPolicy& policy, std::span<const double> counts) const {
    double total = 0.0;
    for (const double count : counts) total += count;
    std::vector<float> weights;
    for (const double count : counts) weights.push_back(static_cast<float>(count / total));
    train(policy, [&] {
      run_.throw_if_stopped();
      return policy.gradient_on_weights(table_, weights);
    });
  }

  void fit_on_batches(CpuPolicy& policy, BatchSampler& sampler) const {
    StepTrainer trainer(data_, inputs_, run_);
    train(policy, [&] { return trainer.gradient(policy, sampler.next()); });
  }

  /// Steps until the loss, which `gradient` returns, stops falling.
  template <class Gradient>
  void train(CpuPolicy& policy, const Gradient& gradient) const {
    for (Plateau plateau(options_);;) {
      const double loss = gradient();
      policy.update(adam_);
      if (plateau.reached(loss)) return;
    }
  }

  const Trajectories& data_;
  Options options_;
  RunContext run_;
  NetworkInputs inputs_;
  PolicyStack policies_;  // [restarts × k]
  AdamOptions adam_;
  std::optional<StepCodes> codes_;
  std::vector<float> table_;  // [distinct, inputs], with codes_
};

}  // namespace

std::unique_ptr<PolicyLearner> make_network_learner(const Trajectories& data,
                                                    const Options& options, const RunContext& run) {
  return std::make_unique<NetworkLearner>(data, options, run);
}

std::unique_ptr<PolicyLearner> make_learner(const Trajectories& data, const Options& options,
                                            const RunContext& run) {
  if (options.policy == PolicyKind::kTabular) {
    require_cpu(run, "policy 'tabular'");
    return make_tabular_learner(data, options, run);
  }
  return run.device == "cpu" ? make_network_learner(data, options, run)
                             : make_stack_learner(data, options, run);
}

}  // namespace kindred::pg_kmeans
