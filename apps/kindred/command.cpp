#include "command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <sstream>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/words.h"
#include "kindred/envs/registry.h"
#include "kindred/runs/run_folder.h"
#include "streams.h"

namespace kindred::app {
namespace {

namespace fs = std::filesystem;

std::string shown_default(const Option& option) {
  const auto value = option.get();
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string type_name(const Option& option) {
  switch (option.kind) {
    case OptionKind::kInteger:
      return "INT";
    case OptionKind::kReal:
      return "NUMBER";
    case OptionKind::kChoice:
      return fmt::format("{}", fmt::join(option.choices, "|"));
    case OptionKind::kTexts:
      return "NAMES";
    default:
      return "TEXT";
  }
}

void set_from_texts(const Option& option, const std::vector<std::string>& values) {
  if (option.kind == OptionKind::kTexts)
    option.set(values);
  else
    set_from_text(option, fmt::format("{}", fmt::join(values, ",")));
}

std::string quoted(const std::string& argument) {
  const bool plain = argument.find_first_of(" \t\"'$`\\*?[]{}()<>|&;#~!") == std::string::npos;
  return plain && !argument.empty() ? argument : "'" + argument + "'";
}

}  // namespace

std::vector<std::pair<std::string, std::vector<std::string>>> read_config(const std::string& path) {
  read_text(path);  // a missing file gets our sentence, not the library's
  std::vector<std::pair<std::string, std::vector<std::string>>> values;
  try {
    for (const auto& item : CLI::ConfigTOML().from_file(path)) {
      if (item.name == "++" || item.name == "--") continue;  // CLI11's marks of sections
      if (!item.parents.empty())
        throw InvalidArgument("'{}': unexpected section [{}]; options stand at the top level", path,
                              item.parents.front());
      values.emplace_back(item.name, item.inputs);
    }
  } catch (const CLI::Error& error) {
    throw InvalidArgument("'{}' cannot be read as a config file: {}", path, error.what());
  }
  return values;
}

std::string typed_value(const std::vector<std::string>& arguments, const std::string& name) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == name && i + 1 < arguments.size()) return arguments[i + 1];
    if (arguments[i].starts_with(name + "=")) return arguments[i].substr(name.size() + 1);
  }
  return "";
}

void Flags::add(CLI::App& command, OptionTable table, const std::string& group) {
  for (auto& option : table) {
    if (option.kind == OptionKind::kFlag)
      add_switch(command, option, group);
    else
      add_value(command, option, group);
    table_.push_back(std::move(option));
  }
}

void Flags::add_value(CLI::App& command, const Option& option, const std::string& group) {
  const auto help = wrapped(option.help, kHelpWidth);
  const auto add = [&](const std::string& name, const std::string& shown_in) {
    const auto typed = fmt::format("{}{}", name.size() == 1 ? "-" : "--", name);
    auto* flag =
        option.kind == OptionKind::kTexts
            ? command
                  .add_option_function<std::vector<std::string>>(
                      typed, [this, key = option.name](const auto& v) { typed_[key] = v; },
                      help)
                  ->allow_extra_args(false)  // one value each time it is typed
            : command.add_option_function<std::string>(
                  typed, [this, key = option.name](const auto& v) { typed_[key] = {v}; }, help);
    flag->group(shown_in)->default_str(shown_default(option))->type_name(type_name(option));
  };
  add(option.name, group);
  if (!option.former_name.empty()) add(option.former_name, "");
}

void Flags::add_switch(CLI::App& command, const Option& option, const std::string& group) {
  const auto add = [&](const std::string& name, const char* value, bool shown) {
    command
        .add_flag_callback(
            name, [this, key = option.name, value] { typed_[key] = {value}; },
            wrapped(option.get() == true ? "Switch off: " + option.help : option.help, kHelpWidth))
        ->group(shown ? group : "");
  };
  // The help shows the one of the pair that changes something.
  const bool on = option.get() == true;
  add("--" + option.name, "true", !on);
  add("--no-" + option.name, "false", on);
}

void Flags::add_config(CLI::App& command) {
  command.add_option("--config", config_, "Read options from a TOML file; flags win over it")
      ->type_name("FILE");
}

void Flags::add_uniform(CLI::App& command) {
  const OptionTable uniform = {
      integer("seed", unused_seed_, 0, std::numeric_limits<std::int64_t>::max(),
              "Accepted everywhere; nothing is random here."),
      integer("threads", unused_threads_, 0, 4096, "Accepted everywhere; one is used here."),
      text("device", unused_device_, "Only cpu: nothing here runs on a GPU.")};
  OptionTable missing;
  for (const auto& option : uniform)
    if (!find_option(table_, option.name)) missing.push_back(option);
  add(command, missing, "Uniform");
}

