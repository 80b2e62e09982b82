#include "kindred/core/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

#include "kindred/core/error.h"

namespace kindred {
namespace {

using nlohmann::json;

[[noreturn]] void reject(const std::string& name, const std::string& expected, const json& found) {
  const std::string shown = found.is_string() ? found.get<std::string>() : found.dump();
  throw InvalidArgument("option '{}' takes {}, not '{}'", name, expected, shown);
}

std::string range_text(std::string_view what, double low, double high) {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high) && high < 9e18;
  if (has_low && has_high) return fmt::format("{} from {} to {}", what, low, high);
  if (has_low) return fmt::format("{} of at least {}", what, low);
  if (has_high) return fmt::format("{} of at most {}", what, high);
  return std::string(what);
}

/// Nothing where it is none, or one too large.
std::optional<std::int64_t> whole_number(const json& value) {
  const bool too_large = value.is_number_unsigned() &&
                         value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (!value.is_number_integer() || too_large) return std::nullopt;
  return value.get<std::int64_t>();
}

template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// "3,5" → 3 and 5; "" is an empty list.
std::optional<std::vector<std::int64_t>> parse_list(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const auto end = std::min(text.find(',', begin), text.size());
    const auto number = parse_number<std::int64_t>(text.substr(begin, end - begin));
    if (!number || *number < 0) return std::nullopt;
    numbers.push_back(*number);
    begin = end + 1;
  }
  return numbers;
}

std::vector<std::string> split_at_commas(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = std::min(text.find(',', begin), text.size());
    if (end > begin) parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// "1.5GB" → 1,500,000,000; nothing where it is no size.
std::optional<std::int64_t> parse_bytes(const std::string& text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || !(number >= 0.0)) return std::nullopt;
  std::string unit;
  for (const char c : std::string_view(end, text.data() + text.size()))
    if (c != ' ') unit += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  static constexpr std::pair<std::string_view, double> kUnits[] = {{"", 1.0},
                                                                   {"B", 1.0},
                                                                   {"KB", 1e3},
                                                                   {"MB", 1e6},
                                                                   {"GB", 1e9},
                                                                   {"TB", 1e12},
                                                                   {"K", 1e3},
                                                                   {"M", 1e6},
                                                                   {"G", 1e9},
                                                                   {"T", 1e12},
                                                                   {"KIB", 1024.0},
                                                                   {"MIB", 1048576.0},
                                                                   {"GIB", 1073741824.0},
                                                                   {"TIB", 1099511627776.0}};
  for (const auto& [name, factor] : kUnits)
    if (unit == name && number * factor < 9e18) return static_cast<std::int64_t>(number * factor);
  return std::nullopt;
}

