// What stands in for Parquet where Kindred was built without Apache Arrow.
#include "kindred/core/error.h"
#include "kindred/data/arrow_file.h"
#include "kindred/data/parquet_append.h"
#include "kindred/data/parquet_copy.h"
#include "kindred/data/parquet_pictures.h"
#include "kindred/data/parquet_table.h"

namespace kindred {
namespace {

[[noreturn]] void refuse_parquet(const std::filesystem::path& file) {
  throw InvalidArgument(
      "'{}' is stored as Parquet or Arrow, and this Kindred was built without Apache Arrow; "
      "install the Python "
      "package pyarrow and build again (scripts/setup test, then make build)",
      file.string());
}

}  // namespace

bool has_parquet() { return false; }

struct ParquetTable::Files {};

ParquetTable::ParquetTable(std::vector<std::filesystem::path> files) {
  refuse_parquet(files.empty() ? std::filesystem::path() : files.front());
}
ParquetTable::~ParquetTable() = default;

// No table can be made, so nobody gets to what follows.
std::int64_t ParquetTable::rows() const { refuse_parquet({}); }
const std::vector<std::filesystem::path>& ParquetTable::files() const { refuse_parquet({}); }
const std::vector<ParquetBlock>& ParquetTable::blocks() const { refuse_parquet({}); }
const std::vector<ParquetColumn>& ParquetTable::columns() const { refuse_parquet({}); }
const ParquetColumn* ParquetTable::find(const std::string&) const { refuse_parquet({}); }
std::int64_t ParquetTable::row_size(const std::string&) const { refuse_parquet({}); }
std::string ParquetTable::where(std::size_t, const std::string&) const { refuse_parquet({}); }
std::optional<std::string> ParquetTable::note(const std::string&) const { refuse_parquet({}); }
std::vector<std::string> ParquetTable::read_texts(const std::string&, std::int64_t,
                                                  std::int64_t) const {
  refuse_parquet({});
}
template <class T>
void ParquetTable::read(const std::string&, std::int64_t, std::int64_t, T*) const {
  refuse_parquet({});
}
template void ParquetTable::read(const std::string&, std::int64_t, std::int64_t, float*) const;
template void ParquetTable::read(const std::string&, std::int64_t, std::int64_t, double*) const;
template void ParquetTable::read(const std::string&, std::int64_t, std::int64_t,
                                 std::int64_t*) const;

struct ArrowFile::File {};

ArrowFile::ArrowFile(const std::filesystem::path& path) { refuse_parquet(path); }
ArrowFile::~ArrowFile() = default;
std::int64_t ArrowFile::rows() const { refuse_parquet({}); }
const std::vector<ArrowColumn>& ArrowFile::columns() const { refuse_parquet({}); }
std::string ArrowFile::where(const ArrowColumn&) const { refuse_parquet({}); }
std::vector<std::string> ArrowFile::read_texts(const ArrowColumn&, std::int64_t,
                                               std::int64_t) const {
  refuse_parquet({});
}
template <class T>
void ArrowFile::read(const ArrowColumn&, std::int64_t, std::int64_t, T*) const {
  refuse_parquet({});
}
template void ArrowFile::read(const ArrowColumn&, std::int64_t, std::int64_t, float*) const;
template void ArrowFile::read(const ArrowColumn&, std::int64_t, std::int64_t, std::int64_t*) const;
std::string ArrowColumn::name() const { return path.empty() ? "" : path.back(); }

void copy_parquet_rows(const std::filesystem::path& source, std::span<const RowStretch>,
                       const ColumnChanges&, const std::filesystem::path&) {
  refuse_parquet(source);
}
void copy_table_rows(const std::filesystem::path& source,
                     const std::function<std::vector<RowStretch>(const std::string&)>&,
                     const ColumnChanges&, const std::filesystem::path&) {
  refuse_parquet(source);
}

std::vector<ParquetPicture> read_parquet_pictures(const std::filesystem::path& file,
                                                  const std::string&,
                                                  std::span<const std::int64_t>) {
  refuse_parquet(file);
}

namespace parquet_file {

std::string one_column_file(const std::string& name, std::span<const std::int64_t>,
                            std::span<const std::int64_t>) {
  refuse_parquet(name);
}
std::string schema_with_column(const std::string& encoded, const std::string&) { return encoded; }

}  // namespace parquet_file
}  // namespace kindred
