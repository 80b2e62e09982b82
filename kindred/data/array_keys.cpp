#include "kindred/data/array_keys.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "kindred/core/error.h"

namespace kindred {
namespace {

std::optional<std::int64_t> column_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

ArrayKey parse_array_key(const std::string& text) {
  const auto bracket = text.rfind('[');
  if (bracket == std::string::npos || !text.ends_with(']')) return {.name = text};
  const auto inside =
      std::string_view(text).substr(bracket + 1, text.size() - bracket - 2);  // "3", "0:7", ":7"
  const auto colon = inside.find(':');
  ArrayKey key{.name = text.substr(0, bracket)};
  const auto first = inside.substr(0, colon);
  const auto begin = first.empty() && colon != std::string_view::npos ? 0 : column_number(first);
  std::optional<std::int64_t> end;
  if (colon == std::string_view::npos)
    end = begin ? std::optional(*begin + 1) : std::nullopt;
  else
    end = colon + 1 == inside.size() ? std::optional(ArrayKey::kOpen)
                                     : column_number(inside.substr(colon + 1));
  if (!begin || !end || (*end != ArrayKey::kOpen && *end <= *begin) || key.name.empty())
    throw InvalidArgument(
        "'{}' is no part of an array; expected name[3], or name[0:7] for the first seven numbers "
        "of a row",
        text);
  key.begin = *begin;
  key.end = *end;
  return key;
}

std::pair<std::int64_t, std::int64_t> ArrayKey::range(std::int64_t width,
                                                      const std::string& where) const {
  const auto last = end == kOpen ? width : end;
  if (last > width || begin >= last)
    throw InvalidArgument("{} has {} {} per row, which leaves none for [{}:{}]", where, width,
                          width == 1 ? "number" : "numbers", begin,
                          end == kOpen ? "" : std::to_string(end));
  return {begin, last};
}

std::vector<std::string> ArrayKey::names(std::int64_t width,
                                         const std::vector<std::string>& columns) const {
  const auto last = end == kOpen ? width : end;
  if (!columns.empty()) return {columns.begin() + begin, columns.begin() + last};
  if (width == 1) return {name};
  std::vector<std::string> result;
  for (auto i = begin; i < last; ++i) result.push_back(fmt::format("{}[{}]", name, i));
  return result;
}

}  // namespace kindred
