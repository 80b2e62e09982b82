// Every environment by name, with its options: what `kindred envs` lists and `kindred generate`
// makes.
//
//   auto options = find_environment("diagonal").make_options();
//   const auto table = options->describe();
//   set_from_text(*find_option(table, "slip"), "0.2");
//   auto environment = options->make();
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "kindred/core/options.h"
#include "kindred/envs/environment.h"

namespace kindred {

/// The options of one environment, whichever it is, from which it can be made.
class EnvironmentOptions {
 public:
  virtual ~EnvironmentOptions() = default;
  /// Refers to this object and must not outlive it.
  virtual OptionTable describe() = 0;
  /// Throws InvalidArgument when the options contradict each other.
  virtual std::unique_ptr<Environment> make() const = 0;
};

struct EnvironmentInfo {
  std::string name;
  std::string summary;
  std::function<std::unique_ptr<EnvironmentOptions>()> make_options;  ///< All at their defaults.
  bool available = true;  ///< False where this build lacks the library that making one needs.
};

std::span<const EnvironmentInfo> environments();

/// Throws InvalidArgument, listing the names there are.
const EnvironmentInfo& find_environment(std::string_view name);

/// The environment `name` with the given options, the others at their defaults. Throws
/// InvalidArgument on an unknown name, key or value.
std::unique_ptr<Environment> make_environment(
    std::string_view name, const nlohmann::json& options = nlohmann::json::object());

}  // namespace kindred
