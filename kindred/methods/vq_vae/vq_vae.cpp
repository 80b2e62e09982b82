#include "kindred/methods/vq_vae/vq_vae.h"

#include <ATen/ATen.h>

#include "kindred/latent/codebook.h"
#include "kindred/latent/fit.h"
#include "kindred/nn/latent_losses.h"

namespace kindred::vq_vae {
namespace {

class VqVae final : public latent::Model {
 public:
  VqVae(const Options& options, std::int64_t restart, const Workers& workers,
        const at::Tensor& like)
      : options_(options),
        restart_(restart),
        workers_(workers),
        codes_(latent::normal_tensor(options.k, options.heads * options.head_size,
                                     latent::restart_random(options, "codebook", restart), like)) {}

  std::vector<at::Tensor> parameters() override { return {codes_}; }
  at::Tensor centres() const override { return codes_; }

  /// mean_i( −log p(τ_i | e_i) + ‖sg(z_i) − e_i‖² + β ‖z_i − sg(e_i)‖² ), e_i the nearest code
  at::Tensor loss(const latent::TrainingStep& step) override {
    const auto& z = step.features;
    const auto nearest = squared_distances(z, codes_).argmin(1);
    const auto code = codes_.index_select(0, nearest);
    const auto quantised = z + (code - z).detach();
    const auto towards_encoder = (z.detach() - code).square().sum(1).mean();
    const auto towards_code = (z - code.detach()).square().sum(1).mean();
    return step.reconstruction(quantised) + towards_encoder + options_.commitment * towards_code;
  }

  latent::AfterRound end_round(const latent::RoundEnd& round) override {
    if (!options_.refit) return latent::AfterRound::kGoOn;
    return latent::refit_codebook(codes_, round, options_, restart_, workers_);
  }

 private:
  const Options& options_;
  std::int64_t restart_;
  Workers workers_;
  at::Tensor codes_;
};

Clustering fit_by_torch(const Trajectories& data, const Options& requested, const RunContext& run) {
  const Options options = resolve(requested, data);
  return latent::fit_model<VqVae>("vq-vae", data, options, run);
}
const LateFunctionIs is_fit(fit, &fit_by_torch);

}  // namespace
}  // namespace kindred::vq_vae
