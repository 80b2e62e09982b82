// The methods by name: what the command line, config files and run folders select from.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/options.h"
#include "kindred/core/progress.h"
#include "kindred/methods/sharing.h"

namespace kindred {

/// A method with options of its own: describe() to set them, fit() to run.
class ConfiguredMethod {
 public:
  virtual ~ConfiguredMethod() = default;
  virtual OptionTable describe() = 0;
  /// Sets the options that make up `preset`; the others stay. Throws InvalidArgument where the
  /// method has no such preset.
  virtual void use_preset(const std::string& preset) = 0;
  /// Throws InvalidArgument, before anything is computed, when the options do not fit the data or
  /// when a fit would not read one of those that the user set.
  virtual void check(const Trajectories& data, const RunContext& run,
                     const std::vector<std::string>& set_by_user) const = 0;
  /// How the processes of a run can share a fit to this data; the first one's word counts.
  virtual Sharing sharing(const Trajectories& data, const RunContext& run) const = 0;
  /// Collective; every rank returns the same. `data` is as sharing() says.
  virtual Clustering fit(const Trajectories& data, const RunContext& run) = 0;
};

struct MethodInfo {
  std::string name;
  std::string summary;  ///< One line.
  std::function<std::unique_ptr<ConfiguredMethod>()> make;
  std::function<std::shared_ptr<const Centres>(const ArrayFileReader&)> load_centres;
};

/// Every method, in the order of the documentation.
std::span<const MethodInfo> methods();

/// Throws InvalidArgument naming the methods there are.
const MethodInfo& find_method(std::string_view name);

}  // namespace kindred
