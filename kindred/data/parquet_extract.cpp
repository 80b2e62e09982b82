#include "kindred/data/parquet_extract.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/staged_file.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/parquet_append.h"
#include "kindred/data/parquet_copy.h"
#include "kindred/data/parquet_table.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNewEpisodes = "episode_index";

/// Rows of the table that become rows of one file.
struct TablePiece {
  std::size_t place = 0;  ///< In the stretches.
  std::int64_t begin = 0, end = 0;
};

/// What changes in a table when its episodes are cut.
class TableCut {
 public:
  TableCut(const fs::path& source, const Trajectories& data, std::span<const Stretch> stretches,
           const ReadOptions& reading)
      : data_(data), stretches_(stretches), table_(open_parquet_table(parquet_files(source))) {
    const auto columns = parquet_columns(source, reading);
    episodes_ = columns.episode_key;
    adds_episodes_ = episodes_.empty() && columns.done_keys.size() < 2;
    timeouts_ = columns.done_keys.size() > 1
                    ? columns.done_keys[1]
                    : first_column({"timeout", "timeouts", "truncated", "truncation", "truncations",
                                    "next.truncated"});
    if (!timeouts_.empty()) flags_ = table_->read<double>(timeouts_, 0, table_->rows());
    for (const char* clock : {"frame_index", "timestamp"})
      if (is_number(clock)) clocks_[clock] = table_->read<double>(clock, 0, table_->rows());
    if (is_number("index")) index_ = table_->read<std::int64_t>("index", 0, table_->rows());
    for (std::size_t row = 0; row < index_.size(); ++row)
      if (index_[row] != static_cast<std::int64_t>(row)) index_.clear();
    std::int64_t rows = 0;
    for (const auto& one : stretches) {
      new_begin_.push_back(rows);
      rows += one.end - one.begin;
    }
  }

  bool adds_episodes() const { return adds_episodes_; }

  ColumnChanges changes(std::span<const TablePiece> pieces) const {
    ColumnChanges changes;
    for (const auto& piece : pieces) {
      if (!episodes_.empty()) name_episode(piece, changes);
      if (!timeouts_.empty()) mark_cut(piece, changes.shifts[timeouts_]);
      for (const auto& [name, times] : clocks_) restart(piece, times, changes.numbers[name]);
      if (index_.empty()) continue;
      for (auto row = piece.begin; row < piece.end; ++row)
        changes.shifts["index"].push_back(new_begin_[piece.place] - first_row(piece.place));
    }
    return changes;
  }

  static std::vector<std::int64_t> numbers(std::span<const TablePiece> pieces) {
    std::vector<std::int64_t> of_rows;
    for (const auto& [place, begin, end] : pieces)
      of_rows.insert(of_rows.end(), static_cast<std::size_t>(end - begin),
                     static_cast<std::int64_t>(place));
    return of_rows;
  }

 private:
  bool is_number(const std::string& name) const {
    const auto* column = table_->find(name);
    return column && !column->list &&
           (column->kind == ParquetKind::kInteger || column->kind == ParquetKind::kFloat ||
            column->kind == ParquetKind::kBool);
  }

  std::string first_column(const std::vector<std::string>& names) const {
    const auto found =
        std::ranges::find_if(names, [&](const auto& name) { return is_number(name); });
    return found == names.end() ? "" : *found;
  }

  std::int64_t first_row(std::size_t place) const {
    return data_.offsets[stretches_[place].episode] + stretches_[place].begin;
  }

  void name_episode(const TablePiece& piece, ColumnChanges& changes) const {
    const auto& id = data_.ids[static_cast<std::size_t>(stretches_[piece.place].episode)];
    const auto count = static_cast<std::size_t>(piece.end - piece.begin);
    if (table_->find(episodes_)->kind == ParquetKind::kText) {
      auto& names = changes.texts[episodes_];
      names.insert(names.end(), count, name_of_stretch(id, stretches_[piece.place]));
    } else {
      auto& shifts = changes.shifts[episodes_];
      shifts.insert(shifts.end(), count, static_cast<std::int64_t>(piece.place) - std::stoll(id));
    }
  }

