#include "kindred/policies/centres.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/error.h"
#include "kindred/policies/exact_centres.h"
#include "kindred/policies/plane_centres.h"
#include "kindred/policies/scoring.h"
#include "kindred/policies/step_counts.h"
#include "kindred/policies/table_surprise.h"

namespace kindred {

NetworkCentres::NetworkCentres(NetworkView view, PolicyStack policies, Scoring scoring,
                               std::optional<PolicyStack> common)
    : view_(std::move(view)),
      policies_(std::move(policies)),
      scoring_(scoring),
      common_(std::move(common)) {
  for (std::int64_t centre = 0; centre < count(); ++centre) {
    auto kernel = std::make_unique<CpuPolicy>(policies_.architecture());
    kernel->load(policies_, centre);
    kernels_.push_back(std::move(kernel));
  }
}

std::int64_t NetworkCentres::actions() const {
  return view_.actions.as_they_are() ? policies_.architecture().actions
                                     : static_cast<std::int64_t>(view_.actions.mean.size());
}

Matrix NetworkCentres::score(const Trajectories& data, const RunContext& run) const {
  require_same_dimensions(data, obs_dim(), discrete(), actions());
  const bool counted =
      data.observations.is_interned() && discrete() && data.actions.count() == actions();
  if (!counted) {
    const auto common = common_ ? step_log_probs(data, view_, *common_, run) : std::vector<float>();
    return score_trajectories(data, view_, policies_, scoring_, common, run);
  }
  const StepCodes codes(data, run);
  const auto scores = [&](const PolicyStack& stack, const Scoring& scoring,
                          std::span<const double> common) {
    return table_scores(data.observations, view_.inputs, stack, scoring, common, run);
  };
  const auto common = common_ ? scores(*common_, {}, {}) : std::vector<double>();
  return codes.sum_over_steps(scores(policies_, scoring_, common), count(), scoring_.over);
}

void NetworkCentres::save(ArrayFileWriter& file) const {
  file.write_text("kind", "networks");
  view_.save(file);
  save_stack(policies_, "policies", file);
  file.write<double>("log_prob_floor", std::vector<double>{scoring_.floor});
  file.write<std::uint8_t>("sums_over_steps", std::vector<std::uint8_t>{sums_over_steps()});
  file.write<double>("common_share", std::vector<double>{scoring_.common_share});
  if (common_) save_stack(*common_, "common", file);
}

std::shared_ptr<const Centres> NetworkCentres::load(const ArrayFileReader& file) {
  auto view = NetworkView::load(file);
  auto policies = load_stack("policies", file);
  const auto& shape = policies.architecture();
  if (shape.inputs != view.inputs.count())
    file.refuse("inputs/columns", fmt::format("names {} columns, but the policies take {}",
                                              view.inputs.count(), shape.inputs));
  if (shape.actions != view.actions.predicted(shape.actions))
    file.refuse("actions/deviation",
                fmt::format("has {} numbers that vary, but the policies predict {}",
                            view.actions.predicted(shape.actions), shape.actions));
  Scoring scoring;
  scoring.floor = file.read_number<double>("log_prob_floor");
  if (std::isnan(scoring.floor)) file.refuse("log_prob_floor", "is not a number");
  if (file.read_number<std::uint8_t>("sums_over_steps") == 0) scoring.over = OverSteps::kLogOfSum;
  scoring.common_share = file.read_number<double>("common_share");
  if (!(scoring.common_share >= 0.0 && scoring.common_share < 1.0))
    file.refuse("common_share", "is no share of a policy");
  std::optional<PolicyStack> common;
  if (scoring.common_share > 0.0) {
    common = load_stack("common", file);
    if (common->size() != 1 || common->architecture() != shape)
      file.refuse("common/0", "belongs to another policy than the centres'");
  }
  return std::make_shared<NetworkCentres>(std::move(view), std::move(policies), scoring,
                                          std::move(common));
}

void NetworkCentres::distribution(std::int64_t centre, std::span<const float> observations,
                                  std::span<float> out) const {
  const auto rows = observations.size() / static_cast<std::size_t>(obs_dim());
  std::vector<float> seen(rows * view_.inputs.columns.size());
  view_.inputs.apply(observations, seen);
  const auto& kernel = *kernels_[static_cast<std::size_t>(centre)];
  if (view_.actions.as_they_are()) {
    kernel.distribution(seen, out);
    return;
  }
  std::vector<float> predicted(2 * rows *
                               static_cast<std::size_t>(policies_.architecture().actions));
  kernel.distribution(seen, predicted);
  view_.actions.restore(predicted, out);
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

std::vector<double> TabularCentres::surprises(const Trajectories& data,
                                              std::span<const std::int32_t> labels,
                                              const RunContext& run) const {
  require_same_dimensions(data, obs_dim_, true, actions_);
  std::vector<double> result(labels.size());
  run.chunks(data.episodes(), 64, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> observation(static_cast<std::size_t>(obs_dim_));
    for (auto i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      TableSurprise surprise;
      for (std::int64_t t = data.offsets[i]; t < data.offsets[i + 1]; ++t) {
        data.observations.copy(t, t + 1, observation.data());
        if (const double* row = log_probs_at(observation.data()))
          surprise.add(row + labels[at], count_, actions_, data.actions.ints()[t]);
      }
      result[at] = surprise.deviations();
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
  auto table = file.read_finite<float>("table", {kAnyExtent, kAnyExtent});
  auto log_probs = file.read<double>("log_probs", {table.shape.at(0), kAnyExtent, kAnyExtent});
  if (std::ranges::any_of(log_probs.values, [](double value) { return std::isnan(value); }))
    file.refuse("log_probs", "holds nan");  // but impossible actions have -inf
  return std::make_shared<TabularCentres>(std::move(table.values), table.shape.at(1),
                                          log_probs.shape.at(1), std::move(log_probs.values),
                                          log_probs.shape.at(2));
}

void save_stack(const PolicyStack& stack, const std::string& prefix, ArrayFileWriter& file) {
  for (std::size_t i = 0; i < stack.parameters().size(); ++i) {
    const auto& parameter = stack.parameters()[i];
    file.write<float>(fmt::format("{}/{}", prefix, i), parameter.values,
                      {stack.size(), parameter.rows, parameter.columns});
  }
  const auto& shape = stack.architecture();
  file.write<std::int64_t>(prefix + "/discrete", std::vector<std::int64_t>{shape.discrete});
}

PolicyStack load_stack(const std::string& prefix, const ArrayFileReader& file) {
  const auto name = [&](std::size_t i) { return fmt::format("{}/{}", prefix, i); };
  PolicyArchitecture shape;
  shape.discrete = file.read_number<std::int64_t>(prefix + "/discrete") != 0;
  shape.hidden.clear();
  const std::size_t heads = shape.discrete ? 1 : 2;
  std::size_t count = 0;
  while (file.contains(name(count))) ++count;
  if (count % 2 != 0 || count < 2 * heads)
    file.refuse(name(count), fmt::format("is missing: {} arrays are no complete policy", count));

  // Weight and bias of each layer; what one layer gives out is what the next takes in.
  std::vector<Array<float>> arrays;
  std::int64_t size = kAnyExtent, width = kAnyExtent, actions = kAnyExtent;
  for (std::size_t i = 0; i < count; i += 2) {
    const bool head = i + 2 * heads >= count;
    arrays.push_back(file.read_finite<float>(name(i), {size, width, head ? actions : kAnyExtent}));
    const auto extents = arrays.back().shape;
    size = extents[0];
    if (i == 0) shape.inputs = width = extents[1];
    if (head) {
      actions = extents[2];
    } else {
      shape.hidden.push_back(width = extents[2]);
    }
    arrays.push_back(file.read_finite<float>(name(i + 1), {size, 1, extents[2]}));
  }
  shape.actions = actions;

  PolicyStack stack(shape, size);
  for (std::size_t i = 0; i < arrays.size(); ++i)
    stack.parameters()[i].values = std::move(arrays[i].values);
  return stack;
}

void restore_stack(const std::string& prefix, const ArrayFileReader& file, PolicyStack& stack) {
  auto stored = load_stack(prefix, file);
  if (stored.size() != stack.size() || stored.architecture() != stack.architecture())
    throw DataFormatError("the stored policies '{}' have another shape than expected", prefix);
  stack = std::move(stored);
}

std::shared_ptr<const Centres> load_policy_centres(const ArrayFileReader& file) {
  const auto kind = file.read_text("kind");
  if (kind == "tables") return TabularCentres::load(file);
  if (kind == "networks") return NetworkCentres::load(file);
  if (kind == "features") return ExactCentres::load(file);
  if (kind == "planes") return PlaneCentres::load(file);
  file.refuse("kind",
              fmt::format("is '{}', expected 'tables', 'networks', 'features' or 'planes'", kind));
}

}  // namespace kindred
