#include "command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdio>
#include <fstream>

#include "kindred/core/error.h"
#include "kindred/core/files.h"

namespace kindred::app {
namespace {

std::string shown_default(const Option& option) {
  const auto value = option.get();
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A config file as `name → text`, read by CLI11's TOML reader.
std::vector<std::pair<std::string, std::string>> read_config(const std::string& path) {
  read_text(path);  // a missing file gets our sentence, not the library's
  std::vector<std::pair<std::string, std::string>> values;
  try {
    for (const auto& item : CLI::ConfigTOML().from_file(path)) {
      if (item.name == "++" || item.name == "--") continue;  // CLI11's marks of sections
      if (!item.parents.empty())
        throw InvalidArgument("'{}': unexpected section [{}]; options stand at the top level", path,
                              item.parents.front());
      values.emplace_back(item.name, fmt::format("{}", fmt::join(item.inputs, ",")));
    }
  } catch (const CLI::Error& error) {
    throw InvalidArgument("'{}' cannot be read as a config file: {}", path, error.what());
  }
  return values;
}

}  // namespace

void Flags::add(CLI::App& command, OptionTable table, const std::string& group) {
  for (auto& option : table) {
    const std::string name = fmt::format("{}{}", option.name.size() == 1 ? "-" : "--", option.name);
    const auto remember = [this, key = option.name](const std::string& value) {
      typed_[key] = value;
    };
    if (option.kind == OptionKind::kFlag) {
      command
          .add_flag_function(
              fmt::format("{},!--no-{}", name, option.name),
              [remember](std::int64_t count) { remember(count > 0 ? "true" : "false"); },
              fmt::format("{} [{}]", option.help, shown_default(option)))
          ->group(group);
    } else {
      auto* added = command.add_option_function<std::string>(name, remember, option.help);
      added->group(group)->default_str(shown_default(option))->type_name([&] {
        switch (option.kind) {
          case OptionKind::kInteger: return std::string("INT");
          case OptionKind::kReal: return std::string("NUMBER");
          case OptionKind::kChoice: return fmt::format("{}", fmt::join(option.choices, "|"));
          default: return std::string("TEXT");
        }
      }());
    }
    table_.push_back(std::move(option));
  }
}

void Flags::add_config(CLI::App& command) {
  command.add_option("--config", config_, "Read options from a TOML file; flags win over it")
      ->type_name("FILE");
}

void Flags::apply() {
  if (!config_.empty())
    for (const auto& [name, value] : read_config(config_)) {
      const auto* option = find_option(table_, name);
      if (!option)
        throw InvalidArgument("'{}': there is no option '{}'; see --help for those there are",
                              config_, name);
      set_from_text(*option, value);
    }
  for (const auto& [name, value] : typed_) set_from_text(*find_option(table_, name), value);
}

Json Flags::values() const { return to_json(table_); }

std::string Flags::toml() const { return to_toml(table_); }

void Common::add_json(CLI::App& command) {
  command.add_flag("--json", json, "End standard output with one line of JSON");
}

void tell(const std::string& name, const std::string& value) {
  fmt::print(stderr, "  {:<20} {}\n", name, value);
}

void say(const std::string& line) { fmt::print(stderr, "{}\n", line); }

void emit(const Common& common, const Json& json) {
  if (!common.json) return;
  fmt::print("{}\n", json.dump());
  std::fflush(stdout);
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  for (auto i = static_cast<std::ptrdiff_t>(text.size()) - 3; i > (number < 0 ? 1 : 0); i -= 3)
    text.insert(static_cast<std::size_t>(i), 1, ',');
  return text;
}

std::string rounded(const std::optional<double>& number) {
  return number ? fmt::format("{:.4g}", *number) : "-";
}

}  // namespace kindred::app
