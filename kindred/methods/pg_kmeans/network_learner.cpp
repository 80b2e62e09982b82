// Policies as networks on the CPU. Where observations repeat and actions are discrete the gradient
// is exact and comes from counts, otherwise from minibatches of steps. Cores take turns with the
// policies, of which each is trained by one at a time.
#include <algorithm>
#include <memory>
#include <optional>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/shared_progress.h"
#include "kindred/dist/spread.h"
#include "kindred/methods/pg_kmeans/batch_sampler.h"
#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/methods/pg_kmeans/networks.h"
#include "kindred/methods/pg_kmeans/plateau.h"
#include "kindred/nn/cpu_policy.h"
#include "kindred/policies/rough_scoring.h"
#include "kindred/policies/scoring.h"
#include "kindred/policies/step_counts.h"
#include "kindred/policies/training_turns.h"

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

  std::optional<Matrix> score_roughly(std::span<const std::int64_t> slots) const override {
    const auto stack = policies_.select(slots);
    if (codes_ || !RoughScoring::pays(data_, stack)) return {};
    std::vector<std::int64_t> restarts;  // whose policies are rivals
    for (const auto slot : slots) restarts.push_back(slot / options_.k);
    const RoughScoring rough(view_, stack, std::move(restarts), scoring(), run_);
    const auto margins = rough.margins(data_, common_steps_, run_);
    if (!margins.are_small()) return {};
    return score_in_shares(data_, stack.size(), run_,
                           [&](const Trajectories& part, const EpisodeRange& episodes) {
                             return rough.score(part, common_steps_of(episodes), margins, run_);
                           });
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
    SharedProgress trained((n + ranks - 1) / ranks * options_.max_steps, [&](double fraction) {
      run_.report({.stage = "training", .fraction = fraction, .sizes = {}});
    });
    const auto codes = codes_ ? static_cast<std::size_t>(codes_->codes()) : 0;
    const auto begin = [&](std::int64_t i) {
      const auto slot = slots[static_cast<std::size_t>(i)];
      if (codes_)
        return until_plateau(
            on_counts(std::span(counts).subspan(static_cast<std::size_t>(i) * codes, codes)),
            trained);
      return until_plateau(on_batches(std::make_shared<BatchSampler>(
                               data_, options_, slot, labels(slot / options_.k), round)),
                           trained);
    };
    const auto train_all = [&](std::span<const std::int64_t> policies) {
      train_in_turns(stack,
                     {.policies = policies,
                      .begin = begin,
                      // a buffer has room for what so many draw from
                      .most_under_way = options_.buffer_steps > 0 ? options_.k : 0,
                      .meanwhile = [&] { trained.tell(); }},
                     data_, view_, run_);
    };
    spread(run_, {.pieces = n,
                  .pack = [&](std::int64_t i, Packer& to) { pack(stack, i, to); },
                  .unpack = [&](std::int64_t i, Unpacker& from) { unpack(stack, i, from); },
                  .work_on_all = train_all});
  }

  std::span<const float> common_steps_of(const EpisodeRange& episodes) const {
    if (common_steps_.empty()) return {};
    const auto first = data_.offsets[episodes.begin];
    return std::span(common_steps_)
        .subspan(static_cast<std::size_t>(first),
                 static_cast<std::size_t>(data_.offsets[episodes.end] - first));
  }

  /// Has a policy take the gradient of its next update and returns the loss.
  using Gradient = std::function<double(CpuPolicy&, StepTrainer&, Plateau&)>;

  Gradient on_counts(std::span<const double> counts) const {
    double total = 0.0;
    for (const double count : counts) total += count;
    std::vector<float> weights;
    for (const double count : counts) weights.push_back(static_cast<float>(count / total));
    return [this, weights](CpuPolicy& policy, StepTrainer& trainer, Plateau&) {
      return policy.gradient_on_weights(table_, weights, trainer.buffers());
    };
  }

  Gradient on_batches(const std::shared_ptr<BatchSampler>& sampler) const {
    return [sampler](CpuPolicy& policy, StepTrainer& trainer, Plateau& plateau) {
      const auto steps = sampler->next();
      sampler->tell(plateau);
      return trainer.gradient(policy, steps);
    };
  }

  /// Updates until the loss stops falling.
  PolicyUpdate until_plateau(const Gradient& gradient, SharedProgress& trained) const {
    return [this, gradient, &trained, plateau = Plateau(options_), left = options_.max_steps](
               CpuPolicy& policy, StepTrainer& trainer) mutable {
      const double loss = gradient(policy, trainer, plateau);
      policy.update(adam_);
      const bool reached = plateau.reached(loss);
      trained.add(reached ? left : 1);
      --left;
      return reached;
    };
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
