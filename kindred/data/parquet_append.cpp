#include "kindred/data/parquet_append.h"

#include <fcntl.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "kindred/core/descriptor.h"
#include "kindred/core/error.h"
#include "kindred/core/staged_file.h"
#include "kindred/data/thrift.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using thrift::Type;
using thrift::Value;
using Json = nlohmann::ordered_json;

constexpr std::string_view kParquetMagic = "PAR1";
constexpr std::size_t kFooterEnd = 8;  // the footer's size and the magic

// Numbers of the fields in Parquet's own description, parquet.thrift.
namespace footer {
constexpr std::int16_t kSchema = 2, kRowGroups = 4, kNotes = 5, kColumnOrders = 7;
}
namespace element {
constexpr std::int16_t kName = 4, kChildren = 5;
}
namespace group {
constexpr std::int16_t kColumns = 1, kBytes = 2, kRows = 3, kCompressedBytes = 6;
}
namespace chunk {
constexpr std::int16_t kFileOffset = 2, kMetadata = 3;
}
namespace column {
constexpr std::int16_t kBytes = 6, kCompressedBytes = 7, kDataPage = 9, kIndexPage = 10,
                       kDictionaryPage = 11;
}
namespace note {
constexpr std::int16_t kKey = 1, kValue = 2;
}

std::string read_stretch(const Descriptor& file, std::uint64_t offset, std::uint64_t size) {
  std::string bytes(size, '\0');
  file.read(offset, bytes);
  return bytes;
}

/// Where the footer of `size` bytes of Parquet begins; `tail` is their end.
std::uint64_t footer_offset(std::uint64_t size, std::string_view tail, const fs::path& file) {
  std::uint32_t length = 0;
  if (tail.size() == kFooterEnd && tail.ends_with(kParquetMagic))
    std::memcpy(&length, tail.data(), sizeof(length));
  if (length == 0 || length > size - kFooterEnd - kParquetMagic.size())
    throw DataFormatError("'{}' does not end as a Parquet file does", file.string());
  return size - kFooterEnd - length;
}

/// How many schema elements the tree at `at` has, itself included, and how many of them are leaves.
struct SchemaTree {
  std::size_t elements = 0, leaves = 0;
};
SchemaTree tree_at(const std::vector<Value>& schema, std::size_t at) {
  SchemaTree tree;
  for (std::int64_t open = 1; open > 0; --open, ++tree.elements) {
    if (at + tree.elements >= schema.size())
      throw DataFormatError("a Parquet footer is damaged: its schema is not a tree");
    const auto* children = schema[at + tree.elements].find(element::kChildren);
    const auto count = children ? children->number : 0;
    open += count;
    tree.leaves += count == 0 ? 1 : 0;
  }
  return tree;
}

/// Takes the column of this name out of a footer; nothing happens when there is none.
void remove_column(Value& metadata, const std::string& name) {
  auto& schema = metadata.at(footer::kSchema, Type::kList).items;
  std::size_t at = 1;
  std::ptrdiff_t leaf = 0;
  while (at < schema.size() && schema[at].at(element::kName, Type::kText).bytes != name) {
    const auto tree = tree_at(schema, at);
    at += tree.elements;
    leaf += static_cast<std::ptrdiff_t>(tree.leaves);
  }
  if (at >= schema.size()) return;
  const auto tree = tree_at(schema, at);
  const auto leaves = static_cast<std::ptrdiff_t>(tree.leaves);
  const auto erase = [&](std::vector<Value>& columns) {
    if (leaf + leaves > std::ssize(columns))
      throw DataFormatError("a Parquet footer is damaged: it has fewer columns than its schema");
    columns.erase(columns.begin() + leaf, columns.begin() + leaf + leaves);
  };
  for (auto& row_group : metadata.at(footer::kRowGroups, Type::kList).items)
    erase(row_group.at(group::kColumns, Type::kList).items);
  if (auto* orders = metadata.find(footer::kColumnOrders)) erase(orders->items);
  const auto first = schema.begin() + static_cast<std::ptrdiff_t>(at);
  schema.erase(first, first + static_cast<std::ptrdiff_t>(tree.elements));
  --schema[0].at(element::kChildren, Type::kInt32).number;
}

/// Moves what a column chunk says of places in its file.
void shift_chunk(Value& column_chunk, std::int64_t by) {
  auto& metadata = column_chunk.at(chunk::kMetadata, Type::kStruct);
  for (const auto id : {column::kDataPage, column::kIndexPage, column::kDictionaryPage})
    if (auto* place = metadata.find(id)) place->number += by;
  if (auto* place = column_chunk.find(chunk::kFileOffset); place && place->number > 0)
    place->number += by;
}

