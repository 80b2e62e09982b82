// Policies as networks on the CPU. Where observations repeat and actions are discrete the gradient
// is exact and comes from counts, otherwise from minibatches of steps. Each core trains one policy
// at a time; a policy's round stays in its cache.
#include <algorithm>
#include <optional>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/shared_progress.h"
#include "kindred/dist/spread.h"
#include "kindred/methods/pg_kmeans/batch_sampler.h"
#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/methods/pg_kmeans/networks.h"
#include "kindred/methods/pg_kmeans/plateau.h"
#include "kindred/nn/cpu_policy.h"
#include "kindred/policies/scoring.h"
#include "kindred/policies/step_counts.h"
#include "kindred/policies/step_trainer.h"

namespace kindred::pg_kmeans {
namespace {

/// The parameters of one policy.
void pack(const PolicyStack& stack, std::int64_t policy, Packer& to) {
  for (const auto& parameter : stack.parameters()) {
    const auto own = parameter.of(policy);
    to.add(std::vector<float>(own.begin(), own.end()));
  }
}

void unpack(PolicyStack& stack, std::int64_t policy, Unpacker& from) {
  std::vector<float> values;
  for (auto& parameter : stack.parameters()) {
    from.take(values);
    std::ranges::copy(values, parameter.of(policy).begin());
  }
}

class NetworkLearner final : public Networks {
 public:
  NetworkLearner(const Trajectories& data, const Options& options, const RunContext& run)
      : Networks(data, options, run),
        adam_{.learning_rate = options.learning_rate,
              .max_gradient_norm = options.max_gradient_norm} {
    if (data.observations.is_interned() && data.actions.is_discrete()) {
      codes_.emplace(data, run);
      table_.resize(static_cast<std::size_t>(data.observations.distinct() * view_.inputs.count()));
      view_.inputs.apply(data.observations.table().span(), table_);
    }
  }

  void fit(std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
           std::int64_t round) override {
    need_common_policy();
    auto stack = policies_.select(slots);
    train(stack, slots, labels, round);
    policies_.assign(slots, stack);
  }

  Matrix score(std::span<const std::int64_t> slots) const override {
    const auto stack = policies_.select(slots);
    if (!codes_)
      return score_in_shares(data_, stack.size(), run_,
                             [&](const Trajectories& part, const EpisodeRange& episodes) {
                               return score_trajectories(part, view_, stack, scoring(),
                                                         common_steps_of(episodes), run_);
                             });
    return codes_->sum_over_steps(
        table_scores(data_.observations, view_.inputs, stack, scoring(), common_codes_, run_),
        stack.size());
  }

 private:
  void score_common_policy() override {
    if (codes_)
      common_codes_ = table_scores(data_.observations, view_.inputs, *common_, {}, {}, run_);
    else
      common_steps_ = step_log_probs(data_, view_, *common_, run_);
  }

  void train(PolicyStack& stack, std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
             std::int64_t round) const override {
    const auto counts = codes_ ? codes_->count(slots, options_.k, labels) : std::vector<double>();
    const auto n = static_cast<std::int64_t>(slots.size());
    const auto ranks = ranks_of(run_).size();
    SharedProgress trained((n + ranks - 1) / ranks, [&](double fraction) {
      run_.report({.stage = "training", .fraction = fraction, .sizes = {}});
    });
    const auto train_one = [&](std::int64_t i) {
      CpuPolicy policy(stack.architecture());
      const auto slot = slots[static_cast<std::size_t>(i)];
      policy.load(stack, i);
      if (codes_) {
        fit_on_counts(policy,
                      std::span(counts).subspan(static_cast<std::size_t>(i * codes_->codes()),
                                                static_cast<std::size_t>(codes_->codes())));
      } else {
        BatchSampler sampler(data_, options_, slot, labels(slot / options_.k), round);
        fit_on_batches(policy, sampler);
      }
      policy.store(stack, i);
      trained.add();
    };
    spread(run_, {.pieces = n,
                  .work = train_one,
                  .pack = [&](std::int64_t i, Packer& to) { pack(stack, i, to); },
                  .unpack = [&](std::int64_t i, Unpacker& from) { unpack(stack, i, from); },
                  .meanwhile = [&] { trained.tell(); }});
  }

  std::span<const float> common_steps_of(const EpisodeRange& episodes) const {
    if (common_steps_.empty()) return {};
    const auto first = data_.offsets[episodes.begin];
    return std::span(common_steps_)
        .subspan(static_cast<std::size_t>(first),
                 static_cast<std::size_t>(data_.offsets[episodes.end] - first));
  }

  void fit_on_counts(CpuPolicy& policy, std::span<const double> counts) const {
    double total = 0.0;
    for (const double count : counts) total += count;
    std::vector<float> weights;
    for (const double count : counts) weights.push_back(static_cast<float>(count / total));
    step_until_plateau(policy, [&](Plateau&) {
      run_.throw_if_stopped();
      return policy.gradient_on_weights(table_, weights);
    });
  }

  void fit_on_batches(CpuPolicy& policy, BatchSampler& sampler) const {
    StepTrainer trainer(data_, view_, run_);
    step_until_plateau(policy, [&](Plateau& plateau) {
      const auto steps = sampler.next();
      sampler.tell(plateau);
      return trainer.gradient(policy, steps);
    });
  }

  /// Steps until the loss, which `gradient` returns, stops falling.
  template <class Gradient>
  void step_until_plateau(CpuPolicy& policy, const Gradient& gradient) const {
    for (Plateau plateau(options_);;) {
      const double loss = gradient(plateau);
      policy.update(adam_);
      if (plateau.reached(loss)) return;
    }
  }

  AdamOptions adam_;
  std::optional<StepCodes> codes_;
  std::vector<float> table_;          // [distinct, inputs], with codes_
  std::vector<double> common_codes_;  // [codes], log-probabilities under common_; with codes_
  std::vector<float> common_steps_;   // [steps], the same; without
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
