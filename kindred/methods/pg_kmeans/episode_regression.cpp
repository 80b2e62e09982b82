#include "kindred/methods/pg_kmeans/episode_regression.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "kindred/clustering/network_inputs.h"
#include "kindred/nn/kmeans.h"

namespace kindred::pg_kmeans {
namespace {

/// Per-step weight of the ridge: coefficients of directions an episode hardly visits stay small.
constexpr double kRidge = 0.1;

/// XᵀX and XᵀA of one stretch of steps; X has a column of ones.
struct NormalEquations {
  at::Tensor xx, xa;
  double steps = 0.0;

  at::Tensor solve() const {
    const auto ridge = kRidge * steps * at::eye(xx.size(0), at::kDouble);
    return at::linalg_solve(xx + ridge, xa);
  }
};

}  // namespace

Matrix episode_regressions(const Trajectories& data, const Workers& workers) {
  const c10::NoGradGuard no_grad;
  const auto inputs = NetworkInputs::from(data.observations, true);
  std::vector<NormalEquations> episodes;
  NormalEquations all;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    workers.throw_if_stopped();
    const auto begin = data.offsets[i];
    const auto n = data.length(i);
    std::vector<float> rows(static_cast<std::size_t>(n * inputs.obs_dim));
    data.observations.copy(begin, begin + n, rows.data());
    std::vector<float> seen(static_cast<std::size_t>(n * inputs.count()));
    inputs.apply(rows, seen);
    auto x = at::from_blob(seen.data(), {n, inputs.count()}, at::kFloat).to(at::kDouble);
    x = at::cat({x, at::ones({n, 1}, at::kDouble)}, 1);
    const auto width = data.actions.dim();
    const auto a = at::from_blob(const_cast<float*>(data.actions.floats().data()) + begin * width,
                                 {n, width}, at::kFloat)
                       .to(at::kDouble);
    const auto& own =
        episodes.emplace_back(NormalEquations{x.t().mm(x), x.t().mm(a), static_cast<double>(n)});
    if (!all.xx.defined()) all = {at::zeros_like(own.xx), at::zeros_like(own.xa), 0.0};
    all.xx += own.xx;
    all.xa += own.xa;
    all.steps += own.steps;
  }

  const auto common = all.solve();  // [inputs + 1, act_dim]
  Matrix result(data.episodes(), common.numel());
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    workers.throw_if_stopped();
    auto& own = episodes[static_cast<std::size_t>(i)];
    own.xa -= own.xx.mm(common);
    const auto coefficients = own.solve().contiguous();
    std::copy_n(coefficients.data_ptr<double>(), coefficients.numel(), &result(i, 0));
  }
  return result;
}

std::vector<std::int32_t> episode_regression_labels(const Trajectories& data, std::int64_t k,
                                                    Random& random, const Workers& workers) {
  const Matrix coefficients = episode_regressions(data, workers);
  return kmeans(coefficients.values, coefficients.columns, k, 10, random, workers).labels;
}

}  // namespace kindred::pg_kmeans
