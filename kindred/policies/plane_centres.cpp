#include "kindred/policies/plane_centres.h"

#include <cmath>

namespace kindred {

PlaneCentres::PlaneCentres(std::shared_ptr<const PlaneView> view, std::int64_t actions,
                           std::vector<SparseNetwork> networks)
    : view_(std::move(view)), actions_(actions), networks_(std::move(networks)) {}

Matrix PlaneCentres::score(const Trajectories& data, const RunContext& run) const {
  require_cpu(run, "scoring with networks on planes");
  require_same_dimensions(data, view_->obs_dim(), true, actions_);
  const auto rows = view_->see(data.observations, run);
  const auto taken = data.actions.ints().span();
  Matrix scores(data.episodes(), count());
  run.chunks(data.episodes(), 64, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> first(static_cast<std::size_t>(actions_)), second(first.size());
    for (auto i = begin; i < end; ++i)
      for (auto t = data.offsets[i]; t < data.offsets[i + 1]; ++t)
        for (std::int64_t j = 0; j < count(); ++j) {
          networks_[static_cast<std::size_t>(j)].log_probs(rows.of(t), first);
          networks_[static_cast<std::size_t>(count() + j)].log_probs(rows.of(t), second);
          const auto action = static_cast<std::size_t>(taken[static_cast<std::size_t>(t)]);
          scores(i, j) += std::log(0.5 * (std::exp(first[action]) + std::exp(second[action])));
        }
  });
  return scores;
}

void PlaneCentres::save(ArrayFileWriter& file) const {
  file.write_text("kind", "planes");
  view_->save(file);
  std::vector<float> all;
  for (const auto& network : networks_)
    all.insert(all.end(), network.parameters().begin(), network.parameters().end());
  file.write<std::int64_t>("actions", std::vector<std::int64_t>{actions_});
  file.write<float>("networks", all,
                    {2, count(), SparseNetwork::parameters_of(view_->columns(), actions_)});
}

std::shared_ptr<const Centres> PlaneCentres::load(const ArrayFileReader& file) {
  auto view = std::make_shared<PlaneView>(PlaneView::load(file));
  const auto actions = file.read_number<std::int64_t>("actions");
  if (actions < 1 || actions > 1 << 20) file.refuse("actions", "is no number of actions");
  const auto size = SparseNetwork::parameters_of(view->columns(), actions);
  const auto all = file.read_finite<float>("networks", {2, kAnyExtent, size});
  std::vector<SparseNetwork> networks;
  for (auto from = all.values.begin(); from != all.values.end(); from += size)
    networks.emplace_back(view->columns(), actions, std::vector<float>(from, from + size));
  return std::make_shared<PlaneCentres>(std::move(view), actions, std::move(networks));
}

}  // namespace kindred
