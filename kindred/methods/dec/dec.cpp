#include "kindred/methods/dec/dec.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "kindred/clustering/checkpoint.h"
#include "kindred/latent/encoder.h"
#include "kindred/latent/fit.h"
#include "kindred/nn/kmeans.h"
#include "kindred/nn/latent_losses.h"

namespace kindred::dec {
namespace {

class Dec final : public latent::Model {
 public:
  Dec(const Options& options, std::int64_t restart, const Workers& workers, const at::Tensor& like)
      : options_(options),
        restart_(restart),
        workers_(workers),
        centres_(
            at::zeros({options.k, options.heads * options.head_size}, like.detach().options())) {}

  std::vector<at::Tensor> parameters() override { return {centres_}; }
  at::Tensor centres() const override { return clustering() ? centres_ : at::Tensor(); }

  void begin(const std::function<Matrix()>& all_latents) override {
    if (options_.variant == Variant::kJoint) start_clustering(all_latents(), 0);
  }

  at::Tensor loss(const latent::TrainingStep& step) override {
    if (!clustering()) return step.reconstruction(step.features);
    const auto rows = at::tensor(
        at::ArrayRef<std::int64_t>(step.episodes.data(), step.episodes.size()), at::kLong);
    const auto p = target_.index_select(0, rows).to(centres_.device());
    auto kl = assignment_kl(p, student_assignment(step.features, centres_)).mean();
    if (options_.variant == Variant::kPretrained) return kl;
    return step.reconstruction(step.features) + options_.kl_weight * kl;
  }

  latent::AfterRound end_round(const latent::RoundEnd& round) override {
    if (!clustering()) {
      if (static_cast<double>(round.steps) <
          options_.pretrain * static_cast<double>(options_.max_steps))
        return latent::AfterRound::kGoOn;
      start_clustering(round.all_latents(), round.steps);
      return latent::AfterRound::kLossReplaced;
    }
    if (round.steps - refreshed_ < options_.refresh_steps) return latent::AfterRound::kGoOn;
    return refresh(round.all_latents(), round.steps) ? latent::AfterRound::kFinished
                                                     : latent::AfterRound::kGoOn;
  }

  void save(ArrayFileWriter& file) const override {
    file.write<std::int64_t>("dec/refreshed", std::vector<std::int64_t>{refreshed_});
    if (!clustering()) return;
    latent::write_tensor(file, "dec/target", target_);
    file.write<std::int32_t>("dec/labels", labels_);
  }
  void load(const ArrayFileReader& file, std::int64_t episodes) override {
    refreshed_ = file.read<std::int64_t>("dec/refreshed").values.at(0);
    if (!file.contains("dec/target")) return;
    target_ = latent::read_tensor(file, "dec/target", {episodes, options_.k});
    labels_ = file.read<std::int32_t>("dec/labels").values;
    require_labels(labels_, episodes, options_.k);
  }

 private:
  bool clustering() const { return target_.defined(); }

  void start_clustering(const Matrix& latents, std::int64_t steps) {
    const c10::NoGradGuard no_grad;
    auto random = latent::restart_random(options_, "kmeans", restart_);
    const auto found = kmeans(latents.values, latents.columns, options_.k, options_.kmeans_starts,
                              random, workers_);
    Matrix centres(options_.k, latents.columns);
    centres.values = found.centres;
    centres_.copy_(latent::to_tensor(centres, centres_));
    refresh(latents, steps);
  }

  /// Sets a new target; true when hardly a label has changed since the last time.
  bool refresh(const Matrix& latents, std::int64_t steps) {
    const c10::NoGradGuard no_grad;
    const auto q =
        student_assignment(latent::to_tensor(latents, target_.defined() ? target_ : at::zeros({1})),
                           centres_.detach().to(at::kCPU));
    target_ = target_distribution(q);
    refreshed_ = steps;
    const auto previous = std::move(labels_);
    labels_ = best_columns(latent::to_matrix(q));
    if (previous.empty()) return false;
    std::int64_t changed = 0;
    for (std::size_t i = 0; i < labels_.size(); ++i) changed += labels_[i] != previous[i];
    return static_cast<double>(changed) <
           options_.change_tolerance * static_cast<double>(labels_.size());
  }

  const Options& options_;
  std::int64_t restart_;
  Workers workers_;
  at::Tensor centres_;
  at::Tensor target_;                 // [episodes, k] on the CPU; undefined while pretraining
  std::vector<std::int32_t> labels_;  // at the last refresh
  std::int64_t refreshed_ = 0;        // step of the last refresh
};

Clustering fit_by_torch(const Trajectories& data, const Options& requested, const RunContext& run) {
  const Options options = resolve(requested, data);
  return latent::fit_model<Dec>("dec", data, options, run);
}
const LateFunctionIs is_fit(fit, &fit_by_torch);

}  // namespace
}  // namespace kindred::dec
