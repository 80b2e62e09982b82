// The numbers and texts in Arrow's arrays, whatever type they have there. Internal to the files
// that include Arrow.
#pragma once

#include <arrow/api.h>

#include <cstdint>
#include <memory>
#include <string>

#include "kindred/data/parquet_table.h"

namespace kindred {

/// Rows of one column on their way out: where they are, for messages, and what is expected.
struct ColumnPlace {
  std::string where;
  std::int64_t row = 0;       ///< Of the array's first row in its file.
  std::int64_t row_size = 1;  ///< -1: any.
};

bool is_list(const arrow::DataType& type);

/// What values of this type are; of a list what its items are.
ParquetKind kind_of(const arrow::DataType& type);

/// The numbers or texts of `array`, lists of lists flattened; no null is among them. Throws
/// DataFormatError when there is one, or a row of another size than expected.
std::shared_ptr<arrow::Array> flattened_items(std::shared_ptr<arrow::Array> array,
                                              const ColumnPlace& place);

/// Flattened items as T: float, double or int64. Throws DataFormatError when they are no numbers.
template <class T>
void convert_column_of_any_type(const arrow::Array& array, const ColumnPlace& place, T* out);

/// The items of row i, which may be a list of texts.
std::string joined_text(const std::shared_ptr<arrow::Array>& rows, std::int64_t i,
                        const ColumnPlace& place);

}  // namespace kindred
