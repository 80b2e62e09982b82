#include "kindred/methods/pg_kmeans/networks.h"

#include "kindred/core/random.h"
#include "kindred/policies/architecture.h"
#include "kindred/policies/centres.h"

namespace kindred::pg_kmeans {
namespace {

NetworkView view_of(const Trajectories& data, const Options& options) {
  return {
      NetworkInputs::from(data.observations, options.standardize == Standardize::kOn),
      options.standardize_actions ? NetworkActions::standardised(data.actions) : NetworkActions()};
}

}  // namespace

Networks::Networks(const Trajectories& data, const Options& options, const RunContext& run)
    : data_(data),
      options_(options),
      run_(run),
      view_(view_of(data, options)),
      policies_(architecture_for(data, view_, options.hidden, options.hidden_layers),
                options.restarts * options.k) {
  for (std::int64_t slot = 0; slot < policies_.size(); ++slot) Networks::reinitialise(slot, 0);
}

void Networks::reinitialise(std::int64_t slot, std::int64_t round) {
  policies_.initialise(slot, Random(static_cast<std::uint64_t>(options_.seed), "policy",
                                    static_cast<std::uint64_t>(round << 32 | slot)));
}

std::shared_ptr<const Centres> Networks::centres(std::span<const std::int64_t> slots) const {
  return std::make_shared<NetworkCentres>(
      view_, policies_.select(slots), scoring(),
      common_ ? std::optional(common_->select(kFirst)) : std::nullopt);
}

void Networks::save(ArrayFileWriter& file) const {
  save_stack(policies_, "learner", file);
  if (common_) save_stack(*common_, "common", file);
}

void Networks::load(const ArrayFileReader& file) {
  restore_stack("learner", file, policies_);
  if (options_.common_share == 0.0) return;
  common_.emplace(policies_.architecture(), 1);
  restore_stack("common", file, *common_);
  score_common_policy();
}

void Networks::need_common_policy() {
  if (options_.common_share == 0.0 || common_) return;
  common_.emplace(policies_.architecture(), 1);
  common_->initialise(0, Random(static_cast<std::uint64_t>(options_.seed), "common policy"));
  const std::vector<std::int32_t> all(static_cast<std::size_t>(data_.episodes()), 0);
  train(
      *common_, kFirst, [&](std::int64_t) { return std::span(all); }, /*round=*/0);
  score_common_policy();
}

}  // namespace kindred::pg_kmeans
