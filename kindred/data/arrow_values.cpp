#include "kindred/data/arrow_values.h"

#include <arrow/util/float16.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/parquet_arrow.h"

namespace kindred {
namespace {

/// What values are stored as, where an extension gives them another name.
const arrow::DataType& storage(const arrow::DataType& type) {
  if (type.id() != arrow::Type::EXTENSION) return type;
  return storage(*static_cast<const arrow::ExtensionType&>(type).storage_type());
}

std::shared_ptr<arrow::Array> stored(std::shared_ptr<arrow::Array> array) {
  if (array->type_id() != arrow::Type::EXTENSION) return array;
  return stored(static_cast<const arrow::ExtensionArray&>(*array).storage());
}

/// The items of all rows of a list, after a look at how many each has.
template <class List>
std::shared_ptr<arrow::Array> items_of(const arrow::Array& array, std::int64_t wanted,
                                       const ColumnPlace& place) {
  const auto& list = static_cast<const List&>(array);
  for (std::int64_t i = 0; wanted >= 0 && i < list.length(); ++i)
    if (list.value_length(i) != wanted)
      throw DataFormatError(
          "{} has {} numbers in row {}, expected {} as in the first row; pad or remove that "
          "episode",
          place.where, static_cast<std::int64_t>(list.value_length(i)), place.row + i, wanted);
  const auto begin = static_cast<std::int64_t>(list.value_offset(0));
  const auto end = static_cast<std::int64_t>(list.value_offset(list.length()));
  return list.values()->Slice(begin, end - begin);
}

void refuse_nulls(const arrow::Array& array, std::int64_t per_row, const ColumnPlace& place) {
  if (array.null_count() == 0) return;
  for (std::int64_t i = 0; i < array.length(); ++i)
    if (array.IsNull(i))
      throw DataFormatError("{} is null in row {}, expected a value in every row", place.where,
                            place.row + i / std::max<std::int64_t>(per_row, 1));
}

[[noreturn]] void refuse_value(const ColumnPlace& place, std::int64_t row, double value) {
  throw DataFormatError("{} has {} in row {}, expected whole numbers", place.where, value,
                        place.row + row);
}

template <class T, class Array>
void convert_column(const arrow::Array& any, const ColumnPlace& place, T* out) {
  const auto& array = static_cast<const Array&>(any);
  for (std::int64_t i = 0; i < array.length(); ++i) {
    auto value = [&] {
      if constexpr (std::is_same_v<Array, arrow::HalfFloatArray>)
        return arrow::util::Float16::FromBits(array.Value(i)).ToFloat();
      else
        return array.Value(i);
    }();
    if constexpr (std::is_integral_v<T> && std::is_floating_point_v<decltype(value)>)
      if (std::abs(value) > 9e15 || std::trunc(value) != value)
        refuse_value(place, i / std::max<std::int64_t>(place.row_size, 1),
                     static_cast<double>(value));
    out[i] = static_cast<T>(value);
  }
}

std::string text_of(const arrow::Array& array, std::int64_t i, const ColumnPlace& place) {
  switch (array.type_id()) {
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return static_cast<const arrow::BinaryArray&>(array).GetString(i);
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return static_cast<const arrow::LargeBinaryArray&>(array).GetString(i);
    case arrow::Type::DICTIONARY: {
      const auto& coded = static_cast<const arrow::DictionaryArray&>(array);
      return text_of(*coded.dictionary(), coded.GetValueIndex(i), place);
    }
    default:
      throw DataFormatError("{} holds values of type {}, expected text", place.where,
                            array.type()->ToString());
  }
}

}  // namespace

bool is_list(const arrow::DataType& type) {
  const auto id = storage(type).id();
  return id == arrow::Type::LIST || id == arrow::Type::LARGE_LIST ||
         id == arrow::Type::FIXED_SIZE_LIST;
}

ParquetKind kind_of(const arrow::DataType& any) {
  const auto& type = storage(any);
  if (is_list(type)) return kind_of(*type.field(0)->type());
  if (arrow::is_floating(type.id())) return ParquetKind::kFloat;
  if (arrow::is_integer(type.id())) return ParquetKind::kInteger;
  if (type.id() == arrow::Type::BOOL) return ParquetKind::kBool;
  if (arrow::is_string(type.id()) || arrow::is_large_binary_like(type.id()))
    return ParquetKind::kText;
  if (type.id() == arrow::Type::DICTIONARY)
    return kind_of(*static_cast<const arrow::DictionaryType&>(type).value_type());
  return ParquetKind::kOther;
}

std::shared_ptr<arrow::Array> flattened_items(std::shared_ptr<arrow::Array> array,
                                              const ColumnPlace& place) {
  array = stored(std::move(array));
  std::int64_t wanted = place.row_size, per_row = 1;
  refuse_nulls(*array, per_row, place);
  while (is_list(*array->type()) && array->length() > 0) {
    const bool innermost = !is_list(*storage(*array->type()).field(0)->type());
    // Only a plain list says how many numbers a row has; in a matrix the first row's shape does.
    const auto size = per_row == 1 && innermost ? wanted : -1;
    const auto rows = array->length();
    if (array->type_id() == arrow::Type::LIST)
      array = items_of<arrow::ListArray>(*array, size, place);
    else if (array->type_id() == arrow::Type::LARGE_LIST)
      array = items_of<arrow::LargeListArray>(*array, size, place);
    else
      array = items_of<arrow::FixedSizeListArray>(*array, size, place);
    array = stored(std::move(array));
    per_row *= rows > 0 ? array->length() / rows : 1;
    refuse_nulls(*array, per_row, place);
  }
  return array;
}

template <class T>
void convert_column_of_any_type(const arrow::Array& array, const ColumnPlace& place, T* out) {
  switch (array.type_id()) {
    case arrow::Type::FLOAT:
      return convert_column<T, arrow::FloatArray>(array, place, out);
    case arrow::Type::DOUBLE:
      return convert_column<T, arrow::DoubleArray>(array, place, out);
    case arrow::Type::HALF_FLOAT:
      return convert_column<T, arrow::HalfFloatArray>(array, place, out);
    case arrow::Type::INT64:
      return convert_column<T, arrow::Int64Array>(array, place, out);
    case arrow::Type::INT32:
      return convert_column<T, arrow::Int32Array>(array, place, out);
    case arrow::Type::INT16:
      return convert_column<T, arrow::Int16Array>(array, place, out);
    case arrow::Type::INT8:
      return convert_column<T, arrow::Int8Array>(array, place, out);
    case arrow::Type::UINT64:
      return convert_column<T, arrow::UInt64Array>(array, place, out);
    case arrow::Type::UINT32:
      return convert_column<T, arrow::UInt32Array>(array, place, out);
    case arrow::Type::UINT16:
      return convert_column<T, arrow::UInt16Array>(array, place, out);
    case arrow::Type::UINT8:
      return convert_column<T, arrow::UInt8Array>(array, place, out);
    case arrow::Type::BOOL:
      return convert_column<T, arrow::BooleanArray>(array, place, out);
    default:
      throw DataFormatError("{} holds values of type {}, expected numbers", place.where,
                            array.type()->ToString());
  }
}

template void convert_column_of_any_type(const arrow::Array&, const ColumnPlace&, float*);
template void convert_column_of_any_type(const arrow::Array&, const ColumnPlace&, double*);
template void convert_column_of_any_type(const arrow::Array&, const ColumnPlace&, std::int64_t*);

std::string joined_text(const std::shared_ptr<arrow::Array>& rows, std::int64_t i,
                        const ColumnPlace& place) {
  const ColumnPlace at{place.where, place.row + i, -1};
  const auto items = flattened_items(rows->Slice(i, 1), at);
  std::vector<std::string> texts;
  if (!is_list(*items->type()))
    for (std::int64_t item = 0; item < items->length(); ++item)
      texts.push_back(text_of(*items, item, at));
  return fmt::format("{}", fmt::join(texts, ", "));
}

namespace parquet_file {

void check(const arrow::Status& status, const std::filesystem::path& file) {
  if (status.ok()) return;
  const std::string text = status.message();
  throw DataFormatError("'{}' is damaged or no {} file: {}", file.string(),
                        file.extension() == ".arrow" ? "Arrow" : "Parquet",
                        printable(text.substr(0, text.find('\n'))));
}

}  // namespace parquet_file
}  // namespace kindred
