#include "kindred/methods/policy_search/evidence/sparse_statistics.h"

#include <algorithm>

namespace kindred::policy_search {

SparseStatistics::SparseStatistics(const Trajectories& data, const PlaneView& view,
                                   const ActionTargets& targets, const Workers& workers)
    : EpisodeStatistics({view.columns(), targets.count()}, workers),
      rows_(std::make_shared<SparseRows>(view.see(data.observations, workers))) {
  std::vector<double> actions(static_cast<std::size_t>(data.steps() * targets.count()));
  targets.copy(data.actions, 0, data.steps(), actions);
  actions_ = std::make_shared<std::vector<double>>(std::move(actions));
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    add_episode(data.offsets[i], data.offsets[i + 1]);
}

void SparseStatistics::add_episode(std::int64_t begin, std::int64_t end) {
  for (const auto& [from, to] : pieces_of(begin, end)) {
    add_piece(to - from);
    begin_.push_back(from);
    end_.push_back(to);
  }
  end_episode();
}

std::unique_ptr<EpisodeStatistics> SparseStatistics::subset(
    std::span<const std::int64_t> episodes) const {
  auto result = std::unique_ptr<SparseStatistics>(new SparseStatistics(layout(), workers()));
  result->rows_ = rows_;
  result->actions_ = actions_;
  for (const auto i : episodes)
    result->add_episode(begin_[static_cast<std::size_t>(first_piece(i))],
                        end_[static_cast<std::size_t>(last_piece(i) - 1)]);
  return result;
}

void SparseStatistics::add_sums(std::int64_t begin, std::int64_t end, double* sums) const {
  const auto targets = layout().targets;
  double* cross = sums + layout().cross();
  double* squares = sums + layout().squares();
  for (auto t = begin; t < end; ++t) {
    const double* action = actions_->data() + t * targets;
    const auto ones = rows_->of(t);
    for (const std::int64_t m : ones) {
      double* row = sums + m * (m + 1) / 2;
      for (const std::int64_t l : ones)
        if (l <= m) row[l] += 1.0;
      for (std::int64_t d = 0; d < targets; ++d) cross[m * targets + d] += action[d];
    }
    for (std::int64_t d = 0; d < targets; ++d) squares[d] += action[d] * action[d];
  }
  sums[layout().steps()] += static_cast<double>(end - begin);
}

std::vector<double> SparseStatistics::cluster_sums(std::span<const std::int32_t> labels,
                                                   std::int64_t k) const {
  std::vector<double> sums(static_cast<std::size_t>(k * layout().size()), 0.0);
  for (std::int64_t i = 0; i < episodes(); ++i) {
    const auto label = labels[static_cast<std::size_t>(i)];
    if (label < 0) continue;
    throw_if_stopped();
    add_sums(begin_[static_cast<std::size_t>(first_piece(i))],
             end_[static_cast<std::size_t>(last_piece(i) - 1)],
             sums.data() + label * layout().size());
  }
  return sums;
}

std::vector<double> SparseStatistics::piece_sums(std::int64_t piece) const {
  std::vector<double> sums(static_cast<std::size_t>(layout().size()), 0.0);
  const auto at = static_cast<std::size_t>(piece);
  add_sums(begin_[at], end_[at], sums.data());
  return sums;
}

void SparseStatistics::add_errors(std::int64_t piece, std::span<const double> weights,
                                  std::span<double> out) const {
  const auto columns = out.size();
  const auto targets = static_cast<std::size_t>(layout().targets);
  std::vector<double> missed(columns);
  const auto at = static_cast<std::size_t>(piece);
  for (auto t = begin_[at]; t < end_[at]; ++t) {
    const double* action = actions_->data() + t * layout().targets;
    for (std::size_t c = 0; c < columns; ++c) missed[c] = -action[c % targets];
    for (const auto m : rows_->of(t)) {
      const double* row = weights.data() + static_cast<std::size_t>(m) * columns;
      for (std::size_t c = 0; c < columns; ++c) missed[c] += row[c];
    }
    for (std::size_t c = 0; c < columns; ++c) out[c] += missed[c] * missed[c];
  }
}

Matrix SparseStatistics::episode_costs(std::span<const double> weights, std::int64_t k,
                                       std::span<const double> noise) const {
  const auto targets = layout().targets;
  Matrix costs(episodes(), k);
  workers().chunks(episodes(), 256, [&](std::int64_t begin, std::int64_t end) {
    std::vector<double> errors(static_cast<std::size_t>(k * targets));
    for (auto i = begin; i < end; ++i) {
      throw_if_stopped();
      std::ranges::fill(errors, 0.0);
      for (auto p = first_piece(i); p < last_piece(i); ++p) add_errors(p, weights, errors);
      for (std::int64_t c = 0; c < k * targets; ++c)
        costs(i, c / targets) +=
            errors[static_cast<std::size_t>(c)] / noise[static_cast<std::size_t>(c % targets)];
    }
  });
  return costs;
}

Matrix SparseStatistics::piece_errors(std::span<const std::int64_t> pieces,
                                      std::span<const double> policy) const {
  Matrix errors(std::ssize(pieces), layout().targets);
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    throw_if_stopped();
    add_errors(pieces[p], policy,
               std::span(errors.values)
                   .subspan(p * static_cast<std::size_t>(errors.columns),
                            static_cast<std::size_t>(errors.columns)));
  }
  return errors;
}

}  // namespace kindred::policy_search
