// One description of an options struct feeds the command line, config files, run records and docs.
//
//   struct Options { int k = 5; OptionTable describe(); };
//   OptionTable Options::describe() { return {integer("k", k, 1, 1000, "How many clusters to
//   fit.")}; }
//
// A table refers to the fields of the struct it came from and must not outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kindred {

enum class OptionKind { kFlag, kInteger, kReal, kText, kTexts, kChoice };

/// One field: its name as the user types it, its meaning, and how to read and write it as JSON.
struct Option {
  std::string name;  ///< kebab-case; `--name` on the command line, `name = …` in a config file.
  std::string help;  ///< One sentence.
  OptionKind kind = OptionKind::kText;
  std::vector<std::string> choices;                ///< For kChoice.
  std::function<nlohmann::json()> get;             ///< The present value.
  std::function<void(const nlohmann::json&)> set;  ///< Throws InvalidArgument on a bad value.
  std::string former_name{};  ///< What it was once called: still understood, never written.
};

using OptionTable = std::vector<Option>;

Option flag(std::string name, bool& field, std::string help);
Option integer(std::string name, std::int64_t& field, std::int64_t low, std::int64_t high,
               std::string help);
/// An integer from 1 that can be left open: the text "auto", or a 0, stands for 0.
Option integer_or_auto(std::string name, std::int64_t& field, std::int64_t high, std::string help);
Option real(std::string name, double& field, double low, double high, std::string help);
/// A real for some values of which words stand, such as "off" and "auto".
Option real_or(std::string name, double& field, double low, double high,
               std::vector<std::pair<std::string, double>> words, std::string help);
/// A real that can be switched off: the text "off" stands for `off_value`.
Option real_or_off(std::string name, double& field, double low, double high, double off_value,
                   std::string help);
/// Bytes, given as "2GB", "500MB", "1.5GiB" or a plain number; the text "none" stands for 0.
Option bytes(std::string name, std::int64_t& field, std::string help);
Option text(std::string name, std::string& field, std::string help);
/// A list of texts, given as an array, or as one text with commas between them. On the command line
/// it may also be repeated.
Option texts(std::string name, std::vector<std::string>& field, std::string help);
/// Names of files, given as one text, in which commas mean nothing, or as an array.
Option paths(std::string name, std::vector<std::string>& field, std::string help);
/// A list of whole numbers from 0, as a text with commas between them.
Option integers(std::string name, std::vector<std::int64_t>& field, std::string help);

Option choice_by_index(std::string name, std::vector<std::string> choices, std::string help,
                       std::function<std::size_t()> get, std::function<void(std::size_t)> set);

/// An enum whose values 0, 1, 2, … are called `choices[0]`, `choices[1]`, …
template <class Enum>
Option choice(std::string name, Enum& field, std::vector<std::string> choices, std::string help) {
  return choice_by_index(
      std::move(name), std::move(choices), std::move(help),
      [&field] { return static_cast<std::size_t>(field); },
      [&field](std::size_t i) { field = static_cast<Enum>(i); });
}

/// Sets one option from text as typed. Throws InvalidArgument naming the option and what it takes.
void set_from_text(const Option& option, const std::string& value);

/// Finds `name`, also a former one; nullptr when there is none.
const Option* find_option(const OptionTable& table, std::string_view name);

/// Every field with its value: the complete configuration.
nlohmann::ordered_json to_json(const OptionTable& table);

/// Sets fields from an object; unknown keys are errors. `where` names the source in messages.
void from_json(const OptionTable& table, const nlohmann::json& values, std::string_view where);

/// The names of those whose values are not the ones in `before`, which to_json() gave.
std::vector<std::string> changed_options(const OptionTable& table,
                                         const nlohmann::ordered_json& before);

/// Options that a run would not read.
struct UnusedOptions {
  std::vector<std::string> names;
  std::string purpose;  ///< What they are for, and what to do: "'--hidden' is for …".
};

/// Throws InvalidArgument when one that the user set is among them.
void refuse_unused(const std::vector<UnusedOptions>& unused,
                   const std::vector<std::string>& set_by_user);

/// `name = value` lines in TOML, each preceded by its help as a comment.
std::string to_toml(const OptionTable& table);

}  // namespace kindred
