#include "kindred/policies/plain_policy.h"

#include <ATen/ATen.h>

#include "kindred/core/error.h"
#include "kindred/policies/exact_centres.h"

namespace kindred {
namespace {

std::vector<float> values_of(const at::Tensor& tensor) {
  const auto rows = tensor.detach().cpu().contiguous();
  return {rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel()};
}

void add_inputs(const NetworkInputs& inputs, PlainPolicy& policy) {
  const std::vector<std::int64_t> shape = {inputs.count()};
  policy.arrays.push_back({"input_columns", shape, inputs.columns});
  policy.arrays.push_back({"input_mean", shape, inputs.mean});
  policy.arrays.push_back({"input_scale", shape, inputs.scale});
}

/// One column for every number of an action, of zeros for those that never vary.
at::Tensor spread(const at::Tensor& columns, const NetworkActions& actions) {
  if (actions.as_they_are()) return columns;
  auto result = at::zeros({columns.size(0), static_cast<std::int64_t>(actions.mean.size())});
  std::int64_t from = 0;
  for (std::size_t d = 0; d < actions.mean.size(); ++d)
    if (actions.deviation[d] > 0.0F)
      result.select(1, static_cast<std::int64_t>(d)).copy_(columns.select(1, from++));
  return result;
}

void add_action_units(const NetworkActions& actions, PlainPolicy& policy) {
  const auto width = static_cast<std::size_t>(policy.actions);
  const bool scaled = !actions.as_they_are();
  policy.arrays.push_back(
      {"action_mean", {policy.actions}, scaled ? actions.mean : std::vector<float>(width, 0.0F)});
  policy.arrays.push_back({"action_scale",
                           {policy.actions},
                           scaled ? actions.deviation : std::vector<float>(width, 1.0F)});
}

void add_layers(const PolicyStack& stack, std::int64_t index, const NetworkActions& actions,
                PlainPolicy& policy) {
  for (std::size_t i = 0; i < stack.architecture().hidden.size(); ++i)
    policy.hidden.push_back(fmt::format("hidden_{}", i));
  policy.heads = policy.discrete ? std::vector<std::string>{"logits"}
                                 : std::vector<std::string>{"mean", "std"};
  auto parameter = stack.parameters().begin();
  for (const auto* layers : {&policy.hidden, &policy.heads})
    for (const auto& layer : *layers) {
      const auto stored = [&] {
        const auto values = (*parameter++)[index].detach();
        return layers == &policy.heads ? spread(values, actions) : values;
      };
      const auto weight = stored();
      const auto bias = stored().flatten();
      policy.arrays.push_back({layer + "_weight", weight.sizes().vec(), values_of(weight)});
      policy.arrays.push_back({layer + "_bias", bias.sizes().vec(), values_of(bias)});
    }
}

void add_table(const TabularCentres& centres, std::int64_t centre, PlainPolicy& policy) {
  const auto rows = centres.table().span();
  const auto distinct = static_cast<std::int64_t>(rows.size()) / policy.obs_dim;
  std::vector<float> chances(static_cast<std::size_t>(distinct * policy.actions));
  centres.distribution(centre, rows, chances);
  policy.arrays.push_back(
      {"table", {distinct, policy.obs_dim}, std::vector<float>(rows.begin(), rows.end())});
  policy.arrays.push_back({"probabilities", {distinct, policy.actions}, std::move(chances)});
}

void add_closed_form(const ExactCentres& centres, std::int64_t centre, PlainPolicy& policy) {
  const auto& map = centres.map();
  add_inputs(map.inputs(), policy);
  policy.arrays.push_back(
      {"cosine_weight", {map.inputs().count(), map.cosines()}, map.directions()});
  policy.arrays.push_back({"cosine_bias", {map.cosines()}, map.phases()});
  policy.arrays.push_back({"weight", {map.count(), policy.actions}, centres.weights_of(centre)});
  if (!policy.discrete)
    policy.arrays.push_back({"std", {policy.actions}, centres.deviations_of(centre)});
}

}  // namespace

PlainPolicy plain_policy(const PolicyCentres& policies, std::int64_t centre) {
  PlainPolicy policy;
  policy.obs_dim = policies.obs_dim();
  policy.discrete = policies.discrete();
  policy.actions = policies.actions();
  if (const auto* tables = dynamic_cast<const TabularCentres*>(&policies)) {
    policy.kind = PlainKind::kTable;
    add_table(*tables, centre, policy);
  } else if (const auto* exact = dynamic_cast<const ExactCentres*>(&policies)) {
    policy.kind = PlainKind::kClosedForm;
    add_closed_form(*exact, centre, policy);
  } else {
    const auto& networks = dynamic_cast<const NetworkCentres&>(policies);
    add_inputs(networks.view().inputs, policy);
    add_layers(networks.policies(), centre, networks.view().actions, policy);
    if (!policy.discrete) add_action_units(networks.view().actions, policy);
  }
  return policy;
}

}  // namespace kindred
