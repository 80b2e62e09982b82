#include "kindred/data/lerobot_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace kindred {
namespace {

using Json = nlohmann::ordered_json;
using Values = std::vector<double>;

constexpr std::array<int, 5> kPercents{1, 10, 50, 90, 99};

/// Between the two values next to it, in proportion.
double quantile(Values& values, double share) {
  const auto at = share * static_cast<double>(values.size() - 1);
  const auto below = values.begin() + static_cast<std::int64_t>(at);
  std::nth_element(values.begin(), below, values.end());
  const auto above = below + 1 == values.end() ? below : std::min_element(below + 1, values.end());
  return *below + (at - std::floor(at)) * (*above - *below);
}

/// One value per episode of each statistic, put together as LeRobot does.
class JoinedStatistics {
 public:
  explicit JoinedStatistics(const ParquetTable& table) : table_(table) {}

  Json of(const Json& old) const {
    Json all = Json::object();
    for (const auto& [feature, statistics] : old.items()) {
      if (!statistics.is_object() || !has(feature, "mean") || !has(feature, "std") ||
          !has(feature, "count"))
        continue;
      for (const auto& [name, value] : statistics.items())
        if (has(feature, name)) {
          all[feature][name] = value;
          fill_numbers(all[feature][name], joined(feature, name));
        }
    }
    return all;
  }

 private:
  bool has(const std::string& feature, const std::string& name) const {
    return table_.find(statistic_column(feature, name)) != nullptr;
  }

  std::vector<Values> of_episodes(const std::string& feature, const std::string& name) const {
    const auto column = statistic_column(feature, name);
    const auto size = std::max<std::int64_t>(table_.row_size(column), 1);
    const auto all = table_.read<double>(column, 0, table_.rows());
    std::vector<Values> rows;
    for (auto row = all.begin(); row < all.end(); row += size) rows.emplace_back(row, row + size);
    return rows;
  }

  Values joined(const std::string& feature, const std::string& name) const {
    const auto values = of_episodes(feature, name);
    Values result = values[0];
    if (name == "min" || name == "max") {
      for (const auto& its : values)
        for (std::size_t i = 0; i < result.size(); ++i)
          result[i] = name == "min" ? std::min(result[i], its[i]) : std::max(result[i], its[i]);
      return result;
    }
    const auto counts = of_episodes(feature, "count");
    if (name == "count") {
      result[0] = 0;
      for (const auto& its : counts) result[0] += its[0];
      return result;
    }
    if (name == "std") return joined_deviation(feature, values, counts);
    return weighted(values, counts);
  }

  static Values weighted(const std::vector<Values>& values, const std::vector<Values>& counts) {
    Values sum(values[0].size(), 0);
    double total = 0;
    for (std::size_t e = 0; e < values.size(); ++e) {
      total += counts[e][0];
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += counts[e][0] * values[e][i];
    }
    for (auto& value : sum) value /= total;
    return sum;
  }

  Values joined_deviation(const std::string& feature, std::vector<Values> deviations,
                          const std::vector<Values>& counts) const {
    const auto means = of_episodes(feature, "mean");
    const auto mean = weighted(means, counts);
    for (std::size_t e = 0; e < means.size(); ++e)
      for (std::size_t i = 0; i < mean.size(); ++i)
        deviations[e][i] =
            deviations[e][i] * deviations[e][i] + (means[e][i] - mean[i]) * (means[e][i] - mean[i]);
    auto result = weighted(deviations, counts);
    for (auto& value : result) value = std::sqrt(value);
    return result;
  }

  const ParquetTable& table_;
};

void fill_in_order(Json& shape, std::span<const double>& numbers) {
  if (shape.is_array()) {
    for (auto& inner : shape) fill_in_order(inner, numbers);
  } else if (!numbers.empty()) {
    if (shape.is_boolean())
      shape = numbers[0] != 0;
    else if (shape.is_number_integer())
      shape = static_cast<std::int64_t>(numbers[0]);
    else
      shape = numbers[0];
    numbers = numbers.subspan(1);
  }
}

}  // namespace

std::map<std::string, Values> feature_statistics(std::span<const double> values,
                                                 std::int64_t width) {
  std::map<std::string, Values> all;
  const auto step = static_cast<std::size_t>(width);
  const auto rows = values.size() / step;
  for (std::size_t column = 0; column < step; ++column) {
    Values its;
    for (auto i = column; i < values.size(); i += step) its.push_back(values[i]);
    double sum = 0, squares = 0;
    for (const auto value : its) sum += value;
    const auto mean = sum / static_cast<double>(rows);
    for (const auto value : its) squares += (value - mean) * (value - mean);
    all["min"].push_back(std::ranges::min(its));
    all["max"].push_back(std::ranges::max(its));
    all["mean"].push_back(mean);
    all["std"].push_back(std::sqrt(squares / static_cast<double>(rows)));
    for (const auto percent : kPercents)
      all[fmt::format("q{:02d}", percent)].push_back(quantile(its, percent / 100.0));
  }
  all["count"] = {static_cast<double>(rows)};
  return all;
}

std::string statistic_column(const std::string& feature, const std::string& statistic) {
  return fmt::format("{}{}/{}", kStatisticColumns, feature, statistic);
}

Json joined_statistics(const ParquetTable& episodes, const Json& old) {
  return JoinedStatistics(episodes).of(old);
}

void fill_numbers(Json& shape, std::span<const double> numbers) { fill_in_order(shape, numbers); }

bool moves_with_values(const std::string& statistic) {
  return statistic != "std" && statistic != "count";
}

}  // namespace kindred
