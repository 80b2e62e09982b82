#include "kindred/policies/torch_script.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <torch/csrc/jit/api/module.h>

#include <sstream>

#include "kindred/core/files.h"
#include "kindred/core/version.h"
#include "kindred/policies/exact_centres.h"

namespace kindred {
namespace {

constexpr const char* kChecked = R"(
def checked(self, observations: Tensor) -> Tensor:
    assert observations.dim() == 2 and observations.size(1) == self.obs_dim, \
        "this policy takes observations of shape [n, {}], not {}".format(
            self.obs_dim, observations.size())
    return observations
)";

constexpr const char* kActDiscrete = R"(
def act(self, observations: Tensor) -> Tensor:
    return self.forward(observations).argmax(1)

def sample(self, observations: Tensor) -> Tensor:
    return torch.multinomial(self.forward(observations), 1).squeeze(1)
)";

constexpr const char* kActContinuous = R"(
def act(self, observations: Tensor) -> Tensor:
    mean, std = self.forward(observations)
    return mean

def sample(self, observations: Tensor) -> Tensor:
    mean, std = self.forward(observations)
    return mean + std * torch.randn_like(mean)
)";

/// Looks rows up by their bits, as TabularCentres does, which tells 0.0 from -0.0; in blocks of
/// about a million comparisons.
constexpr const char* kTableForward = R"(
def forward(self, observations: Tensor) -> Tensor:
    rows = self.checked(observations).to(self.table)
    out = torch.full([rows.size(0), self.actions], 1.0).to(self.probabilities) / self.actions
    block = max(1, 1000000 // self.table.numel())
    for begin in range(0, rows.size(0), block):
        same = (rows[begin : begin + block].unsqueeze(1) == self.table).all(2).nonzero()
        row, known = begin + same[:, 0], same[:, 1]
        signs = (torch.signbit(rows[row]) == torch.signbit(self.table[known])).all(1)
        out[row[signs]] = self.probabilities[known[signs]]
    return out
)";

std::string linear(const std::string& layer) {
  return fmt::format("torch.addmm(self.{0}_bias, x, self.{0}_weight)", layer);
}

std::string network_forward(const PlainPolicy& policy) {
  std::string text = fmt::format("def forward(self, observations: Tensor) -> {}:\n",
                                 policy.discrete ? "Tensor" : "Tuple[Tensor, Tensor]");
  text +=
      "    rows = self.checked(observations).to(self.input_mean)\n"
      "    x = (rows.index_select(1, self.input_columns) - self.input_mean) * self.input_scale\n";
  for (const auto& layer : policy.hidden)
    text += fmt::format("    x = torch.relu({})\n", linear(layer));
  if (policy.discrete)
    return text + fmt::format("    return torch.softmax({}, 1)\n", linear(policy.heads[0]));
  return text + fmt::format(
                    "    mean = {} * self.action_scale + self.action_mean\n"
                    "    return mean, (torch.softplus({}) + 1e-5) * self.action_scale\n",
                    linear(policy.heads[0]), linear(policy.heads[1]));
}

std::string closed_form_forward(const PlainPolicy& policy) {
  return fmt::format(
             "def forward(self, observations: Tensor) -> {}:\n"
             "    rows = self.checked(observations).to(self.input_mean)\n"
             "    x = (rows.index_select(1, self.input_columns) - self.input_mean) * "
             "self.input_scale\n"
             "    x = x.to(self.weight).clamp(-{farthest}, {farthest})\n"
             "    cosines = torch.cos(torch.addmm(self.cosine_bias, x, self.cosine_weight))\n"
             "    ones = torch.ones([x.size(0), 1]).to(x)\n"
             "    y = torch.cat([ones, x, 2.0**0.5 * cosines], 1).matmul(self.weight)\n",
             policy.discrete ? "Tensor" : "Tuple[Tensor, Tensor]",
             fmt::arg("farthest", FeatureMap::kFarthest)) +
         (policy.discrete
              ? fmt::format("    y = y.clamp(min={})\n"
                            "    return (y / y.sum(1, keepdim=True)).to(self.input_mean)\n",
                            ExactCentres::kLeastChance)
              : "    return y.to(self.input_mean), "
                "self.std.to(self.input_mean).expand(y.size(0), -1)\n");
}

std::string forward_of(const PlainPolicy& policy) {
  switch (policy.kind) {
    case PlainKind::kTable:
      return kTableForward;
    case PlainKind::kClosedForm:
      return closed_form_forward(policy);
    case PlainKind::kNetwork:
      break;
  }
  return network_forward(policy);
}

at::Tensor to_tensor(const PlainArray& array) {
  return std::visit(
      [&](const auto& values) {
        return at::tensor(c10::ArrayRef(values.data(), values.size())).reshape(array.shape);
      },
      array.values);
}

torch::jit::Module to_module(const PlainPolicy& policy, const PolicyOrigin& origin) {
  torch::jit::Module module("__torch__.kindred.Policy");
  module.register_attribute("training", c10::BoolType::get(), false);
  module.register_attribute("obs_dim", c10::IntType::get(), policy.obs_dim);
  module.register_attribute("discrete", c10::BoolType::get(), policy.discrete);
  module.register_attribute("actions", c10::IntType::get(), policy.actions);
  module.register_attribute("method", c10::StringType::get(), origin.method);
  module.register_attribute("cluster", c10::IntType::get(), origin.cluster);
  module.register_attribute("version", c10::StringType::get(), std::string(kVersion));
  for (const auto& array : policy.arrays) module.register_buffer(array.name, to_tensor(array));

  module.define(kChecked);
  module.define(forward_of(policy));
  module.define(policy.discrete ? kActDiscrete : kActContinuous);
  return module;
}

void save_module(const PlainPolicy& policy, const PolicyOrigin& origin,
                 const std::filesystem::path& path) {
  std::ostringstream bytes;
  to_module(policy, origin).save(bytes);
  write_text(path, bytes.str());
}
const LateFunctionIs is_save_torch_script(save_torch_script, &save_module);

}  // namespace
}  // namespace kindred
