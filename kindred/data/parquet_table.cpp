#include "kindred/data/parquet_table.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "kindred/core/descriptor.h"
#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/arrow_values.h"
#include "kindred/data/parquet_arrow.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBatchRows = 1 << 15;

}  // namespace

namespace parquet_file {

std::unique_ptr<parquet::arrow::FileReader> open(const fs::path& file) {
  const Descriptor readable(file, O_RDONLY);  // says what is wrong in the system's words
  return guarded(file, [&] {
    parquet::arrow::FileReaderBuilder builder;
    check(builder.OpenFile(file.string(), false), file);
    parquet::ArrowReaderProperties properties(false);
    properties.set_batch_size(kBatchRows);
    std::unique_ptr<parquet::arrow::FileReader> reader;
    check(builder.properties(properties)->Build(&reader), file);
    return reader;
  });
}

}  // namespace parquet_file

namespace {

/// Where everything is, and the file that is open.
struct TableFiles {
  std::vector<fs::path> paths;
  std::vector<std::int64_t> first_block;  ///< [files + 1]
  std::vector<ParquetBlock> blocks;
  std::vector<ParquetColumn> columns;
  std::shared_ptr<const arrow::KeyValueMetadata> notes;
  std::map<std::string, std::int64_t> row_sizes;
  std::size_t opened = std::numeric_limits<std::size_t>::max();
  std::unique_ptr<parquet::arrow::FileReader> reader;

  parquet::arrow::FileReader& open(std::size_t file) {
    if (opened != file) {
      reader = parquet_file::open(paths[file]);
      opened = file;
    }
    return *reader;
  }

  std::int64_t rows() const { return blocks.empty() ? 0 : blocks.back().end; }

  void list_blocks(std::size_t file) {
    first_block.push_back(std::ssize(blocks));
    const auto& metadata = *open(file).parquet_reader()->metadata();
    std::int64_t row = 0;
    for (int group = 0; group < metadata.num_row_groups(); ++group) {
      const auto count = metadata.RowGroup(group)->num_rows();
      if (count < 0 || count > std::numeric_limits<std::int32_t>::max())
        throw DataFormatError("'{}' is damaged: a row group has {} rows", paths[file].string(),
                              count);
      blocks.push_back({file, rows(), rows() + count, row});
      row += count;
    }
  }

  void list_columns() {
    std::shared_ptr<arrow::Schema> schema;
    parquet_file::check(open(0).GetSchema(&schema), paths[0]);
    notes = open(0).parquet_reader()->metadata()->key_value_metadata();
    for (const auto& field : schema->fields())
      columns.push_back({field->name(), kind_of(*field->type()), is_list(*field->type())});
  }

  /// The leaves of a column in an open file.
  std::vector<int> leaves(std::size_t file, const std::string& column, const std::string& where) {
    std::vector<int> found;
    const auto& schema = *open(file).parquet_reader()->metadata()->schema();
    for (int i = 0; i < schema.num_columns(); ++i)
      if (schema.GetColumnRoot(i)->name() == column) found.push_back(i);
    if (found.empty())
      throw DataFormatError("{} is missing, though the first file of the table has it", where);
    return found;
  }

  /// Calls use(array, place) with the pieces of one block's rows [begin, end) of the table.
  template <class Use>
  void read_block(std::int64_t index, const std::string& column, const std::string& where,
                  std::int64_t begin, std::int64_t end, Use use) {
    const auto& block = blocks[static_cast<std::size_t>(index)];
    const auto& path = paths[block.file];
    const int group = static_cast<int>(index - first_block[block.file]);
    parquet_file::guarded(path, [&] {
      auto batches = parquet_file::take(
          open(block.file).GetRecordBatchReader({group}, leaves(block.file, column, where)), path);
      std::int64_t row = block.begin;
      while (row < std::min(end, block.end)) {
        std::shared_ptr<arrow::RecordBatch> batch;
        parquet_file::check(batches->ReadNext(&batch), path);
        if (!batch || batch->num_rows() == 0)
          throw DataFormatError("{} ends before row {}, expected {} rows in its row group", where,
                                row - block.begin + block.row_in_file, block.end - block.begin);
        const auto from = std::max(begin, row), to = std::min(end, row + batch->num_rows());
        if (from < to)
          use(batch->column(0)->Slice(from - row, to - from),
              ColumnPlace{where, from - block.begin + block.row_in_file, 1});
        row += batch->num_rows();
      }
    });
  }
};

class ArrowParquetTable final : public ParquetTable {
 public:
  explicit ArrowParquetTable(std::vector<fs::path> files) {
    if (files.empty()) throw InvalidArgument("a table needs at least one Parquet file");
    files_->paths = std::move(files);
    for (std::size_t file = 0; file < files_->paths.size(); ++file)
      parquet_file::guarded(files_->paths[file], [&] { files_->list_blocks(file); });
    parquet_file::guarded(files_->paths[0], [&] { files_->list_columns(); });
  }

