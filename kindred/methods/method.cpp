#include "kindred/methods/method.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/latent/centres.h"
#include "kindred/methods/caae/caae.h"
#include "kindred/methods/choose_k.h"
#include "kindred/methods/dec/dec.h"
#include "kindred/methods/pg_kmeans/pg_kmeans.h"
#include "kindred/methods/policy_search/policy_search.h"
#include "kindred/methods/return_kmeans/return_kmeans.h"
#include "kindred/methods/sorl/sorl.h"
#include "kindred/methods/vae_kmeans/vae_kmeans.h"
#include "kindred/methods/vq_vae/vq_vae.h"
#include "kindred/policies/centres.h"

namespace kindred {
namespace {

/// Fit: a function, or one of the part that needs LibTorch.
template <class Options, auto& Fit>
class Configured final : public ConfiguredMethod {
 public:
  OptionTable describe() override { return options_.describe(); }
  void use_preset(const std::string& preset) override {
    if (preset != "paper") throw InvalidArgument("there is no preset '{}', only 'paper'", preset);
    if constexpr (requires { options_.use_paper_setting(); })
      options_.use_paper_setting();
    else
      throw InvalidArgument(
          "only pg-kmeans and return-kmeans have the preset 'paper'; leave it out for this method");
  }
  void check(const Trajectories& data, const RunContext& run,
             const std::vector<std::string>& set_by_user) const override {
    resolve(options_, data);
    if constexpr (requires { unused_options(options_, data, run); })
      refuse_unused(unused_options(options_, data, run), set_by_user);
  }
  Sharing sharing(const Trajectories& data, const RunContext& run) const override {
    if constexpr (requires { sharing_of(options_, data, run); })
      return sharing_of(options_, data, run);
    else
      return Sharing::kNone;
  }
  Clustering fit(const Trajectories& data, const RunContext& run) override {
    return Fit(data, options_, run);
  }

 private:
  Options options_;
};

template <class Options, auto& Fit>
std::unique_ptr<ConfiguredMethod> configured() {
  return std::make_unique<Configured<Options, Fit>>();
}

/// For those that cannot find out k by themselves.
template <class Options, auto& Fit>
std::unique_ptr<ConfiguredMethod> with_k_chosen() {
  return choosing_k(configured<Options, Fit>());
}

}  // namespace

std::span<const MethodInfo> methods() {
  static const std::vector<MethodInfo> all = {
      {"policy-search", "Find the policies and their number by conflicts and held-out score.",
       configured<policy_search::Options, policy_search::fit>, load_policy_centres},
      {"pg-kmeans", "Clone a policy per cluster, regroup by likelihood, repeat.",
       configured<pg_kmeans::Options, pg_kmeans::fit>, load_policy_centres},
      {"caae", "Autoencoder whose latents are drawn to learned centroids.",
       with_k_chosen<caae::Options, caae::fit>, std::cref(latent::load_centres)},
      {"dec", "Autoencoder, k-means, then self-training of the encoder.",
       with_k_chosen<dec::Options, dec::fit>, std::cref(latent::load_centres)},
      {"vae-kmeans", "Variational autoencoder, then k-means on its latent means.",
       with_k_chosen<vae_kmeans::Options, vae_kmeans::fit>, std::cref(latent::load_centres)},
      {"vq-vae", "Vector-quantised autoencoder; the nearest code decides.",
       with_k_chosen<vq_vae::Options, vq_vae::fit>, std::cref(latent::load_centres)},
      {"sorl", "Policies trained on all data by soft shares; largest wins.",
       with_k_chosen<sorl::Options, sorl::fit>, load_policy_centres},
      {"return-kmeans", "Episodes by their return alone (exact 1-D k-means).",
       with_k_chosen<return_kmeans::Options, return_kmeans::fit>, return_kmeans::load_centres},
  };
  return all;
}

const MethodInfo& find_method(std::string_view name) {
  const auto found = std::ranges::find(methods(), name, &MethodInfo::name);
  if (found != methods().end()) return *found;
  std::vector<std::string> names;
  for (const auto& method : methods()) names.push_back(method.name);
  throw InvalidArgument("there is no method '{}'; the methods are {}", name,
                        fmt::join(names, ", "));
}

}  // namespace kindred
