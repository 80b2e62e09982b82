// Policies as networks. All slots train as one stack; where observations repeat and actions are
// discrete the gradient is exact and comes from counts, otherwise from minibatches of steps.
#include <optional>

#include "kindred/methods/pg_kmeans/batch_sampler.h"
#include "kindred/methods/pg_kmeans/centres.h"
#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/methods/pg_kmeans/step_counts.h"
#include "kindred/methods/pg_kmeans/training.h"

namespace kindred::pg_kmeans {
namespace {

class NetworkLearner final : public Learner {
 public:
  NetworkLearner(const Trajectories& data, const Options& options, const RunContext& run)
      : data_(data),
        options_(options),
        device_(run.device),
        inputs_(PolicyInputs::from(data.observations, options.standardize == Standardize::kOn)),
        policies_(architecture_for(data, inputs_, options.hidden, options.hidden_layers),
                  options.restarts * options.k),
        steps_(data, device_) {
    for (std::int64_t slot = 0; slot < policies_.size(); ++slot) reinitialise(slot, 0);
    policies_.to(device_);
    inputs_.to(device_);
    if (data.observations.is_interned() && data.actions.is_discrete()) {
      codes_.emplace(data, run.threads);
      const auto table = view_of(data.observations.table(),
                                 {data.observations.distinct(), data.observations.dim()});
      table_ = inputs_(table.to(device_));
    }
  }

  void fit(std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
           std::int64_t round) override {
    auto stack = policies_.select(slots);
    StackedAdam optimiser(stack.parameters(), adam_options(options_));
    if (codes_) fit_on_counts(stack, optimiser, slots, labels);
    else fit_on_batches(stack, optimiser, slots, labels, round);
    policies_.assign(slots, stack);
  }

  Matrix score(std::span<const std::int64_t> slots) const override {
    const auto stack = policies_.select(slots);
    if (codes_)
      return codes_->sum_over_steps(table_log_probs(table_, stack, options_.log_prob_floor),
                                    stack.size());
    Matrix result(data_.episodes(), stack.size());
    result.values = log_likelihoods(data_, steps_, inputs_, stack, options_.log_prob_floor);
    return result;
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
  void load(const ArrayFileReader& file) override {
    policies_ = load_stack("learner", file);
    policies_.to(device_);
  }

 private:
  void fit_on_counts(const PolicyStack& stack, StackedAdam& optimiser,
                     std::span<const std::int64_t> slots, const LabelsOfRestart& labels) {
    const auto counts = codes_->count(slots, options_.k, labels);
    auto weights = at::tensor(counts, at::kDouble)
                       .view({stack.size(), codes_->distinct(), codes_->actions()});
    weights = (weights / weights.sum({1, 2}, true)).to(at::kFloat).to(device_);
    train_until_plateau(optimiser, options_, [&] {
      return -(weights * stack.all_log_probs(table_)).sum({1, 2});  // [slots]
    });
  }

  void fit_on_batches(const PolicyStack& stack, StackedAdam& optimiser,
                      std::span<const std::int64_t> slots, const LabelsOfRestart& labels,
                      std::int64_t round) {
    BatchSampler sampler(data_, options_, slots, labels, round);
    train_until_plateau(optimiser, options_, [&] {
      const auto& batch = sampler.next();
      const auto steps = at::from_blob(const_cast<std::int64_t*>(batch.steps.data()),
                                          {stack.size() * batch.width}, at::kLong)
                             .to(device_);
      const auto inputs = inputs_(steps_.observations(steps));
      auto actions = steps_.actions(steps);
      actions = actions.view(actions.dim() == 1
                                 ? std::vector<std::int64_t>{stack.size(), batch.width}
                                 : std::vector<std::int64_t>{stack.size(), batch.width, -1});
      const auto log_probs =
          stack.log_probs(inputs.view({stack.size(), batch.width, -1}), actions);
      if (batch.weights.empty()) return -log_probs.mean(1);
      const auto weights = at::from_blob(const_cast<float*>(batch.weights.data()),
                                            {stack.size(), batch.width}, at::kFloat)
                               .to(device_);
      return -(weights * log_probs).sum(1);
    });
  }

  const Trajectories& data_;
  Options options_;
  at::Device device_;
  PolicyInputs inputs_;
  PolicyStack policies_;  // [restarts × k]
  StepTensors steps_;
  std::optional<StepCodes> codes_;
  at::Tensor table_;  // [distinct, inputs], with codes_
};

}  // namespace

std::unique_ptr<Learner> make_network_learner(const Trajectories& data, const Options& options,
                                              const RunContext& run) {
  return std::make_unique<NetworkLearner>(data, options, run);
}

std::unique_ptr<Learner> make_learner(const Trajectories& data, const Options& options,
                                      const RunContext& run) {
  return options.policy == PolicyKind::kTabular ? make_tabular_learner(data, options, run)
                                                : make_network_learner(data, options, run);
}

}  // namespace kindred::pg_kmeans
