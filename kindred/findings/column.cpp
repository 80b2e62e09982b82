#include "kindred/findings/column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

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

Json narrow_column(const std::vector<std::int32_t>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  if (low >= 0 && high < 256) return column(as<std::uint8_t>(values));
  if (low >= 0 && high < 65536) return column(as<std::uint16_t>(values));
  if (low >= -32768 && high < 32768) return column(as<std::int16_t>(values));
  return column(values);
}

Json rough_column(const std::vector<double>& values) {
  constexpr std::uint16_t kNotANumber = 65535, kInfinite = 65534, kMinusInfinite = 65533;
  constexpr double kSteps = 65532.0;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  if (low > high) low = high = 0.0;
  if (low == high && std::ranges::all_of(values, [](double value) { return std::isfinite(value); }))
    return {{"type", "same"}, {"value", low}, {"count", values.size()}};
  std::vector<std::uint16_t> steps;
  steps.reserve(values.size());
  for (const double value : values)
    steps.push_back(std::isnan(value)       ? kNotANumber
                    : !std::isfinite(value) ? (value > 0.0 ? kInfinite : kMinusInfinite)
                    : low == high           ? std::uint16_t{0}
                                            : static_cast<std::uint16_t>(
                                        std::lround(kSteps * (value - low) / (high - low))));
  auto json = column(steps);
  json["type"] = "q16";
  json["low"] = low;
  json["high"] = high;
  return json;
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
