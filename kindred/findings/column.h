// How numbers enter a record: columns as base64, single numbers with few digits.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace kindred::findings {

using Json = nlohmann::ordered_json;

std::string base64(std::span<const std::byte> bytes);

template <class T>
consteval const char* column_type() {
  if constexpr (std::same_as<T, std::uint8_t>) return "u8";
  if constexpr (std::same_as<T, std::uint16_t>) return "u16";
  if constexpr (std::same_as<T, std::uint32_t>) return "u32";
  if constexpr (std::same_as<T, std::int16_t>) return "i16";
  if constexpr (std::same_as<T, std::int32_t>) return "i32";
  if constexpr (std::same_as<T, float>) return "f32";
}

template <class T>
Json column(const std::vector<T>& values) {
  return {{"type", column_type<T>()}, {"data", base64(std::as_bytes(std::span(values)))}};
}

/// Whole numbers in as few bytes as they need.
Json narrow_column(const std::vector<std::int32_t>& values);

/// Numbers in two bytes each, in equal steps from the least to the greatest, or as one where all
/// are the same. What is infinite or not a number stays so.
Json rough_column(const std::vector<double>& values);

/// `values` with numbers of another type.
template <class To, class Values>
std::vector<To> as(const Values& values) {
  std::vector<To> out;
  out.reserve(static_cast<std::size_t>(std::size(values)));
  for (const auto& value : values) out.push_back(static_cast<To>(value));
  return out;
}

/// Four significant digits: what a picture can show. What is not finite stays so; JSON has null
/// for it.
double brief(double value);
Json brief_list(std::span<const double> values);
Json brief_list(std::span<const float> values);

}  // namespace kindred::findings
