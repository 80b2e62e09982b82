#include "kindred/experts/experts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "kindred/core/error.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/recipes.h"

namespace kindred {
namespace {

/// "-medium-expert" as "medium,expert"; nothing unless it consists of known names. These may
/// contain dashes: the longest that fits is taken, again and again.
std::string split_names(std::string_view dashed, const std::vector<std::string>& known) {
  std::string names;
  while (!dashed.empty()) {
    const auto rest = dashed.substr(1);
    std::string_view best;
    for (const auto& name : known)
      if (name.size() > best.size() && (rest == name || rest.starts_with(name + "-"))) best = name;
    if (best.empty()) return "";
    if (!names.empty()) names += ',';
    names += best;
    dashed = rest.substr(best.size());
  }
  return names;
}

}  // namespace

Policies make_experts(const Environment& environment) {
  if (const auto* diagonal = dynamic_cast<const Diagonal*>(&environment))
    return diagonal_experts(*diagonal);
  if (const auto* takeball = dynamic_cast<const Takeball*>(&environment))
    return takeball_experts(*takeball);
  if (const auto* bandit = dynamic_cast<const Bandit*>(&environment))
    return bandit_experts(*bandit);
  if (!recipes(environment.spec().name).empty()) return load_experts(environment);
  throw InvalidArgument("environment '{}' has no experts", environment.spec().name);
}

Policies select_experts(const Policies& experts, std::string_view names) {
  if (names.empty()) return experts;
  Policies chosen;
  for (const auto part : std::views::split(names, ',')) {
    const std::string_view name(part.begin(), part.end());
    const auto found =
        std::ranges::find(experts, name, [](const auto& expert) { return expert->name(); });
    if (found == experts.end()) {
      std::vector<std::string> known;
      for (const auto& expert : experts) known.push_back(expert->name());
      throw InvalidArgument("there is no expert '{}'; there are {}", name, fmt::join(known, ", "));
    }
    if (std::ranges::find(chosen, *found) != chosen.end())
      throw InvalidArgument("expert '{}' is named twice", name);
    chosen.push_back(*found);
  }
  return chosen;
}

DatasetName parse_dataset_name(std::string_view name) {
  for (const auto& info : environments()) {
    if (!name.starts_with(info.name + "-")) continue;
    auto experts = split_names(name.substr(info.name.size()), trained_names(info.name));
    if (!experts.empty()) return {info.name, std::move(experts)};
  }
  return {std::string(name), ""};
}

}  // namespace kindred
