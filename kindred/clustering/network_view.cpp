#include "kindred/clustering/network_view.h"

#include <algorithm>
#include <cmath>

namespace kindred {

NetworkActions NetworkActions::standardised(const Actions& actions) {
  if (actions.is_discrete()) return {};
  const auto dim = static_cast<std::size_t>(actions.dim());
  const auto values = actions.floats().span();
  const double n = static_cast<double>(actions.steps());
  std::vector<double> means(dim, 0.0), squares(dim, 0.0);
  for (std::size_t i = 0; i < values.size(); ++i) means[i % dim] += values[i] / n;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double difference = values[i] - means[i % dim];
    squares[i % dim] += difference * difference / n;
  }
  NetworkActions result;
  for (std::size_t d = 0; d < dim; ++d) {
    const double deviation = std::sqrt(squares[d]);
    const bool varies = deviation > 1e-6 * std::abs(means[d]);  // float32 itself rounds by 6e-8
    result.mean.push_back(static_cast<float>(means[d]));
    result.deviation.push_back(varies ? static_cast<float>(deviation) : 0.0F);
  }
  if (result.predicted(actions.dim()) == 0) result.deviation[0] = 1.0F;
  return result;
}

std::int64_t NetworkActions::predicted(std::int64_t act_dim) const {
  return as_they_are() ? act_dim
                       : std::ranges::count_if(deviation, [](float d) { return d > 0.0F; });
}

void NetworkActions::apply(std::span<const float> rows, std::span<float> out) const {
  if (as_they_are()) {
    std::ranges::copy(rows, out.begin());
    return;
  }
  float* to = out.data();
  for (const float* row = rows.data(); row < rows.data() + rows.size(); row += mean.size())
    for (std::size_t d = 0; d < mean.size(); ++d)
      if (deviation[d] > 0.0F) *to++ = (row[d] - mean[d]) / deviation[d];
}

void NetworkActions::restore(std::span<const float> distribution, std::span<float> out) const {
  const float* from = distribution.data();
  for (float* to = out.data(); to < out.data() + out.size();) {
    for (std::size_t d = 0; d < mean.size(); ++d)
      *to++ = deviation[d] > 0.0F ? *from++ * deviation[d] + mean[d] : mean[d];
    for (const float d : deviation) *to++ = d > 0.0F ? *from++ * d : 0.0F;
  }
}

void NetworkView::save(ArrayFileWriter& file) const {
  inputs.save(file);
  file.write<std::uint8_t>("actions/scaled", std::vector<std::uint8_t>{!actions.as_they_are()});
  if (actions.as_they_are()) return;
  file.write<float>("actions/mean", actions.mean);
  file.write<float>("actions/deviation", actions.deviation);
}

NetworkView NetworkView::load(const ArrayFileReader& file) {
  NetworkView view{NetworkInputs::load(file), {}};
  if (file.read_number<std::uint8_t>("actions/scaled") == 0) return view;
  view.actions.mean = file.read_finite<float>("actions/mean", {kAnyExtent}).values;
  const auto dim = static_cast<std::int64_t>(view.actions.mean.size());
  view.actions.deviation = file.read_finite<float>("actions/deviation", {dim}).values;
  if (std::ranges::any_of(view.actions.deviation, [](float d) { return d < 0.0F; }))
    file.refuse("actions/deviation", "is negative");
  return view;
}

}  // namespace kindred
