// Step columns read from a Parquet table: what LeRobot folders and other tables have in common.
// Internal.
#pragma once

#include <string>
#include <vector>

#include "kindred/data/formats.h"
#include "kindred/data/parquet_table.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// What a table calls its columns; those that are empty are not there.
struct TableLayout {
  std::vector<std::string> observations;  ///< Joined in this order.
  std::string actions, rewards, terminals, timeouts;
  std::string episodes;  ///< A number or text that changes where an episode ends.
};

/// Reads all columns. The episodes are the stretches with one value in the episode column, which is
/// their id; no value comes back later. Sets no labels and no names. Throws as the table does.
Trajectories read_table_steps(const ParquetTable& table, const TableLayout& layout,
                              const ReadOptions& options);

/// The first of these names that is a column; empty when none is.
std::string first_column(const ParquetTable& table, const std::vector<std::string>& names);

/// The columns of numbers, for messages.
std::vector<std::string> numeric_columns(const ParquetTable& table);

/// Sets the labels from a column that has one value in each episode, or says in the provenance why
/// it is of no use.
void set_labels_from(Trajectories& data, const ParquetTable& table, const std::string& column);

}  // namespace kindred
