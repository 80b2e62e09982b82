#include "kindred/policies/plain_policy.h"

#include "kindred/core/error.h"
#include "kindred/policies/exact_centres.h"

namespace kindred {
namespace {

void add_inputs(const NetworkInputs& inputs, PlainPolicy& policy) {
  const std::vector<std::int64_t> shape = {inputs.count()};
  policy.arrays.push_back({"input_columns", shape, inputs.columns});
  policy.arrays.push_back({"input_mean", shape, inputs.mean});
  policy.arrays.push_back({"input_scale", shape, inputs.scale});
}

/// A parameter of one policy, with one column for every number of an action where it is a head's:
/// of zeros for those that never vary.
std::vector<float> values_of(const StackParameter& parameter, std::int64_t index,
                             const NetworkActions& actions, bool head) {
  const auto stored = parameter.of(index);
  if (!head || actions.as_they_are()) return {stored.begin(), stored.end()};
  std::vector<float> result;
  auto from = stored.begin();
  for (std::int64_t row = 0; row < parameter.rows; ++row)
    for (const float deviation : actions.deviation)
      result.push_back(deviation > 0.0F ? *from++ : 0.0F);
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
      const bool head = layers == &policy.heads;
      const auto rows = parameter->rows;
      auto weight = values_of(*parameter++, index, actions, head);
      auto bias = values_of(*parameter++, index, actions, head);
      const auto columns = std::ssize(bias);
      policy.arrays.push_back({layer + "_weight", {rows, columns}, std::move(weight)});
      policy.arrays.push_back({layer + "_bias", {columns}, std::move(bias)});
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
