// What stands in for the part that needs Arrow where Kindred was built without it.
#include "kindred/core/error.h"
#include "kindred/data/arrow_file.h"
#include "kindred/data/parquet_append.h"
#include "kindred/data/parquet_copy.h"
#include "kindred/data/parquet_pictures.h"
#include "kindred/data/parquet_table.h"

namespace kindred {
namespace {

template <class Result, class... Rest>
Result refuse(const std::filesystem::path& file, Rest...) {
  throw InvalidArgument(
      "'{}' is stored as Parquet or Arrow, and this Kindred was built without Apache Arrow; "
      "install the Python "
      "package pyarrow and build again (scripts/setup test, then make build)",
      file.string());
}

std::unique_ptr<const ParquetTable> refuse_table(std::vector<std::filesystem::path> files) {
  return refuse<std::unique_ptr<const ParquetTable>>(files.empty() ? "" : files.front());
}

// No table can be opened, so nobody gets to these.
template <class... Rest>
std::string refuse_column(const std::string& name, Rest...) {
  return refuse<std::string>(name);
}

}  // namespace

bool has_parquet() { return false; }

constinit decltype(open_parquet_table) open_parquet_table{&refuse_table};
constinit decltype(open_arrow_file) open_arrow_file{&refuse};
constinit decltype(copy_parquet_rows) copy_parquet_rows{&refuse};
constinit decltype(copy_table_rows) copy_table_rows{&refuse};
constinit decltype(read_parquet_pictures) read_parquet_pictures{&refuse};

namespace parquet_file {

constinit decltype(one_column_file) one_column_file{&refuse_column};
constinit decltype(schema_with_column) schema_with_column{&refuse_column};

}  // namespace parquet_file
}  // namespace kindred
