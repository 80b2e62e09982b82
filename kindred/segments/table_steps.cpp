#include "kindred/segments/table_steps.h"

#include <algorithm>
#include <cmath>

namespace kindred {
namespace {

constexpr std::int64_t kTableFolds = 5;
constexpr std::int64_t kNoFold = -1;

}  // namespace

TableSteps::TableSteps(const Trajectories& data)
    : actions_(data.actions.count()),
      codes_(data.observations.distinct() * actions_),
      code_of_(codes_in(data)),
      fold_of_(step_folds(data, kTableFolds)) {}

std::vector<std::int32_t> TableSteps::codes_in(const Trajectories& data) const {
  const auto seen = data.observations.index().span();
  const auto taken = data.actions.ints().span();
  std::vector<std::int32_t> codes(seen.size());
  for (std::size_t t = 0; t < seen.size(); ++t)
    codes[t] = static_cast<std::int32_t>(seen[t] * actions_ + taken[t]);
  return codes;
}

TableSteps::Counts TableSteps::count(std::span<const std::int32_t> labels, std::int32_t first,
                                     std::int32_t second, std::int64_t without) const {
  Counts counts(static_cast<std::size_t>(codes_), 0.0);
  for (std::size_t t = 0; t < labels.size(); ++t)
    if ((labels[t] == first || labels[t] == second) && fold_of_[t] != without)
      ++counts[static_cast<std::size_t>(code_of_[t])];
  return counts;
}

TableSteps::Counts TableSteps::count_all(std::int64_t without) const {
  Counts counts(static_cast<std::size_t>(codes_), 0.0);
  for (std::size_t t = 0; t < code_of_.size(); ++t)
    if (fold_of_[t] != without) ++counts[static_cast<std::size_t>(code_of_[t])];
  return counts;
}

std::vector<double> TableSteps::log_probs(const Counts& own, const Counts& all,
                                          double prior) const {
  const auto actions = static_cast<std::size_t>(actions_);
  std::vector<double> result(own.size());
  for (std::size_t row = 0; row < own.size(); row += actions) {
    double visits = 0.5 * static_cast<double>(actions), seen = prior;
    for (std::size_t a = 0; a < actions; ++a) {
      visits += all[row + a];
      seen += own[row + a];
    }
    for (std::size_t a = 0; a < actions; ++a)
      result[row + a] = std::log((own[row + a] + prior * (all[row + a] + 0.5) / visits) / seen);
  }
  return result;
}

JudgedSteps TableSteps::judge(std::span<const std::int32_t> labels, std::int64_t k) const {
  JudgedSteps judged{.nats = Matrix(std::ssize(labels), k)};
  for (std::int64_t fold = 0; fold < kTableFolds; ++fold) {
    const auto all = count_all(fold);
    for (std::int32_t j = 0; j < k; ++j) {
      const auto probs = log_probs(count(labels, j, j, fold), all);
      for (std::size_t t = 0; t < labels.size(); ++t)
        if (fold_of_[t] == fold)
          judged.nats(static_cast<std::int64_t>(t), j) =
              probs[static_cast<std::size_t>(code_of_[t])];
    }
  }
  limit_steps(judged.nats);
  return judged;
}

std::optional<Matrix> TableSteps::judge_shared(const Matrix& chances, double prior) const {
  Matrix nats(chances.rows, chances.columns);
  for (std::int64_t fold = 0; fold < kTableFolds; ++fold) {
    const auto all = count_all(fold);
    for (std::int64_t j = 0; j < chances.columns; ++j) {
      Counts own(static_cast<std::size_t>(codes_), 0.0);
      for (std::size_t t = 0; t < code_of_.size(); ++t)
        if (fold_of_[t] != fold)
          own[static_cast<std::size_t>(code_of_[t])] += chances(static_cast<std::int64_t>(t), j);
      const auto probs = log_probs(own, all, prior);
      for (std::size_t t = 0; t < code_of_.size(); ++t)
        if (fold_of_[t] == fold)
          nats(static_cast<std::int64_t>(t), j) = probs[static_cast<std::size_t>(code_of_[t])];
    }
  }
  limit_steps(nats);
  return nats;
}

std::vector<double> TableSteps::as_one(const Matrix& nats, std::span<const std::int32_t> labels,
                                       std::int32_t first, std::int32_t second) const {
  std::vector<double> result(labels.size());
  for (std::int64_t fold = 0; fold < kTableFolds; ++fold) {
    const auto probs = log_probs(count(labels, first, second, fold), count_all(fold));
    for (std::size_t t = 0; t < labels.size(); ++t) {
      const auto step = static_cast<std::int64_t>(t);
      if (fold_of_[t] == fold)  // as limited as the two are
        result[t] = std::max(probs[static_cast<std::size_t>(code_of_[t])],
                             std::min(nats(step, first), nats(step, second)));
    }
  }
  return result;
}

Matrix TableSteps::judge_others(const JudgedSteps& judged, std::span<const std::int32_t> labels,
                                const Trajectories& others) const {
  const auto k = judged.nats.columns;
  const auto codes = codes_in(others);
  const auto all = count_all(kNoFold);
  Matrix nats(std::ssize(codes), k);
  for (std::int32_t j = 0; j < k; ++j) {
    const auto probs = log_probs(count(labels, j, j, kNoFold), all);
    for (std::size_t t = 0; t < codes.size(); ++t)
      nats(static_cast<std::int64_t>(t), j) = probs[static_cast<std::size_t>(codes[t])];
  }
  limit_steps(nats);
  return nats;
}

}  // namespace kindred
