#include "kindred/experts/experts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "kindred/core/error.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/mixture.h"
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

Policies rule_followers(const Environment& environment) {
  if (const auto* diagonal = dynamic_cast<const Diagonal*>(&environment))
    return diagonal_experts(*diagonal);
  if (const auto* takeball = dynamic_cast<const Takeball*>(&environment))
    return takeball_experts(*takeball);
  if (const auto* bandit = dynamic_cast<const Bandit*>(&environment))
    return bandit_experts(*bandit);
  throw InvalidArgument("environment '{}' has no experts", environment.spec().name);
}

}  // namespace

Policies make_experts(const Environment& environment, std::string_view list) {
  const bool trained = !recipes(environment.spec().name).empty();
  return trained ? load_experts(environment, {}, list)
                 : select_experts(rule_followers(environment), list);
}

std::vector<std::string> select_names(const std::vector<std::string>& known,
                                      std::string_view list) {
  if (list.empty()) return known;
  std::vector<std::string> chosen;
  for (const auto part : std::views::split(list, ',')) {
    const std::string name(part.begin(), part.end());
    if (std::ranges::find(known, name) == known.end())
      throw InvalidArgument("there is no expert '{}'; there are {}", name, fmt::join(known, ", "));
    if (std::ranges::find(chosen, name) != chosen.end())
      throw InvalidArgument("expert '{}' is named twice", name);
    chosen.push_back(name);
  }
  return chosen;
}

Policies select_experts(const Policies& experts, std::string_view list) {
  const auto name_of = [](const auto& expert) { return expert->name(); };
  std::vector<std::string> known;
  std::ranges::transform(experts, std::back_inserter(known), name_of);
  Policies chosen;
  for (const auto& name : select_names(known, list))
    chosen.push_back(*std::ranges::find(experts, name, name_of));
  return chosen;
}

DatasetName parse_dataset_name(std::string_view name) {
  for (const auto& info : environments()) {
    if (!name.starts_with(info.name + "-")) continue;
    const auto rest = name.substr(info.name.size());
    if (rest == "-mixture" && !mixture_pool(info.name).empty()) return {info.name, "", true};
    auto experts = split_names(rest, shipped_names(info.name));
    if (!experts.empty()) return {info.name, std::move(experts)};
  }
  return {std::string(name), ""};
}

}  // namespace kindred
