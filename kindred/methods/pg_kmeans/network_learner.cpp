// Policies as networks on the CPU. Where observations repeat and actions are discrete the gradient
// is exact and comes from counts, otherwise from minibatches of steps. Each core trains one policy
// at a time; a policy's round stays in its cache.
#include <array>
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
        view_(view_of(data, options)),
        policies_(architecture_for(data, view_, options.hidden, options.hidden_layers),
                  options.restarts * options.k),
        adam_{.learning_rate = options.learning_rate,
              .max_gradient_norm = options.max_gradient_norm} {
    for (std::int64_t slot = 0; slot < policies_.size(); ++slot) reinitialise(slot, 0);
    if (data.observations.is_interned() && data.actions.is_discrete()) {
      codes_.emplace(data, run);
      table_.resize(static_cast<std::size_t>(data.observations.distinct() * view_.inputs.count()));
      view_.inputs.apply(data.observations.table().span(), table_);
    }
  }

  void fit(std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
           std::int64_t round) override {
    if (options_.common_share > 0.0 && !common_) clone_common_policy();
    train(policies_, slots, labels, round);
  }

  Matrix score(std::span<const std::int64_t> slots) const override {
    const auto stack = policies_.select(slots);
    const auto scoring = scoring_of(options_);
    if (!codes_) return score_trajectories(data_, view_, stack, scoring, common_steps_, run_);
    return codes_->sum_over_steps(
        table_scores(data_.observations, view_.inputs, stack, scoring, common_codes_, run_),
        stack.size());
  }

  void reinitialise(std::int64_t slot, std::int64_t round) override {
    policies_.initialise(slot, Random(static_cast<std::uint64_t>(options_.seed), "policy",
                                      static_cast<std::uint64_t>(round << 32 | slot)));
  }

  std::shared_ptr<const Centres> centres(std::span<const std::int64_t> slots) const override {
    return std::make_shared<NetworkCentres>(
        view_, policies_.select(slots), scoring_of(options_),
        common_ ? std::optional(common_->select(kFirst)) : std::nullopt);
  }

  void save(ArrayFileWriter& file) const override {
    save_stack(policies_, "learner", file);
    if (common_) save_stack(*common_, "common", file);
  }

  void load(const ArrayFileReader& file) override {
    restore_stack("learner", file, policies_);
    if (options_.common_share == 0.0) return;
    common_.emplace(policies_.architecture(), 1);
    restore_stack("common", file, *common_);
    score_common_policy();
  }

 private:
  static constexpr std::array<std::int64_t, 1> kFirst = {0};

  /// Trained once on all trajectories, as any other policy is in one round.
  void clone_common_policy() {
    common_.emplace(policies_.architecture(), 1);
    common_->initialise(0, Random(static_cast<std::uint64_t>(options_.seed), "common policy"));
    const std::vector<std::int32_t> all(static_cast<std::size_t>(data_.episodes()), 0);
    train(
        *common_, kFirst, [&](std::int64_t) { return std::span(all); }, /*round=*/0);
    score_common_policy();
  }

  void score_common_policy() {
    if (codes_)
      common_codes_ = table_scores(data_.observations, view_.inputs, *common_, {}, {}, run_);
    else
      common_steps_ = step_log_probs(data_, view_, *common_, run_);
  }

  /// Trains each policy of `slots` in `policies` on the trajectories carrying its label.
  void train(PolicyStack& policies, std::span<const std::int64_t> slots,
             const LabelsOfRestart& labels, std::int64_t round) const {
    const auto counts = codes_ ? codes_->count(slots, options_.k, labels) : std::vector<double>();
    const auto n = static_cast<std::int64_t>(slots.size());
    SharedProgress trained(n, [&](double fraction) {
      run_.report({.stage = "training", .fraction = fraction, .sizes = {}});
    });
    const auto train_some = [&](std::int64_t begin, std::int64_t end) {
      CpuPolicy policy(policies.architecture());
      for (auto i = begin; i < end; ++i) {
        const auto slot = slots[static_cast<std::size_t>(i)];
        policy.load(policies, slot);
        if (codes_) {
          fit_on_counts(policy,
                        std::span(counts).subspan(static_cast<std::size_t>(i * codes_->codes()),
                                                  static_cast<std::size_t>(codes_->codes())));
        } else {
          BatchSampler sampler(data_, options_, slot, labels(slot / options_.k), round);
          fit_on_batches(policy, sampler);
        }
        policy.store(policies, slot);
        trained.add();
      }
    };
    run_.chunks(n, 1, train_some, [&] { trained.tell(); });
  }

  void fit_on_counts(CpuPolicy& policy, std::span<const double> counts) const {
    double total = 0.0;
    for (const double count : counts) total += count;
    std::vector<float> weights;
    for (const double count : counts) weights.push_back(static_cast<float>(count / total));
    step_until_plateau(policy, [&] {
      run_.throw_if_stopped();
      return policy.gradient_on_weights(table_, weights);
    });
  }

  void fit_on_batches(CpuPolicy& policy, BatchSampler& sampler) const {
    StepTrainer trainer(data_, view_, run_);
    step_until_plateau(policy, [&] { return trainer.gradient(policy, sampler.next()); });
  }

  /// Steps until the loss, which `gradient` returns, stops falling.
  template <class Gradient>
  void step_until_plateau(CpuPolicy& policy, const Gradient& gradient) const {
    for (Plateau plateau(options_);;) {
      const double loss = gradient();
      policy.update(adam_);
      if (plateau.reached(loss)) return;
    }
  }

  const Trajectories& data_;
  Options options_;
  RunContext run_;
  NetworkView view_;
  PolicyStack policies_;               // [restarts × k]
  std::optional<PolicyStack> common_;  // one, where it has a share
  AdamOptions adam_;
  std::optional<StepCodes> codes_;
  std::vector<float> table_;          // [distinct, inputs], with codes_
  std::vector<double> common_codes_;  // [codes], log-probabilities under common_; with codes_
  std::vector<float> common_steps_;   // [steps], the same; without
};

}  // namespace

NetworkView view_of(const Trajectories& data, const Options& options) {
  return {
      NetworkInputs::from(data.observations, options.standardize == Standardize::kOn),
      options.standardize_actions ? NetworkActions::standardised(data.actions) : NetworkActions()};
}

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
