#include "kindred/methods/vae_kmeans/vae_kmeans.h"

#include <ATen/ATen.h>

#include "kindred/latent/encoder.h"
#include "kindred/latent/fit.h"
#include "kindred/nn/kmeans.h"
#include "kindred/nn/latent_losses.h"

namespace kindred::vae_kmeans {
namespace {

class Vae final : public latent::Model {
 public:
  Vae(const Options& options, std::int64_t restart, const Workers& workers, const at::Tensor& like)
      : options_(options), restart_(restart), workers_(workers), like_(like.detach()) {
    const auto width = options.heads * options.head_size;
    const double scale = 1.0 / std::sqrt(static_cast<double>(width));
    const auto draw = [&](const char* name) {
      return latent::normal_tensor(width, width, latent::restart_random(options, name, restart),
                                   like) *
             scale;
    };
    mean_weight_ = draw("mean");
    deviation_weight_ = draw("deviation");
    mean_bias_ = at::zeros({1, width}, like_.options());
    deviation_bias_ = at::zeros({1, width}, like_.options());
  }

  std::vector<at::Tensor> parameters() override {
    return {mean_weight_, mean_bias_, deviation_weight_, deviation_bias_};
  }
  at::Tensor latent(const at::Tensor& features) const override {
    return at::matmul(features, mean_weight_) + mean_bias_;
  }
  at::Tensor latent_weight() const override { return mean_weight_; }
  at::Tensor latent_bias() const override { return mean_bias_; }
  at::Tensor centres() const override { return centres_; }

  /// mean_i( −log p(τ_i | z_i) + β KL(q_i ‖ N(0, I)) ), z_i drawn from q_i
  at::Tensor loss(const latent::TrainingStep& step) override {
    const auto mean = latent(step.features);
    const auto log_variance = at::matmul(step.features, deviation_weight_) + deviation_bias_;
    const auto noise =
        latent::normal_tensor(mean.size(0), mean.size(1),
                              Random(static_cast<std::uint64_t>(options_.seed), "noise",
                                     static_cast<std::uint64_t>(restart_ << 40 | step.number)),
                              like_);
    const auto z = mean + (0.5 * log_variance).exp() * noise;
    return step.reconstruction(z) + options_.kl_weight * gaussian_kl(mean, log_variance).mean();
  }

  void conclude(const Matrix& latents) override {
    auto random = latent::restart_random(options_, "kmeans", restart_);
    const auto found = kmeans(latents.values, latents.columns, options_.k, options_.kmeans_starts,
                              random, workers_);
    Matrix centres(options_.k, latents.columns);
    centres.values = found.centres;
    centres_ = latent::to_tensor(centres, like_);
  }

 private:
  const Options& options_;
  std::int64_t restart_;
  Workers workers_;
  at::Tensor like_;
  at::Tensor mean_weight_, mean_bias_, deviation_weight_, deviation_bias_;
  at::Tensor centres_;
};

Clustering fit_by_torch(const Trajectories& data, const Options& requested, const RunContext& run) {
  const Options options = resolve(requested, data);
  return latent::fit_model<Vae>("vae-kmeans", data, options, run);
}
const LateFunctionIs is_fit(fit, &fit_by_torch);

}  // namespace
}  // namespace kindred::vae_kmeans
