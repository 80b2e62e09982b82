#include "kindred/policies/centres.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstring>

#include "kindred/core/error.h"
#include "kindred/policies/scoring.h"
#include "kindred/policies/step_counts.h"

namespace kindred {

NetworkCentres::NetworkCentres(NetworkInputs inputs, PolicyStack policies, double floor,
                               OverSteps over)
    : inputs_(std::move(inputs)), policies_(std::move(policies)), floor_(floor), over_(over) {
  policies_.to(at::kCPU);
  for (std::int64_t centre = 0; centre < count(); ++centre) {
    auto kernel = std::make_unique<CpuPolicy>(policies_.architecture());
    kernel->load(policies_, centre);
    kernels_.push_back(std::move(kernel));
  }
}

Matrix NetworkCentres::score(const Trajectories& data, const RunContext& run) const {
  const auto& shape = policies_.architecture();
  require_same_dimensions(data, inputs_.obs_dim, shape.discrete, shape.actions);
  const bool counted =
      data.observations.is_interned() && shape.discrete && data.actions.count() == shape.actions;
  if (!counted) return log_likelihoods(data, inputs_, policies_, floor_, run, over_);
  const StepCodes codes(data, run);
  return codes.sum_over_steps(table_log_probs(data.observations, inputs_, policies_, floor_, run),
                              count(), over_);
}

void NetworkCentres::save(ArrayFileWriter& file) const {
  file.write_text("kind", "networks");
  inputs_.save(file);
  save_stack(policies_, "policies", file);
  file.write<double>("log_prob_floor", std::vector<double>{floor_});
  file.write<std::uint8_t>("sums_over_steps", std::vector<std::uint8_t>{sums_over_steps()});
}

std::shared_ptr<const Centres> NetworkCentres::load(const ArrayFileReader& file) {
  const bool sums = file.read<std::uint8_t>("sums_over_steps").values.at(0) != 0;
  return std::make_shared<NetworkCentres>(NetworkInputs::load(file), load_stack("policies", file),
                                          file.read<double>("log_prob_floor").values.at(0),
                                          sums ? OverSteps::kSumOfLogs : OverSteps::kLogOfSum);
}

void NetworkCentres::distribution(std::int64_t centre, std::span<const float> observations,
                                  std::span<float> out) const {
  const auto rows = observations.size() / static_cast<std::size_t>(inputs_.obs_dim);
  std::vector<float> seen(rows * inputs_.columns.size());
  inputs_.apply(observations, seen);
  kernels_[static_cast<std::size_t>(centre)]->distribution(seen, out);
}

TabularCentres::TabularCentres(Column<float> table, std::int64_t obs_dim, std::int64_t actions,
                               std::vector<double> log_probs, std::int64_t count)
    : table_(std::move(table)),
      obs_dim_(obs_dim),
      actions_(actions),
      log_probs_(std::move(log_probs)),
      count_(count) {
  for (std::int64_t r = 0; r < table_.size() / obs_dim_; ++r)
    row_of_.emplace(key(table_.data() + r * obs_dim_), r);
}

std::string_view TabularCentres::key(const float* observation) const {
  return {reinterpret_cast<const char*>(observation),
          static_cast<std::size_t>(obs_dim_) * sizeof(float)};
}

const double* TabularCentres::log_probs_at(const float* observation) const {
  const auto found = row_of_.find(key(observation));
  return found == row_of_.end() ? nullptr : log_probs_.data() + found->second * actions_ * count_;
}

Matrix TabularCentres::score(const Trajectories& data, const RunContext& run) const {
  require_same_dimensions(data, obs_dim_, true, actions_);
  const double unseen = -std::log(static_cast<double>(actions_));
  Matrix result(data.episodes(), count_);
  run.chunks(data.episodes(), 64, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> observation(static_cast<std::size_t>(obs_dim_));
    for (auto i = begin; i < end; ++i)
      for (std::int64_t t = data.offsets[i]; t < data.offsets[i + 1]; ++t) {
        data.observations.copy(t, t + 1, observation.data());
        const double* row = log_probs_at(observation.data());
        const double* log_probs = row ? row + data.actions.ints()[t] * count_ : nullptr;
        for (std::int64_t c = 0; c < count_; ++c) result(i, c) += log_probs ? log_probs[c] : unseen;
      }
  });
  return result;
}