/// As parse_bytes reads it, in the largest unit that leaves no fraction.
std::string bytes_text(std::int64_t bytes) {
  for (const auto& [unit, factor] : {std::pair{"GB", std::int64_t{1'000'000'000}},
                                     {"GiB", std::int64_t{1} << 30},
                                     {"MB", std::int64_t{1'000'000}},
                                     {"MiB", std::int64_t{1} << 20}})
    if (bytes % factor == 0) return fmt::format("{}{}", bytes / factor, unit);
  return std::to_string(bytes);
}

}  // namespace

Option flag(std::string name, bool& field, std::string help) {
  return {name,
          std::move(help),
          OptionKind::kFlag,
          {},
          [&field] { return json(field); },
          [&field, name](const json& value) {
            if (!value.is_boolean()) reject(name, "true or false", value);
            field = value.get<bool>();
          }};
}

Option integer(std::string name, std::int64_t& field, std::int64_t low, std::int64_t high,
               std::string help) {
  return {name,
          std::move(help),
          OptionKind::kInteger,
          {},
          [&field] { return json(field); },
          [&field, name, low, high](const json& value) {
            const auto number = whole_number(value);
            if (!number || *number < low || *number > high)
              reject(
                  name,
                  range_text("a whole number", static_cast<double>(low), static_cast<double>(high)),
                  value);
            field = *number;
          }};
}

Option integer_or_auto(std::string name, std::int64_t& field, std::int64_t high, std::string help) {
  Option option = integer(name, field, 0, high, std::move(help));
  option.get = [&field] { return field == 0 ? json("auto") : json(field); };
  option.set = [&field, name, high](const json& value) {
    const auto number =
        value == json("auto") ? std::optional<std::int64_t>(0) : whole_number(value);
    if (!number || *number < 0 || *number > high)
      reject(name, range_text("'auto' or a whole number", 1.0, static_cast<double>(high)), value);
    field = *number;
  };
  return option;
}

Option real(std::string name, double& field, double low, double high, std::string help) {
  return {name,
          std::move(help),
          OptionKind::kReal,
          {},
          [&field] { return json(field); },
          [&field, name, low, high](const json& value) {
            const auto expected = range_text("a number", low, high);
            if (!value.is_number()) reject(name, expected, value);
            const double number = value.get<double>();
            if (!(number >= low && number <= high)) reject(name, expected, value);
            field = number;
          }};
}

Option real_or(std::string name, double& field, double low, double high,
               std::vector<std::pair<std::string, double>> words, std::string help) {
  Option option = real(name, field, low, high, std::move(help));
  option.get = [&field, words] {
    for (const auto& [word, value] : words)
      if (field == value) return json(word);
    return json(field);
  };
  option.set = [&field, name, low, high, words](const json& value) {
    std::string expected;
    for (const auto& [word, stands_for] : words) {
      if (value == json(word)) {
        field = stands_for;
        return;
      }
      expected += fmt::format("'{}' or ", word);
    }
    expected = range_text(expected + "a number", low, high);
    if (!value.is_number()) reject(name, expected, value);
    const double number = value.get<double>();
    if (!(number >= low && number <= high)) reject(name, expected, value);
    field = number;
  };
  return option;
}

Option real_or_off(std::string name, double& field, double low, double high, double off_value,
                   std::string help) {
  return real_or(std::move(name), field, low, high, {{"off", off_value}}, std::move(help));
}

Option bytes(std::string name, std::int64_t& field, std::string help) {
  return {name,
          std::move(help),
          OptionKind::kText,
          {},
          [&field] { return json(field == 0 ? "none" : bytes_text(field)); },
          [&field, name](const json& value) {
            auto size =
                value.is_string() ? parse_bytes(value.get<std::string>()) : whole_number(value);
            if (value == json("none")) size = 0;
            if (!size || *size < 0 || (*size == 0 && value.is_string() && value != json("none")))
              reject(name, "a size such as 2GB or 500MB, or 'none'", value);
            field = *size;
          }};
}

Option text(std::string name, std::string& field, std::string help) {
  return {name,
          std::move(help),
          OptionKind::kText,
          {},
          [&field] { return json(field); },
          [&field, name](const json& value) {
            if (!value.is_string()) reject(name, "text", value);
            field = value.get<std::string>();
          }};
}

Option texts(std::string name, std::vector<std::string>& field, std::string help) {
  return {name,
          std::move(help),
          OptionKind::kTexts,
          {},
          [&field] { return json(fmt::format("{}", fmt::join(field, ","))); },
          [&field, name](const json& value) {
            std::vector<std::string> parts;
            for (const auto& item : value.is_array() ? value : json::array({value})) {
              if (!item.is_string()) reject(name, "names, with commas between them", value);
              for (auto& part : split_at_commas(item.get<std::string>()))
                parts.push_back(std::move(part));
            }
            field = std::move(parts);
          }};
}

Option paths(std::string name, std::vector<std::string>& field, std::string help) {
  return {name,
          std::move(help),
          OptionKind::kTexts,
          {},
          [&field] {
            if (field.size() > 1) return json(field);
            return json(field.empty() ? "" : field[0]);
          },
          [&field, name](const json& value) {
            std::vector<std::string> files;
            for (const auto& item : value.is_array() ? value : json::array({value})) {
              if (!item.is_string()) reject(name, "names of files", value);
              if (item != "") files.push_back(item.get<std::string>());
            }
            field = std::move(files);
          }};
}

Option integers(std::string name, std::vector<std::int64_t>& field, std::string help) {
  return {name,
          std::move(help),
          OptionKind::kText,
          {},
          [&field] { return json(fmt::format("{}", fmt::join(field, ","))); },
          [&field, name](const json& value) {
            const auto numbers = value.is_string() ? parse_list(value.get<std::string>())
                                                   : std::optional<std::vector<std::int64_t>>{};
            if (!numbers) reject(name, "whole numbers from 0 with commas between them", value);
            field = *numbers;
          }};
}

Option choice_by_index(std::string name, std::vector<std::string> choices, std::string help,
                       std::function<std::size_t()> get, std::function<void(std::size_t)> set) {
  return {name,
          std::move(help),
          OptionKind::kChoice,
          choices,
          [choices, get = std::move(get)] { return json(choices.at(get())); },
          [choices, name, set = std::move(set)](const json& value) {
            const auto found = value.is_string()
                                   ? std::ranges::find(choices, value.get<std::string>())
                                   : choices.end();
            if (found == choices.end())
              reject(name, fmt::format("one of {}", fmt::join(choices, ", ")), value);
            set(static_cast<std::size_t>(found - choices.begin()));
          }};
}

void set_from_text(const Option& option, const std::string& value) {
  switch (option.kind) {
    case OptionKind::kFlag:
      if (value == "true" || value == "false") return option.set(value == "true");
      break;
    case OptionKind::kInteger:
      if (const auto number = parse_number<std::int64_t>(value)) return option.set(*number);
      break;
    case OptionKind::kReal:
      if (const auto number = parse_number<double>(value)) return option.set(*number);
      break;
    case OptionKind::kText:
    case OptionKind::kTexts:
    case OptionKind::kChoice:
      break;
  }
  option.set(value);
}

const Option* find_option(const OptionTable& table, std::string_view name) {
  const auto found = std::ranges::find_if(table, [&](const Option& option) {
    return option.name == name || (!name.empty() && option.former_name == name);
  });
  return found == table.end() ? nullptr : &*found;
}

nlohmann::ordered_json to_json(const OptionTable& table) {
  auto values = nlohmann::ordered_json::object();
  for (const auto& option : table) values[option.name] = option.get();
  return values;
}

void from_json(const OptionTable& table, const json& values, std::string_view where) {
  for (const auto& [name, value] : values.items()) {
    const Option* option = find_option(table, name);
    if (!option) {
      std::vector<std::string> names;
      for (const auto& known : table) names.push_back(known.name);
      throw InvalidArgument("{}: unknown option '{}'; the options are {}", where, name,
                            fmt::join(names, ", "));
    }
    option->set(value);
  }
}

std::vector<std::string> changed_options(const OptionTable& table,
                                         const nlohmann::ordered_json& before) {
  std::vector<std::string> names;
  for (const auto& option : table)
    if (option.get() != before.at(option.name)) names.push_back(option.name);
  return names;
}

void refuse_unused(const std::vector<UnusedOptions>& unused,
                   const std::vector<std::string>& set_by_user) {
  for (const auto& name : set_by_user)
    for (const auto& group : unused)
      if (std::ranges::find(group.names, name) != group.names.end())
        throw InvalidArgument("'--{}' is for {}", name, group.purpose);
}

std::string to_toml(const OptionTable& table) {
  std::string text;
  for (const auto& option : table)
    text +=
        fmt::format("# {}\n{} = {}\n", option.help, option.name,
                    option.get().dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return text;
}

}  // namespace kindred
