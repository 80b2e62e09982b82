// Thrift's compact encoding as a tree, for footers of Parquet files. Internal.
//
// Reading and writing a tree gives the same bytes again, fields that nobody here knows included.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kindred::thrift {

enum class Type : std::uint8_t {
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kInt16 = 4,
  kInt32 = 5,
  kInt64 = 6,
  kDouble = 7,
  kText = 8,
  kList = 9,
  kSet = 10,
  kStruct = 12
};

struct Value {
  Type type = Type::kStruct;
  std::int64_t number = 0;                             ///< Integers; in lists also booleans.
  std::string bytes;                                   ///< Text; the eight bytes of a double.
  Type item_type = Type::kStruct;                      ///< Of a list or set.
  std::vector<Value> items;                            ///< Of a list or set.
  std::vector<std::pair<std::int16_t, Value>> fields;  ///< Of a struct, ids increasing.

  /// The field with this id; null when there is none.
  Value* find(std::int16_t id);
  const Value* find(std::int16_t id) const;
  /// The same; throws DataFormatError when there is none or it has another type.
  Value& at(std::int16_t id, Type wanted);
};

/// The struct that `bytes` begin with. Throws DataFormatError when they are damaged.
Value parse(std::string_view bytes);
std::string serialise(const Value& value);

}  // namespace kindred::thrift
