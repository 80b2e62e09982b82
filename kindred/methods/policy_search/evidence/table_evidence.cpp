#include "kindred/methods/policy_search/evidence/table_evidence.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kindred/data/select.h"
#include "kindred/dist/communicator.h"
#include "kindred/policies/centres.h"
#include "kindred/policies/table_surprise.h"

namespace kindred::policy_search {

TableEvidence::TableEvidence(const Trajectories& data, const Workers& workers)
    : workers_(workers),
      actions_(data.actions.count()),
      obs_dim_(data.observations.dim()),
      table_(data.observations.table()),
      offsets_(data.offsets.begin(), data.offsets.end()) {
  const auto seen = data.observations.index().span();
  const auto taken = data.actions.ints().span();
  codes_.reserve(seen.size());
  for (std::size_t t = 0; t < seen.size(); ++t)
    codes_.push_back(static_cast<std::int32_t>(seen[t] * actions_ + taken[t]));
  prior_ = frequencies(count(std::vector<std::int32_t>(data.ids.size(), 0), 1));
  const auto plan = FoldPlan::for_episodes(data.episodes());
  folds_ = plan.folds;
  fold_of_ = draw_folds(data.ids, plan.folds, plan.draws);
}

std::vector<double> TableEvidence::count(std::span<const std::int32_t> labels,
                                         std::int64_t k) const {
  const auto codes = table_.size() / obs_dim_ * actions_;
  std::vector<double> counts(static_cast<std::size_t>(k * codes), 0.0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    double* own = counts.data() + labels[i] * codes;
    for (auto t = offsets_[i]; t < offsets_[i + 1]; ++t) ++own[codes_[static_cast<std::size_t>(t)]];
  }
  return counts;
}

std::vector<double> TableEvidence::frequencies(std::span<const double> counts) const {
  const auto actions = static_cast<std::size_t>(actions_);
  std::vector<double> result(counts.size());
  for (std::size_t row = 0; row < counts.size(); row += actions) {
    double visits = 0.5 * static_cast<double>(actions_);
    for (std::size_t a = 0; a < actions; ++a) visits += counts[row + a];
    for (std::size_t a = 0; a < actions; ++a) result[row + a] = (counts[row + a] + 0.5) / visits;
  }
  return result;
}

std::vector<double> TableEvidence::log_probs(std::span<const double> counts,
                                             std::span<const double> prior) const {
  const auto actions = static_cast<std::size_t>(actions_);
  std::vector<double> result(counts.size());
  for (std::size_t row = 0; row < counts.size(); row += actions) {
    double visits = 1.0;
    for (std::size_t a = 0; a < actions; ++a) visits += counts[row + a];
    for (std::size_t a = 0; a < actions; ++a)
      result[row + a] = std::log((counts[row + a] + prior[row + a]) / visits);
  }
  return result;
}

double TableEvidence::objective(std::span<const double> counts,
                                std::span<const double> prior) const {
  const auto probs = log_probs(counts, prior);
  double sum = 0.0;
  for (std::size_t c = 0; c < counts.size(); ++c) sum += (counts[c] + prior[c]) * probs[c];
  return sum;
}

double TableEvidence::log_prob(std::int64_t episode, std::span<const double> log_probs) const {
  double sum = 0.0;
  for (auto t = offsets_[static_cast<std::size_t>(episode)];
       t < offsets_[static_cast<std::size_t>(episode) + 1]; ++t)
    sum += log_probs[static_cast<std::size_t>(codes_[static_cast<std::size_t>(t)])];
  return sum;
}

ExactFit TableEvidence::fit(std::vector<std::int32_t> labels, const Links& links) const {
  constexpr std::size_t kMostRounds = 100;
  const auto codes = prior_.size();
  ExactFit fit;
  fit.labels = consecutive_labels(std::move(labels));
  while (!fit.converged && fit.rounds.size() < kMostRounds) {
    workers_.throw_if_stopped();
    fit.k = 1 + *std::ranges::max_element(fit.labels);
    const auto counts = count(fit.labels, fit.k);
    auto& round = fit.rounds.emplace_back();
    round.sizes.resize(static_cast<std::size_t>(fit.k));
    for (const auto label : fit.labels) ++round.sizes[static_cast<std::size_t>(label)];
    std::vector<std::vector<double>> policies;
    for (std::size_t j = 0; j < static_cast<std::size_t>(fit.k); ++j) {
      const auto own = std::span(counts).subspan(j * codes, codes);
      policies.push_back(log_probs(own, prior_));
      round.objective += objective(own, prior_);
    }
    Matrix costs(episodes(), fit.k);
    for (std::int64_t i = 0; i < episodes(); ++i)
      for (std::int64_t j = 0; j < fit.k; ++j)
        costs(i, j) = -log_prob(i, policies[static_cast<std::size_t>(j)]);
    round.changed = links.assign(costs, fit.labels);
    fit.converged = round.changed == 0;
    fit.labels = consecutive_labels(std::move(fit.labels));
  }
  fit.k = 1 + *std::ranges::max_element(fit.labels);
  return fit;
}

std::vector<ClusterPair> TableEvidence::closest_pairs(std::span<const std::int32_t> labels,
                                                      std::int64_t k, std::size_t most) const {
  const auto codes = prior_.size();
  const auto counts = count(labels, k);
  const auto of = [&](std::int32_t j) {
    return std::span(counts).subspan(static_cast<std::size_t>(j) * codes, codes);
  };
  std::vector<double> alone;
  for (std::int32_t j = 0; j < k; ++j) alone.push_back(objective(of(j), prior_));
  struct Joining {
    double loss;
    ClusterPair pair;
  };
  std::vector<Joining> joinings;
  std::vector<double> joined(codes);
  for (std::int32_t a = 0; a < k; ++a)
    for (std::int32_t b = a + 1; b < k; ++b) {
      std::ranges::transform(of(a), of(b), joined.begin(), std::plus<>());
      joinings.push_back({alone[static_cast<std::size_t>(a)] + alone[static_cast<std::size_t>(b)] -
                              objective(joined, prior_),
                          {a, b}});
    }
  std::ranges::stable_sort(joinings, {}, &Joining::loss);
  std::vector<ClusterPair> pairs;
  for (std::size_t i = 0; i < std::min(most, joinings.size()); ++i)
    pairs.push_back(joinings[i].pair);
  return pairs;
}

TableEvidence::Counts TableEvidence::without_fold(const Counts& whole,
                                                  std::span<const std::int32_t> labels,
                                                  std::span<const std::int32_t> folds,
                                                  std::int64_t fold) const {
  auto result = whole;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (folds[i] != fold) continue;
    for (auto t = offsets_[i]; t < offsets_[i + 1]; ++t) {
      const auto code = static_cast<std::size_t>(codes_[static_cast<std::size_t>(t)]);
      if (labels[i] >= 0)
        --result.clusters[static_cast<std::size_t>(labels[i]) * prior_.size() + code];
      --result.all[code];
    }
  }
  return result;
}

