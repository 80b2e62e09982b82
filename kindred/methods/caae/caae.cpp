#include "kindred/methods/caae/caae.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "kindred/latent/codebook.h"
#include "kindred/latent/fit.h"
#include "kindred/nn/latent_losses.h"

namespace kindred::caae {
namespace {

class Caae final : public latent::Model {
 public:
  Caae(const Options& options, std::int64_t restart, const Workers& workers, const at::Tensor& like)
      : options_(options),
        restart_(restart),
        workers_(workers),
        centroids_(latent::normal_tensor(options.k, options.heads * options.head_size,
                                         latent::restart_random(options, "codebook", restart),
                                         like)) {}

  std::vector<at::Tensor> parameters() override { return {centroids_}; }
  at::Tensor centres() const override { return centroids_; }

  /// mean_i( −log p(τ_i | z_i) + α min_j ‖μ_j − z_i‖² ) − λ (1/m²) Σ_ij min{1, ‖μ_i − μ_j‖²}
  at::Tensor loss(const latent::TrainingStep& step) override {
    const auto& z = step.features;
    const auto attraction = std::get<0>(squared_distances(z, centroids_).min(1)).mean();
    auto loss = step.reconstruction(z) + alpha_at(step.number) * attraction;
    if (options_.regulariser > 0.0)
      loss = loss - options_.regulariser * codebook_spread(centroids_);
    return loss;
  }

  std::optional<latent::CentroidTerms> centroid_terms(std::int64_t step) const override {
    return latent::CentroidTerms{
        .codes = centroids_, .alpha = alpha_at(step), .lambda = options_.regulariser};
  }

  latent::AfterRound end_round(const latent::RoundEnd& round) override {
    if (!options_.refit) return latent::AfterRound::kGoOn;
    return latent::refit_codebook(centroids_, round, options_, restart_, workers_);
  }

 private:
  double alpha_at(std::int64_t step) const {
    const double rising = options_.warmup * static_cast<double>(options_.max_steps);
    return options_.alpha * std::min(1.0, static_cast<double>(step) / std::max(rising, 1e-9));
  }

  const Options& options_;
  std::int64_t restart_;
  Workers workers_;
  at::Tensor centroids_;
};

Clustering fit_by_torch(const Trajectories& data, const Options& requested, const RunContext& run) {
  const Options options = resolve(requested, data);
  return latent::fit_model<Caae>("caae", data, options, run, options.alpha);
}
const LateFunctionIs is_fit(fit, &fit_by_torch);

}  // namespace
}  // namespace kindred::caae