  void mark_cut(const TablePiece& piece, std::vector<std::int64_t>& shifts) const {
    shifts.insert(shifts.end(), static_cast<std::size_t>(piece.end - piece.begin), 0);
    const auto& [episode, begin, end] = stretches_[piece.place];
    const auto last = data_.offsets[episode] + end - 1;
    if (end == data_.length(episode) || piece.end != last + 1) return;
    const bool terminal = !data_.terminals.empty() && data_.terminals[last];
    if (!terminal && flags_[static_cast<std::size_t>(last)] == 0) shifts.back() = 1;
  }

  void restart(const TablePiece& piece, const std::vector<double>& times,
               std::vector<std::vector<double>>& numbers) const {
    const auto& [episode, begin, end] = stretches_[piece.place];
    const bool from_zero = times[static_cast<std::size_t>(data_.offsets[episode])] == 0;
    const auto first = times[static_cast<std::size_t>(first_row(piece.place))];
    for (auto row = piece.begin; row < piece.end; ++row) {
      numbers.emplace_back();
      if (from_zero && begin > 0) numbers.back() = {times[static_cast<std::size_t>(row)] - first};
    }
  }

  const Trajectories& data_;
  std::span<const Stretch> stretches_;
  std::unique_ptr<const ParquetTable> table_;
  std::string episodes_;       ///< The column that tells them apart; empty: flags do.
  std::string timeouts_;       ///< Empty: there is no such column.
  std::vector<double> flags_;  ///< What it holds.
  bool adds_episodes_ = false;
  std::map<std::string, std::vector<double>>
      clocks_;                           ///< What counts from the begin of an episode.
  std::vector<std::int64_t> index_;      ///< Empty unless it numbers all rows.
  std::vector<std::int64_t> new_begin_;  ///< [stretches]
};

std::vector<TablePiece> pieces_between(const Trajectories& data, std::span<const Stretch> stretches,
                                       std::int64_t first, std::int64_t end) {
  std::vector<TablePiece> pieces;
  for (std::size_t place = 0; place < stretches.size(); ++place) {
    const auto offset = data.offsets[stretches[place].episode];
    const TablePiece piece{place, std::max(first, offset + stretches[place].begin),
                           std::min(end, offset + stretches[place].end)};
    if (piece.begin < piece.end) pieces.push_back(piece);
  }
  return pieces;
}

}  // namespace

void extract_parquet(const fs::path& source, const Trajectories& data,
                     std::span<const Stretch> stretches, const ReadOptions& reading,
                     const fs::path& target) {
  if (!reading.mask_key.empty() || open_parquet_table(parquet_files(source))->rows() < data.steps())
    throw InvalidArgument(
        "'{}' has a row for each episode, expected one for each step; Kindred makes no parts of it",
        source.string());
  const bool cuts =
      std::ranges::any_of(stretches, [&](const auto& one) { return !is_whole(data, one); });
  std::optional<TableCut> cut;
  if (cuts) cut.emplace(source, data, stretches, reading);
  const auto copy_file = [&](const fs::path& file, std::int64_t first, std::int64_t end,
                             const fs::path& to) {
    const auto pieces = pieces_between(data, stretches, first, end);
    if (pieces.empty()) return;
    std::vector<RowStretch> rows;
    for (const auto& piece : pieces) rows.push_back({piece.begin - first, piece.end - first});
    std::error_code error;  // where it cannot be made, writing says why
    fs::create_directories(to.parent_path(), error);
    copy_parquet_rows(file, rows, cut ? cut->changes(pieces) : ColumnChanges(), to);
    if (cut && cut->adds_episodes())
      append_parquet_column(to, kNewEpisodes, TableCut::numbers(pieces));
  };
  std::error_code ignored;
  if (!fs::is_directory(source, ignored)) {
    StagedFile file(target);
    copy_file(source, 0, data.steps(), file.path());
    return file.commit();
  }
  StagedFolder folder(target);
  std::int64_t first = 0;
  for (const auto& file : parquet_files(source)) {
    const auto end = first + open_parquet_table({file})->rows();
    copy_file(file, first, end, folder.path() / file.lexically_relative(source));
    first = end;
  }
  folder.commit();
}

}  // namespace kindred