void TableEvidence::predict(std::span<const std::int32_t> labels, std::int64_t k, std::size_t draws,
                            std::vector<double>& nats) const {
  nats.resize(labels.size(), 0.0);
  const auto codes = prior_.size();
  const Counts whole{count(labels, k), count(std::vector<std::int32_t>(labels.size(), 0), 1)};
  for (std::size_t draw = 0; draw < draws; ++draw)
    for (std::int64_t fold = 0; fold < folds_; ++fold) {
      workers_.throw_if_stopped();
      const auto counts = without_fold(whole, labels, fold_of_[draw], fold);
      const auto prior = frequencies(counts.all);
      std::vector<std::vector<double>> policies(static_cast<std::size_t>(k));
      for (std::size_t i = 0; i < labels.size(); ++i) {
        if (fold_of_[draw][i] != fold || labels[i] < 0) continue;
        const auto j = static_cast<std::size_t>(labels[i]);
        if (policies[j].empty())
          policies[j] = log_probs(std::span(counts.clusters).subspan(j * codes, codes), prior);
        const double cost = -log_prob(static_cast<std::int64_t>(i), policies[j]);
        nats[i] = (draw == 0 ? 0.0 : nats[i]) + cost / static_cast<double>(draws);
      }
    }
}

double TableEvidence::v(const HeldOutScore& score) const {
  double sum = 0.0;
  for (const double cost : score.errors) sum -= cost;
  for (const double cost : score.naming) sum -= cost;
  return sum / steps();
}

std::vector<double> TableEvidence::costs(const HeldOutScore& score, const HeldOutScore&) const {
  auto result = score.errors;
  for (std::size_t i = 0; i < result.size(); ++i) result[i] += score.naming[i];
  return result;
}

HeldOutScore TableEvidence::score(std::span<const std::int32_t> labels, std::int64_t k) const {
  HeldOutScore result;
  result.naming = naming_costs(labels);
  predict(labels, k, fold_of_.size(), result.errors);
  result.v = v(result);
  return result;
}

double TableEvidence::quick_score(std::span<const std::int32_t> labels, std::int64_t k) const {
  HeldOutScore result;
  result.naming = naming_costs(labels);
  predict(labels, k, 1, result.errors);
  return v(result);
}

HeldOutScore TableEvidence::score_joined(const HeldOutScore& score,
                                         std::span<const std::int32_t> labels,
                                         ClusterPair pair) const {
  auto result = score;
  result.naming = naming_costs(joined_labels(labels, pair));
  predict(only_of(labels, pair), 1, fold_of_.size(), result.errors);
  result.v = v(result);
  return result;
}

