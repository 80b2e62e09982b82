// Training an autoencoder with a model's loss, and turning its latent space into a clustering.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kindred/core/random.h"
#include "kindred/latent/model.h"
#include "kindred/latent/options.h"

namespace kindred::latent {

/// A method: its name, its complete options, and how to begin a restart.
struct Method {
  std::string name;
  Options options;                     ///< Resolved.
  nlohmann::ordered_json all_options;  ///< Resolved, the method's own included.
  /// What a merge's added squared distance counts in the objective.
  double distance_weight = 1.0;
  /// `like` says on what device parameters live.
  std::function<std::unique_ptr<Model>(std::int64_t restart, const at::Tensor& like)> make_model;
};

Clustering fit(const Trajectories& data, const Method& method, const RunContext& run);

/// The same for a model that is made from its resolved options, the restart, the threads to work on
/// and a tensor on its device.
template <class ModelOfMethod, class OptionsOfMethod>
Clustering fit_model(const char* name, const Trajectories& data, const OptionsOfMethod& options,
                     const RunContext& run, double distance_weight = 1.0) {
  return fit(data,
             {.name = name,
              .options = options,
              .all_options = to_json(OptionsOfMethod(options).describe()),
              .distance_weight = distance_weight,
              .make_model =
                  [&](std::int64_t restart, const at::Tensor& like) {
                    return std::make_unique<ModelOfMethod>(options, restart, run, like);
                  }},
             run);
}

/// The stream of a restart: Random(seed, name, restart).
Random restart_random(const Options& options, const char* name, std::int64_t restart);

/// Standard normal numbers.
at::Tensor normal_tensor(std::int64_t rows, std::int64_t columns, Random random,
                         const at::Tensor& like);

}  // namespace kindred::latent
