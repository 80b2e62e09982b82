// What every command of the program shares: flags made from option tables, config files, the last
// line in JSON. People read standard error; programs read the last line of standard output.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/core/words.h"
#include "kindred/experts/experts.h"
#include "kindred/metrics/clustering_scores.h"

namespace kindred::app {

using Json = nlohmann::ordered_json;

/// Flags of a command, bound to option tables. Values typed on the command line win over those of a
/// config file, which win over defaults.
class Flags {
 public:
  /// Adds a flag for every option of the table, listed in the help under `group`.
  void add(CLI::App& command, OptionTable table, const std::string& group);
  /// Adds --config.
  void add_config(CLI::App& command);
  /// Adds --seed, --threads and --device where the command has none of its own, so that scripts can
  /// give them to every command; a device other than the CPU is refused then.
  void add_uniform(CLI::App& command);

  /// Sets all options; to be called once the command line is parsed. `before_typed` comes between
  /// those of the config file and those that were typed.
  void apply(const std::function<void()>& before_typed = {});
  /// The options that were typed, or that a config file sets to something else than the default;
  /// not those of a run's own config file, which lists them all.
  const std::vector<std::string>& set_by_user() const { return set_by_user_; }
  /// Every option with its value.
  Json values() const;
  std::string toml() const;

 private:
  void add_value(CLI::App& command, const Option& option, const std::string& group);
  void add_switch(CLI::App& command, const Option& option, const std::string& group);

  OptionTable table_;
  std::string config_;
  std::map<std::string, std::vector<std::string>> typed_;
  std::vector<std::string> set_by_user_;
  std::int64_t unused_seed_ = 0;
  std::int64_t unused_threads_ = 0;
  std::string unused_device_ = "cpu";
};

/// The options a config file sets, as text in its order. Throws when it cannot be read.
std::vector<std::pair<std::string, std::vector<std::string>>> read_config(const std::string& path);

/// What was typed after `name`, as "name value" or "name=value"; empty when it was not.
std::string typed_value(const std::vector<std::string>& arguments, const std::string& name);

/// Options most commands have.
struct Common {
  bool json = false;

  void add_json(CLI::App& command);
};

/// One fact for people, on standard error: "  name        value".
void tell(const std::string& name, const std::string& value);
/// What is left for help beside the column of names on 80 columns.
inline constexpr std::size_t kHelpWidth = 49;
/// The words of `text` in lines of at most `width` columns.
std::string wrapped(const std::string& text, std::size_t width = 80);
/// One line for people, on standard error.
void say(const std::string& line);
/// The last line of standard output, when --json was given.
void emit(const Common& common, const Json& json);

/// JSON as text. What is not UTF-8, such as the name of a file, is replaced by what is.
std::string as_text(const Json& json, int indent = -1);

/// NMI (with what chance would give, and the oracle's where that is known), AMI, ARI, accuracy and
/// purity. What is not a number is not known.
void tell_scores(const ClusteringScores& scores, const std::optional<double>& oracle);
/// The same of a record's result.
void tell_recorded_scores(const Json& result);

/// "1 trajectory", "12,345 trajectories"
std::string counted(std::int64_t number, const std::string& one, const std::string& many);

/// Rounded for people: 4 significant digits; "-" when there is none.
std::string rounded(const std::optional<double>& number);

/// The command as typed, quoted where a shell needs it.
std::string command_line(const std::vector<std::string>& arguments);
inline constexpr const char* kDatasetHelp = "A dataset: file, files, folder or Minari id";
/// Puts the folders of Minari datasets in the place of their ids, where Minari keeps them; what
/// exists under its own name stays.
void find_datasets(std::vector<std::string>& files);
/// The folder a file is or will be in.
std::string folder_of(const std::string& file);

/// The first dataset or environment named on the command line, or nothing.
DatasetName named_dataset(const std::vector<std::string>& arguments);
/// Its environment, or nothing: its own options become flags.
std::string named_environment(const std::vector<std::string>& arguments);
/// Throws InvalidArgument when the flags became those of another environment than the command's: a
/// value before it, such as a folder, has the name of one.
void check_named(const std::string& environment, const std::string& flags_of);

/// Each command adds its flags; its callback runs it.
void add_generate(CLI::App& command, const std::vector<std::string>& arguments);
void add_experts(CLI::App& command, const std::vector<std::string>& arguments);
void add_info(CLI::App& command);
void add_cluster(CLI::App& command, const std::vector<std::string>& arguments);
void add_assign(CLI::App& command);
void add_convert(CLI::App& command);
void add_score(CLI::App& command);
void add_segment(CLI::App& command, const std::vector<std::string>& arguments);
void add_evaluate(CLI::App& command, const std::vector<std::string>& arguments);
void add_export(CLI::App& command);
void add_conflicts(CLI::App& command);
void add_colouring(CLI::App& command);
void add_render(CLI::App& command);
void add_report(CLI::App& command);
void add_reproduce(CLI::App& command);
void add_compare(CLI::App& command);
void add_label(CLI::App& command);
void add_split(CLI::App& command);
void add_filter(CLI::App& command);
void add_methods(CLI::App& command);
void add_envs(CLI::App& command);

inline constexpr int kOurFault = 1;
inline constexpr int kBadInput = 2;

/// Thrown to leave with an exit code once everything has been said.
struct Exit {
  int code;
};

}  // namespace kindred::app