void TabularCentres::distribution(std::int64_t centre, std::span<const float> observations,
                                  std::span<float> out) const {
  float* to = out.data();
  for (const float* row = observations.data(); row < observations.data() + observations.size();
       row += obs_dim_, to += actions_) {
    const double* log_probs = log_probs_at(row);
    double total = 0.0;
    for (std::int64_t a = 0; a < actions_; ++a) {
      const double chance = log_probs ? std::exp(log_probs[a * count_ + centre]) : 1.0;
      to[a] = static_cast<float>(chance);
      total += chance;
    }
    for (std::int64_t a = 0; a < actions_; ++a) to[a] /= static_cast<float>(total);
  }
}

void TabularCentres::save(ArrayFileWriter& file) const {
  file.write_text("kind", "tables");
  file.write<float>("table", table_.span(), {table_.size() / obs_dim_, obs_dim_});
  file.write<double>("log_probs", log_probs_, {table_.size() / obs_dim_, actions_, count_});
}

std::shared_ptr<const Centres> TabularCentres::load(const ArrayFileReader& file) {
  auto table = file.read<float>("table");
  auto log_probs = file.read<double>("log_probs");
  return std::make_shared<TabularCentres>(std::move(table.values), table.shape.at(1),
                                          log_probs.shape.at(1), std::move(log_probs.values),
                                          log_probs.shape.at(2));
}

void save_stack(const PolicyStack& stack, const std::string& prefix, ArrayFileWriter& file) {
  for (std::size_t i = 0; i < stack.parameters().size(); ++i) {
    const auto tensor = stack.parameters()[i].detach().cpu().contiguous();
    file.write<float>(fmt::format("{}/{}", prefix, i),
                      {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())},
                      tensor.sizes().vec());
  }
  const auto& shape = stack.architecture();
  file.write<std::int64_t>(prefix + "/discrete", std::vector<std::int64_t>{shape.discrete});
}

PolicyStack load_stack(const std::string& prefix, const ArrayFileReader& file) {
  std::vector<Array<float>> arrays;
  for (std::size_t i = 0; file.contains(fmt::format("{}/{}", prefix, i)); ++i)
    arrays.push_back(file.read<float>(fmt::format("{}/{}", prefix, i)));
  PolicyArchitecture shape;
  shape.discrete = file.read<std::int64_t>(prefix + "/discrete").values.at(0) != 0;
  const std::size_t heads = shape.discrete ? 1 : 2;
  if (arrays.size() < 2 * heads) throw DataFormatError("the stored policies are incomplete");
  shape.inputs = arrays[0].shape.at(1);
  shape.actions = arrays.back().shape.at(2);
  shape.hidden.clear();
  for (std::size_t i = 0; i + 2 * heads < arrays.size(); i += 2)
    shape.hidden.push_back(arrays[i].shape.at(2));

  PolicyStack stack(shape, arrays[0].shape.at(0));
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    auto target = stack.parameters()[i];
    if (target.sizes() != c10::IntArrayRef(arrays[i].shape))
      throw DataFormatError("stored policy parameter {} has an unexpected shape", i);
    std::memcpy(target.data_ptr<float>(), arrays[i].values.data(),
                arrays[i].values.size() * sizeof(float));
  }
  return stack;
}

std::shared_ptr<const Centres> load_policy_centres(const ArrayFileReader& file) {
  return file.read_text("kind") == "tables" ? TabularCentres::load(file)
                                            : NetworkCentres::load(file);
}

}  // namespace kindred