/// Puts the one column of `added`, whose pages were moved by `shift`, into `metadata`.
void graft(Value& metadata, Value added, std::int64_t shift) {
  auto& schema = metadata.at(footer::kSchema, Type::kList).items;
  schema.push_back(added.at(footer::kSchema, Type::kList).items.at(1));
  ++schema[0].at(element::kChildren, Type::kInt32).number;
  auto& groups = metadata.at(footer::kRowGroups, Type::kList).items;
  auto& fresh = added.at(footer::kRowGroups, Type::kList).items;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    auto& column_chunk = fresh.at(i).at(group::kColumns, Type::kList).items.at(0);
    shift_chunk(column_chunk, shift);
    auto& its = column_chunk.at(chunk::kMetadata, Type::kStruct);
    groups[i].at(group::kBytes, Type::kInt64).number += its.at(column::kBytes, Type::kInt64).number;
    if (auto* compressed = groups[i].find(group::kCompressedBytes))
      compressed->number += its.at(column::kCompressedBytes, Type::kInt64).number;
    groups[i].at(group::kColumns, Type::kList).items.push_back(std::move(column_chunk));
  }
  if (auto* orders = metadata.find(footer::kColumnOrders))
    orders->items.push_back(added.at(footer::kColumnOrders, Type::kList).items.at(0));
}

/// Hugging Face's description of the columns with the new one; as it is where it is no such thing.
std::string features_with_column(const std::string& text, const std::string& name) {
  auto described = Json::parse(text, nullptr, false);
  const Json::json_pointer features("/info/features");
  if (!described.is_object() || !described.contains(features)) return text;
  described[features][name] = {{"dtype", "int64"}, {"_type", "Value"}};
  return described.dump();
}

void describe_column(Value& metadata, const std::string& name) {
  auto* notes = metadata.find(footer::kNotes);
  if (!notes) return;
  for (auto& entry : notes->items) {
    auto* text = entry.find(note::kValue);
    const auto& key = entry.at(note::kKey, Type::kText).bytes;
    if (text && key == "ARROW:schema")
      text->bytes = parquet_file::schema_with_column(text->bytes, name);
    else if (text && key == "huggingface")
      text->bytes = features_with_column(text->bytes, name);
  }
}

std::vector<std::int64_t> rows_of_groups(Value& metadata) {
  std::vector<std::int64_t> rows;
  for (auto& row_group : metadata.at(footer::kRowGroups, Type::kList).items)
    rows.push_back(row_group.at(group::kRows, Type::kInt64).number);
  return rows;
}

}  // namespace

void append_parquet_column(const fs::path& path, const std::string& name,
                           std::span<const std::int64_t> values) {
  const Descriptor file(path, O_RDWR, settled(path));
  const auto size = file.size();
  if (size < kFooterEnd + kParquetMagic.size())
    throw DataFormatError("'{}' is too short for a Parquet file", path.string());
  const auto begin = footer_offset(size, read_stretch(file, size - kFooterEnd, kFooterEnd), path);
  auto metadata = thrift::parse(read_stretch(file, begin, size - kFooterEnd - begin));
  const auto rows = rows_of_groups(metadata);
  if (std::reduce(rows.begin(), rows.end()) != std::ssize(values))
    throw DataFormatError("'{}' has {} rows, expected {}", path.string(),
                          std::reduce(rows.begin(), rows.end()), values.size());

  const auto fresh = parquet_file::one_column_file(name, values, rows);
  const auto pages_end =
      footer_offset(fresh.size(), std::string_view(fresh).substr(fresh.size() - kFooterEnd), path);
  const auto pages =
      std::string_view(fresh).substr(kParquetMagic.size(), pages_end - kParquetMagic.size());
  remove_column(metadata, name);
  graft(metadata, thrift::parse(std::string_view(fresh).substr(pages_end)),
        static_cast<std::int64_t>(size - kParquetMagic.size()));
  describe_column(metadata, name);

  auto tail = std::string(pages) + thrift::serialise(metadata);
  const auto length = static_cast<std::uint32_t>(tail.size() - pages.size());
  tail.append(reinterpret_cast<const char*>(&length), sizeof(length));
  tail += kParquetMagic;
  file.write(size, tail);
}

}  // namespace kindred
