// Methods by name, with options quick enough for tests.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "kindred/methods/method.h"

namespace kindred::testing {

/// PG-Kmeans where the held-out score chooses among policies in closed form, as it does unless
/// asked for something else; by its own name it is what the paper describes, round by round.
inline constexpr auto kSearched = "searched";

/// `options` replace the quick ones; those a method does not have are left out.
inline std::unique_ptr<ConfiguredMethod> quick_method(
    const std::string& name, std::int64_t k, std::map<std::string, std::string> options = {}) {
  options.insert({{"k", std::to_string(k)},
                  {"restarts", "2"},
                  {"hidden", "16"},
                  {"gru-width", "16"},
                  {"max-steps", "40"},
                  {"max-rounds", "6"},
                  {"batch-steps", "64"},
                  {"change-tolerance", "0"}});
  if (name != kSearched) options.insert({"choose", "objective"});
  auto method = find_method(name == kSearched ? "pg-kmeans" : name).make();
  const auto table = method->describe();
  for (const auto& [option, value] : options)
    if (const auto* found = find_option(table, option)) set_from_text(*found, value);
  return method;
}

inline std::vector<std::string> method_names() {
  std::vector<std::string> names{kSearched};
  for (const auto& method : methods()) names.push_back(method.name);
  return names;
}

/// For the names of tests.
inline std::string without_dashes(std::string name) {
  std::erase(name, '-');
  return name;
}

}  // namespace kindred::testing
