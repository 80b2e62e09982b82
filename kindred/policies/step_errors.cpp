#include "kindred/policies/step_errors.h"

#include <algorithm>

#include "kindred/core/vectorise.h"

namespace kindred {
namespace {

constexpr std::int64_t kRows = 64;  // a block of them stays in the cache

KINDRED_VECTORISE
void add_squares(std::int64_t n, const double* __restrict guess, const double* __restrict wanted,
                 double* __restrict sums) {
  for (std::int64_t i = 0; i < n; ++i) sums[i] += (guess[i] - wanted[i]) * (guess[i] - wanted[i]);
}

}  // namespace

StepErrors::StepErrors(const FeatureMap& map, const ActionTargets& targets,
                       const std::vector<Policies>& policies)
    : map_(map), targets_(targets), rows_(static_cast<std::size_t>(kRows * map.obs_dim())) {
  for (const auto& [features, weights] : policies) {
    const auto columns = std::ssize(weights) / features, width = padded(columns, kDoubleLane);
    auto& set = sets_.emplace_back(Set{features, columns, width, {}});
    set.weights.resize(static_cast<std::size_t>(features * width), 0.0);
    for (std::int64_t m = 0; m < features; ++m)
      std::copy_n(weights.data() + m * columns, columns, set.weights.data() + m * width);
    width_ = std::max(width_, width);
  }
  stride_ = std::max(map.count() + FeatureMap::kRoom, width_);
  nothing_.resize(static_cast<std::size_t>(width_), 0.0);
  features_.resize(static_cast<std::size_t>(kRows * stride_));
  guesses_.resize(features_.size());
  wanted_.resize(static_cast<std::size_t>(kRows * width_));
}

const std::vector<std::vector<double>>& StepErrors::of(const Trajectories& data, std::int64_t first,
                                                       std::int64_t last) {
  errors_.clear();
  for (const auto& set : sets_) errors_.emplace_back(static_cast<std::size_t>(set.columns), 0.0);
  for (auto begin = first; begin < last; begin += kRows) {
    const auto n = std::min(kRows, last - begin);
    data.observations.copy(begin, begin + n, rows_.data());
    map_.apply(std::span(rows_).first(static_cast<std::size_t>(n * map_.obs_dim())),
               features_.data(), stride_);
    targets_.copy(data.actions, begin, begin + n, wanted_.data(), width_);
    for (std::int64_t t = 0; t < n; ++t) {  // once for each policy
      double* row = wanted_.data() + t * width_;
      for (auto c = targets_.count(); c < width_; ++c) row[c] = row[c - targets_.count()];
    }
    for (std::size_t s = 0; s < sets_.size(); ++s) {
      const auto& set = sets_[s];
      project(n, set.features, set.width, stride_, features_.data(), set.weights.data(),
              nothing_.data(), guesses_.data());
      for (std::int64_t t = 0; t < n; ++t)
        add_squares(set.columns, guesses_.data() + t * stride_, wanted_.data() + t * width_,
                    errors_[s].data());
    }
  }
  return errors_;
}

}  // namespace kindred
