// Statistics of features as LeRobot keeps them, of one episode and of all. Internal.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kindred/data/parquet_table.h"

namespace kindred {

/// What LeRobot states of the rows of a feature, values[rows * width], by the statistic's name: one
/// number for each of `width`, but one count. Quantiles lie between the two values next to them.
std::map<std::string, std::vector<double>> feature_statistics(std::span<const double> values,
                                                              std::int64_t width);

/// The column of a table of episodes that holds a statistic begins so.
inline constexpr std::string_view kStatisticColumns = "stats/";
std::string statistic_column(const std::string& feature, const std::string& statistic);

/// `old`, which holds statistics of all episodes, with those of the table's episodes put together
/// as LeRobot does; a feature without values by episode is left out.
nlohmann::ordered_json joined_statistics(const ParquetTable& episodes,
                                         const nlohmann::ordered_json& old);

/// Puts numbers where numbers were, each of the kind that was there.
void fill_numbers(nlohmann::ordered_json& shape, std::span<const double> numbers);

/// Whether a statistic of a position moves with it: all but how wide and how many.
bool moves_with_values(const std::string& statistic);

}  // namespace kindred
