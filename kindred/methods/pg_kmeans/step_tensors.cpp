#include "kindred/methods/pg_kmeans/step_tensors.h"

#include <algorithm>
#include <cmath>

namespace kindred::pg_kmeans {
namespace {

/// Sum and sum of squares of each column, in double, over every step.
struct Moments {
  std::vector<double> sum, squares;
  std::vector<bool> nonzero;
};

Moments moments(const Observations& observations) {
  const auto dim = observations.dim();
  Moments result{std::vector<double>(static_cast<std::size_t>(dim)),
                 std::vector<double>(static_cast<std::size_t>(dim)),
                 std::vector<bool>(static_cast<std::size_t>(dim))};
  constexpr std::int64_t kBlock = 4096;
  std::vector<float> rows(static_cast<std::size_t>(kBlock * dim));
  for (std::int64_t begin = 0; begin < observations.steps(); begin += kBlock) {
    const auto end = std::min(begin + kBlock, observations.steps());
    observations.copy(begin, end, rows.data());
    const float* row = rows.data();
    for (std::int64_t t = begin; t < end; ++t)
      for (std::size_t d = 0; d < static_cast<std::size_t>(dim); ++d) {
        const double x = *row++;
        result.sum[d] += x;
        result.squares[d] += x * x;
        if (x != 0.0) result.nonzero[d] = true;
      }
  }
  return result;
}

}  // namespace

PolicyInputs PolicyInputs::from(const Observations& observations, bool standardize) {
  const auto [sum, squares, nonzero] = moments(observations);
  const double n = static_cast<double>(observations.steps());
  std::vector<std::int64_t> columns;
  std::vector<float> means;
  std::vector<float> scales;
  for (std::size_t d = 0; d < sum.size(); ++d) {
    const double mean = sum[d] / n;
    const double deviation = std::sqrt(std::max(0.0, squares[d] / n - mean * mean));
    const bool varies = deviation > 1e-6 * (1.0 + std::abs(mean));
    if (!(standardize ? varies : nonzero[d])) continue;
    columns.push_back(static_cast<std::int64_t>(d));
    means.push_back(standardize ? static_cast<float>(mean) : 0.0F);
    scales.push_back(standardize ? static_cast<float>(1.0 / deviation) : 1.0F);
  }
  // A policy that sees nothing is still a policy: its action frequencies.
  if (columns.empty()) columns = {0}, means = {0.0F}, scales = {0.0F};
  return {observations.dim(), at::tensor(columns, at::kLong),
          at::tensor(means, at::kFloat), at::tensor(scales, at::kFloat)};
}

void PolicyInputs::to(const at::Device& device) {
  columns = columns.to(device);
  mean = mean.to(device);
  inverse_deviation = inverse_deviation.to(device);
}

at::Tensor PolicyInputs::operator()(const at::Tensor& observations) const {
  return observations.index_select(1, columns).sub_(mean).mul_(inverse_deviation);
}

void PolicyInputs::save(ArrayFileWriter& file) const {
  const auto cpu_columns = columns.cpu();
  const auto cpu_mean = mean.cpu();
  const auto cpu_scale = inverse_deviation.cpu();
  const auto n = static_cast<std::size_t>(count());
  file.write<std::int64_t>("inputs/columns", {cpu_columns.data_ptr<std::int64_t>(), n}, {count()});
  file.write<float>("inputs/mean", {cpu_mean.data_ptr<float>(), n}, {count()});
  file.write<float>("inputs/inverse_deviation", {cpu_scale.data_ptr<float>(), n}, {count()});
  file.write<std::int64_t>("inputs/obs_dim", std::vector<std::int64_t>{obs_dim});
}

PolicyInputs PolicyInputs::load(const ArrayFileReader& file) {
  return {file.read<std::int64_t>("inputs/obs_dim").values.at(0),
          at::tensor(file.read<std::int64_t>("inputs/columns").values, at::kLong),
          at::tensor(file.read<float>("inputs/mean").values, at::kFloat),
          at::tensor(file.read<float>("inputs/inverse_deviation").values, at::kFloat)};
}

StepTensors::StepTensors(const Trajectories& data, const at::Device& device) {
  const auto& observations = data.observations;
  if (observations.is_interned()) {
    rows_ = view_of(observations.table(), {observations.distinct(), observations.dim()});
    index_ = view_of(observations.index(), {observations.steps()}).to(device);
  } else if (observations.is_bytes()) {
    rows_ = view_of(observations.bytes(), {observations.steps(), observations.dim()});
  } else {
    rows_ = view_of(observations.floats(), {observations.steps(), observations.dim()});
  }
  rows_ = rows_.to(device);
  actions_ = data.actions.is_discrete()
                 ? view_of(data.actions.ints(), {data.steps()})
                 : view_of(data.actions.floats(), {data.steps(), data.actions.dim()});
  actions_ = actions_.to(device);
}

at::Tensor StepTensors::observations(const at::Tensor& steps) const {
  const auto rows = index_.defined() ? index_.index_select(0, steps).to(at::kLong) : steps;
  return rows_.index_select(0, rows).to(at::kFloat);
}

at::Tensor StepTensors::observations(std::int64_t begin, std::int64_t end) const {
  if (!index_.defined()) return rows_.slice(0, begin, end).to(at::kFloat);
  return rows_.index_select(0, index_.slice(0, begin, end).to(at::kLong)).to(at::kFloat);
}

at::Tensor StepTensors::actions(const at::Tensor& steps) const {
  const auto chosen = actions_.index_select(0, steps);
  return chosen.is_floating_point() ? chosen : chosen.to(at::kLong);
}

at::Tensor StepTensors::actions(std::int64_t begin, std::int64_t end) const {
  const auto chosen = actions_.slice(0, begin, end);
  return chosen.is_floating_point() ? chosen : chosen.to(at::kLong);
}

PolicyArchitecture architecture_for(const Trajectories& data, const PolicyInputs& inputs,
                                    std::int64_t hidden, std::int64_t layers) {
  return {.inputs = inputs.count(),
          .discrete = data.actions.is_discrete(),
          .actions = data.actions.is_discrete() ? data.actions.count() : data.actions.dim(),
          .hidden = std::vector<std::int64_t>(static_cast<std::size_t>(layers), hidden)};
}

std::vector<double> log_likelihoods(const Trajectories& data, const StepTensors& steps,
                                    const PolicyInputs& inputs, const PolicyStack& stack,
                                    double floor) {
  const at::NoGradGuard no_grad;
  const bool on_cpu = stack.parameters()[0].device().is_cpu();
  const std::int64_t block = on_cpu ? 1024 : 65536;  // activations of a block stay in cache
  const auto size = stack.size();
  std::vector<double> sums(static_cast<std::size_t>(data.episodes() * size), 0.0);
  std::int64_t episode = 0;
  for (std::int64_t begin = 0; begin < data.steps(); begin += block) {
    const auto end = std::min(begin + block, data.steps());
    auto log_probs = stack.log_probs(inputs(steps.observations(begin, end)),
                                     steps.actions(begin, end));  // [size, end - begin]
    if (std::isfinite(floor)) log_probs.clamp_min_(floor);
    const auto on_host = log_probs.t().contiguous().cpu();
    const float* value = on_host.data_ptr<float>();
    for (std::int64_t t = begin; t < end; ++t) {
      while (t >= data.offsets[episode + 1]) ++episode;
      double* sum = sums.data() + episode * size;
      for (std::int64_t s = 0; s < size; ++s) sum[s] += static_cast<double>(*value++);
    }
  }
  return sums;
}

std::vector<double> table_log_probs(const at::Tensor& rows, const PolicyStack& stack,
                                    double floor) {
  const at::NoGradGuard no_grad;
  constexpr std::int64_t kBlock = 1024;
  std::vector<double> result;
  result.reserve(static_cast<std::size_t>(rows.size(0) * stack.architecture().actions *
                                          stack.size()));
  for (std::int64_t begin = 0; begin < rows.size(0); begin += kBlock) {
    auto log_probs = stack.all_log_probs(rows.slice(0, begin, begin + kBlock));
    if (std::isfinite(floor)) log_probs.clamp_min_(floor);
    const auto on_host = log_probs.permute({1, 2, 0}).contiguous().cpu();
    const float* values = on_host.data_ptr<float>();
    result.insert(result.end(), values, values + on_host.numel());
  }
  return result;
}

}  // namespace kindred::pg_kmeans
