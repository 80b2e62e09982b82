#include "kindred/findings/column.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

namespace kindred::findings {
namespace {

template <class T>
Json brief_values(std::span<const T> values) {
  auto list = Json::array();
  for (const auto value : values) list.push_back(brief(static_cast<double>(value)));
  return list;
}

}  // namespace

std::string base64(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (j < left ? std::to_integer<std::uint32_t>(bytes[i + j]) : 0u);
    for (std::size_t j = 0; j < 4; ++j)
      text += j <= left ? kDigits[group >> (18 - 6 * j) & 63u] : '=';
  }
  return text;
}

double brief(double value) {
  if (!std::isfinite(value) || value == 0.0) return value;
  char text[32];
  *fmt::format_to_n(text, sizeof text - 1, "{:.4g}", value).out = '\0';
  return std::strtod(text, nullptr);
}

Json brief_list(std::span<const double> values) { return brief_values(values); }
Json brief_list(std::span<const float> values) { return brief_values(values); }

}  // namespace kindred::findings