void Flags::apply(const std::function<void()>& before_typed) {
  if (!config_.empty()) {
    const auto defaults = to_json(table_);
    for (const auto& [name, values] : read_config(config_)) {
      const auto* option = find_option(table_, name);
      if (!option)
        throw InvalidArgument("'{}': there is no option '{}'; see --help for those there are",
                              config_, name);
      set_from_texts(*option, values);
    }
    if (!RunFolder(folder_of(config_)).is_finished())
      set_by_user_ = changed_options(table_, defaults);
  }
  if (before_typed) before_typed();
  for (const auto& [name, values] : typed_) {
    set_from_texts(*find_option(table_, name), values);
    set_by_user_.push_back(name);
  }
  if (unused_device_ != "cpu")
    throw InvalidArgument("this command runs on the CPU only; leave out --device {}",
                          unused_device_);
}

Json Flags::values() const { return to_json(table_); }

std::string Flags::toml() const { return to_toml(table_); }

void Common::add_json(CLI::App& command) {
  command.add_flag("--json", json, "End standard output with one line of JSON");
}

void tell(const std::string& name, const std::string& value) {
  write_to_people(fmt::format("  {:<20} {}\n", name, printable(value)));
}

std::string wrapped(const std::string& text, std::size_t width) {
  std::string lines;
  std::size_t column = 0;
  std::istringstream words(text);
  for (std::string word; words >> word; column += word.size() + 1) {
    if (column > 0 && column + word.size() > width) {
      lines += '\n';
      column = 0;
    }
    if (column > 0) lines += ' ';
    lines += word;
  }
  return lines;
}

void say(const std::string& line) { write_to_people(printable(line, "\n") + "\n"); }

void emit(const Common& common, const Json& json) {
  if (!common.json) return;
  write_to_programs(as_text(json) + "\n");
}

std::string as_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

void tell_scores(const ClusteringScores& scores, const std::optional<double>& oracle) {
  std::vector<std::string> beside;
  if (std::isfinite(scores.chance_nmi))
    beside.push_back(fmt::format("chance {:.4f}", scores.chance_nmi));
  if (oracle) beside.push_back(fmt::format("the oracle's {:.4f}", *oracle));
  tell("NMI", beside.empty() ? fmt::format("{:.4f}", scores.nmi)
                             : fmt::format("{:.4f}  ({})", scores.nmi, fmt::join(beside, ", ")));
  if (std::isfinite(scores.ami)) tell("AMI", fmt::format("{:.4f}", scores.ami));
  tell("ARI", fmt::format("{:.4f}", scores.ari));
  tell("accuracy", fmt::format("{:.4f}", scores.accuracy));
  tell("purity", fmt::format("{:.4f}", scores.purity));
}

void tell_recorded_scores(const Json& result) {
  const auto oracle = result.value("ceiling", Json());
  constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();  // as in old runs
  tell_scores({.nmi = result.at("nmi"),
               .ari = result.at("ari"),
               .accuracy = result.at("accuracy"),
               .purity = result.at("purity"),
               .homogeneity = result.at("homogeneity"),
               .completeness = result.at("completeness"),
               .ami = result.value("ami", kUnknown),
               .chance_nmi = result.value("chance_nmi", kUnknown)},
              oracle.is_number() ? std::optional(oracle.get<double>()) : std::nullopt);
}

std::string counted(std::int64_t number, const std::string& one, const std::string& many) {
  return fmt::format("{} {}", grouped(number), number == 1 ? one : many);
}

std::string rounded(const std::optional<double>& number) {
  return number ? fmt::format("{:.4g}", *number) : "-";
}

std::string command_line(const std::vector<std::string>& arguments) {
  std::string line = "kindred";
  for (const auto& argument : arguments) line += " " + quoted(argument);
  return line;
}

std::string folder_of(const std::string& file) {
  return file.empty() ? "." : fs::absolute(file).parent_path().string();
}

void find_datasets(std::vector<std::string>& files) {
  const char* home = std::getenv("HOME");
  const char* kept = std::getenv("MINARI_DATASETS_PATH");
  const fs::path folder =
      kept && *kept ? fs::path(kept) : fs::path(home ? home : "") / ".minari" / "datasets";
  std::error_code ignored;
  for (auto& file : files) {
    if (fs::exists(file, ignored)) continue;
    if (const auto dataset = folder / file; fs::is_directory(dataset / "data", ignored))
      file = dataset.string();
  }
}

DatasetName named_dataset(const std::vector<std::string>& arguments) {
  for (const auto& argument : arguments) {
    auto name = parse_dataset_name(argument);
    if (std::ranges::find(environments(), name.environment, &EnvironmentInfo::name) !=
        environments().end())
      return name;
  }
  return {};
}

std::string named_environment(const std::vector<std::string>& arguments) {
  return named_dataset(arguments).environment;
}

void check_named(const std::string& environment, const std::string& flags_of) {
  if (environment != flags_of)
    throw InvalidArgument("'{}' is an environment too: name the environment first, then options",
                          flags_of);
}

}  // namespace kindred::app
