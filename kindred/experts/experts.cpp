#include "kindred/experts/experts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "kindred/core/error.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/recipes.h"

namespace kindred {

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
    chosen.push_back(*found);
  }
  return chosen;
}

DatasetName parse_dataset_name(std::string_view name) {
  for (const auto& info : environments()) {
    const auto begin = info.name + "-";
    const auto known = trained_names(info.name);
    if (known.empty() || !name.starts_with(begin)) continue;
    // Names of experts may contain dashes: take the longest that fits, again and again.
    DatasetName result{info.name, ""};
    auto rest = name.substr(begin.size());
    while (!rest.empty()) {
      std::string_view best;
      for (const auto& expert : known)
        if (expert.size() > best.size() && (rest == expert || rest.starts_with(expert + "-")))
          best = expert;
      if (best.empty()) break;
      if (!result.experts.empty()) result.experts += ',';
      result.experts += best;
      rest.remove_prefix(std::min(rest.size(), best.size() + 1));
    }
    if (rest.empty() && !result.experts.empty()) return result;
  }
  return {std::string(name), ""};
}

}  // namespace kindred