  std::int64_t rows() const override { return files_->rows(); }
  const std::vector<fs::path>& files() const override { return files_->paths; }
  const std::vector<ParquetBlock>& blocks() const override { return files_->blocks; }
  const std::vector<ParquetColumn>& columns() const override { return files_->columns; }

  const ParquetColumn* find(const std::string& name) const override {
    const auto found = std::ranges::find(files_->columns, name, &ParquetColumn::name);
    return found == files_->columns.end() ? nullptr : &*found;
  }

  std::optional<std::string> note(const std::string& key) const override {
    if (!files_->notes || !files_->notes->Contains(key)) return std::nullopt;
    return *files_->notes->Get(key);
  }

  std::string where(std::size_t file, const std::string& column) const override {
    return fmt::format("'{}' column '{}'", files_->paths[file].string(), printable(column));
  }

  std::int64_t row_size(const std::string& column) const override {
    const auto* found = find(column);
    if (!found) throw DataFormatError("{} is missing", where(0, column));
    if (!found->list || rows() == 0) return 1;
    const auto [at, fresh] = files_->row_sizes.try_emplace(column, 1);
    if (!fresh) return at->second;
    const auto first = std::ranges::find_if(
        files_->blocks, [](const auto& block) { return block.end > block.begin; });
    files_->read_block(first - files_->blocks.begin(), column, where(first->file, column), 0, 1,
                       [&](const auto& array, ColumnPlace place) {
                         place.row_size = -1;
                         at->second = flattened_items(array, place)->length();
                       });
    return at->second;
  }

  void read(const std::string& column, std::int64_t begin, std::int64_t end,
            float* out) const override {
    read_numbers(column, begin, end, out);
  }
  void read(const std::string& column, std::int64_t begin, std::int64_t end,
            double* out) const override {
    read_numbers(column, begin, end, out);
  }
  void read(const std::string& column, std::int64_t begin, std::int64_t end,
            std::int64_t* out) const override {
    read_numbers(column, begin, end, out);
  }

  std::vector<std::string> read_texts(const std::string& column, std::int64_t begin,
                                      std::int64_t end) const override {
    if (!find(column)) throw DataFormatError("{} is missing", where(0, column));
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < files_->blocks.size(); ++i) {
      const auto& block = files_->blocks[i];
      if (block.end <= begin || block.begin >= end || block.end == block.begin) continue;
      files_->read_block(static_cast<std::int64_t>(i), column, where(block.file, column), begin,
                         end, [&](const auto& array, const ColumnPlace& place) {
                           for (std::int64_t row = 0; row < array->length(); ++row)
                             texts.push_back(joined_text(array, row, place));
                         });
    }
    return texts;
  }

 private:
  template <class T>
  void read_numbers(const std::string& column, std::int64_t begin, std::int64_t end, T* out) const {
    const auto size = row_size(column);
    for (std::size_t i = 0; i < files_->blocks.size(); ++i) {
      const auto& block = files_->blocks[i];
      if (block.end <= begin || block.begin >= end || block.end == block.begin) continue;
      files_->read_block(static_cast<std::int64_t>(i), column, where(block.file, column), begin,
                         end, [&](const auto& array, ColumnPlace place) {
                           place.row_size = size;
                           const auto items = flattened_items(array, place);
                           if (items->length() != array->length() * size)
                             throw DataFormatError(
                                 "{} has rows of another size after row {}, expected {} numbers in "
                                 "each as in the first row",
                                 place.where, place.row, size);
                           convert_column_of_any_type(*items, place, out);
                           out += items->length();
                         });
    }
  }

  std::unique_ptr<TableFiles> files_ = std::make_unique<TableFiles>();
};

std::unique_ptr<const ParquetTable> open_table_by_arrow(std::vector<fs::path> files) {
  return std::make_unique<ArrowParquetTable>(std::move(files));
}

const LateFunctionIs is_open_parquet_table(open_parquet_table, &open_table_by_arrow);

}  // namespace
}  // namespace kindred
