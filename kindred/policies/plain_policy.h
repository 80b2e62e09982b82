// One policy as anybody can compute it: named arrays, in the order they are used. A network is
//   input_columns, input_mean, input_scale          which numbers it sees, and how scaled
//   hidden_0_weight, hidden_0_bias, …               layers with ReLU, weights [inputs, outputs]
//   logits_weight, logits_bias                      discrete: the action probabilities' softmax
//   mean_weight, mean_bias, std_weight, std_bias    continuous: std is softplus(.) + 1e-5,
//   action_mean, action_scale                       both then scaled to the units of the data
// and a table is
//   table, probabilities                            [distinct, obs_dim] and [distinct, actions]
// and a policy in closed form is
//   input_columns, input_mean, input_scale          as above; then within ±5
//   cosine_weight, cosine_bias                      √2 cos of weighted inputs: more of them
//   weight                                          [1 + inputs + cosines, actions]: the action, or
//                                                   chances, from 1, inputs and cosines
//   std                                             continuous: [actions]
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "kindred/policies/centres.h"

namespace kindred {

struct PlainArray {
  std::string name;
  std::vector<std::int64_t> shape;
  std::variant<std::vector<float>, std::vector<std::int64_t>, std::vector<double>> values;
};

enum class PlainKind { kNetwork, kTable, kClosedForm };

struct PlainPolicy {
  PlainKind kind = PlainKind::kNetwork;
  std::int64_t obs_dim = 0;
  bool discrete = true;
  std::int64_t actions = 0;         ///< Number of actions, or numbers per action when continuous.
  std::vector<std::string> hidden;  ///< A network's hidden layers by name: "hidden_0", …
  std::vector<std::string> heads;   ///< Its last layers: logits, or mean and std.
  std::vector<PlainArray> arrays;
};

/// What `policies.distribution(centre, …)` computes with, to the last bit.
PlainPolicy plain_policy(const PolicyCentres& policies, std::int64_t centre);

}  // namespace kindred