Matrix TableEvidence::costs_everywhere(std::span<const std::int32_t> labels, std::int64_t k,
                                       const HeldOutScore&) const {
  Matrix result(episodes(), k);
  const auto codes = prior_.size();
  const auto& fold_of = fold_of_.front();
  for (std::int64_t fold = 0; fold < folds_; ++fold) {
    workers_.throw_if_stopped();
    auto counts = count(labels, k);
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (fold_of[i] == fold)
        for (auto t = offsets_[i]; t < offsets_[i + 1]; ++t)
          --counts[static_cast<std::size_t>(labels[i]) * codes +
                   static_cast<std::size_t>(codes_[static_cast<std::size_t>(t)])];
    for (std::int64_t j = 0; j < k; ++j) {
      const auto policy =
          log_probs(std::span(counts).subspan(static_cast<std::size_t>(j) * codes, codes), prior_);
      for (std::int64_t i = 0; i < episodes(); ++i)
        if (fold_of[static_cast<std::size_t>(i)] == fold) result(i, j) = -log_prob(i, policy);
    }
  }
  return result;
}

HeldOutFit TableEvidence::held_out_fit(std::span<const std::int32_t> labels, std::int64_t k,
                                       const HeldOutScore&) const {
  const auto codes = prior_.size();
  const auto& folds = fold_of_.front();
  const Counts whole{count(labels, k), count(std::vector<std::int32_t>(labels.size(), 0), 1)};
  HeldOutFit result;
  for (std::int64_t fold = 0; fold < folds_; ++fold) {
    workers_.throw_if_stopped();
    const auto counts = without_fold(whole, labels, folds, fold);
    const auto prior = frequencies(counts.all);
    for (std::int32_t j = 0; j < k; ++j) {
      const auto own =
          std::span(counts.clusters).subspan(static_cast<std::size_t>(j) * codes, codes);
      if (std::ranges::none_of(own, [](double visits) { return visits > 0.0; })) continue;
      const auto policy = log_probs(own, prior);
      for (std::size_t i = 0; i < labels.size(); ++i) {
        if (labels[i] != j || folds[i] != fold) continue;
        TableSurprise surprise;
        for (auto t = offsets_[i]; t < offsets_[i + 1]; ++t) {
          const auto code = codes_[static_cast<std::size_t>(t)];
          surprise.add(policy.data() + code / actions_ * actions_, 1, actions_, code % actions_);
        }
        result.surprises.push_back(surprise.deviations());
      }
    }
  }
  constexpr double kNormalMedian = 0.455;  // of a standard normal's square
  std::vector<double> squares;
  for (const double deviations : result.surprises) squares.push_back(deviations * deviations);
  if (!squares.empty()) result.dispersion = median(std::move(squares)) / kNormalMedian;
  return result;
}

std::unique_ptr<const Evidence> TableEvidence::subset(
    std::span<const std::int64_t> episodes) const {
  auto result = std::unique_ptr<TableEvidence>(new TableEvidence(workers_));
  result->actions_ = actions_;
  result->obs_dim_ = obs_dim_;
  result->table_ = table_;
  result->prior_ = prior_;
  result->offsets_ = {0};
  for (const auto i : episodes) {
    const auto first = offsets_[static_cast<std::size_t>(i)];
    const auto last = offsets_[static_cast<std::size_t>(i) + 1];
    result->codes_.insert(result->codes_.end(), codes_.begin() + first, codes_.begin() + last);
    result->offsets_.push_back(std::ssize(result->codes_));
  }
  return result;
}

std::shared_ptr<const Centres> TableEvidence::centres(std::span<const std::int32_t> labels,
                                                      std::int64_t k, const HeldOutScore&) const {
  return centres_of(count(labels, k), prior_, k);
}

std::shared_ptr<const Centres> TableEvidence::centres_of(std::span<const double> counts,
                                                         std::span<const double> prior,
                                                         std::int64_t k) const {
  const auto codes = prior.size();
  std::vector<double> side_by_side(codes * static_cast<std::size_t>(k));
  for (std::size_t j = 0; j < static_cast<std::size_t>(k); ++j) {
    const auto own = log_probs(counts.subspan(j * codes, codes), prior);
    for (std::size_t c = 0; c < codes; ++c)
      side_by_side[c * static_cast<std::size_t>(k) + j] = own[c];
  }
  return std::make_shared<TabularCentres>(table_, obs_dim_, actions_, std::move(side_by_side), k);
}

std::shared_ptr<const Centres> TableEvidence::centres_on(const Trajectories& data,
                                                         std::span<const std::int32_t> labels,
                                                         std::int64_t k, const HeldOutScore& judged,
                                                         const RunContext& run) const {
  auto& ranks = ranks_of(run);
  if (ranks.size() == 1) return TableEvidence(data, run).centres(labels, k, judged);
  const auto own = data.own();
  const TableEvidence here(own_part(data), run);
  auto counts = here.count(
      labels.subspan(static_cast<std::size_t>(own.begin), static_cast<std::size_t>(own.size())), k);
  ranks.all_reduce(counts);  // whole numbers, so that their order means nothing
  std::vector<double> all(prior_.size(), 0.0);
  for (std::size_t c = 0; c < counts.size(); ++c) all[c % all.size()] += counts[c];
  return centres_of(counts, frequencies(all), k);
}

}  // namespace kindred::policy_search
