// The parts of a new column that Arrow writes: its pages and its line in a schema.
#include <arrow/io/memory.h>
#include <arrow/ipc/api.h>
#include <arrow/util/base64.h>
#include <parquet/arrow/writer.h>

#include "kindred/data/parquet_append.h"
#include "kindred/data/parquet_arrow.h"

namespace kindred::parquet_file {
namespace {

std::string write_column(const std::string& name, std::span<const std::int64_t> values,
                         std::span<const std::int64_t> group_rows) {
  const std::filesystem::path where = name;
  return guarded(where, [&] {
    const auto sink = take(arrow::io::BufferOutputStream::Create(), where);
    const auto schema = arrow::schema({arrow::field(name, arrow::int64())});
    const auto properties =
        parquet::WriterProperties::Builder().compression(parquet::Compression::SNAPPY)->build();
    const auto writer = take(
        parquet::arrow::FileWriter::Open(*schema, arrow::default_memory_pool(), sink, properties),
        where);
    std::int64_t row = 0;
    for (const auto rows : group_rows) {
      const arrow::Int64Array part(
          rows, arrow::Buffer::Wrap(values.data() + row, static_cast<std::size_t>(rows)));
      check(writer->NewRowGroup(), where);
      check(writer->WriteColumnChunk(part), where);
      row += rows;
    }
    check(writer->Close(), where);
    return take(sink->Finish(), where)->ToString();
  });
}

std::string add_to_schema(const std::string& encoded, const std::string& name) {
  const arrow::Result<std::string> decoded = arrow::util::base64_decode(encoded);
  if (!decoded.ok()) return encoded;
  arrow::io::BufferReader reader(arrow::Buffer::FromString(*decoded));
  arrow::ipc::DictionaryMemo memo;
  const auto read = arrow::ipc::ReadSchema(&reader, &memo);
  if (!read.ok()) return encoded;
  arrow::FieldVector fields;
  for (const auto& field : (*read)->fields())
    if (field->name() != name) fields.push_back(field);
  fields.push_back(arrow::field(name, arrow::int64()));
  const auto written = arrow::ipc::SerializeSchema(*arrow::schema(fields, (*read)->metadata()));
  return written.ok() ? arrow::util::base64_encode((*written)->ToString()) : encoded;
}

const LateFunctionIs is_one_column_file(one_column_file, &write_column);
const LateFunctionIs is_schema_with_column(schema_with_column, &add_to_schema);

}  // namespace
}  // namespace kindred::parquet_file
