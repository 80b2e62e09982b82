// What of this room is done by the part that needs Arrow.
#include "kindred/data/arrow_file.h"
#include "kindred/data/parquet_append.h"
#include "kindred/data/parquet_copy.h"
#include "kindred/data/parquet_pictures.h"
#include "kindred/data/parquet_table.h"

namespace kindred {

bool has_parquet() { return true; }

constinit decltype(open_parquet_table) open_parquet_table;
constinit decltype(open_arrow_file) open_arrow_file;
constinit decltype(copy_parquet_rows) copy_parquet_rows;
constinit decltype(copy_table_rows) copy_table_rows;
constinit decltype(read_parquet_pictures) read_parquet_pictures;

namespace parquet_file {

constinit decltype(one_column_file) one_column_file;
constinit decltype(schema_with_column) schema_with_column;

}  // namespace parquet_file
}  // namespace kindred
