#include "kindred/data/table_steps.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/checks.h"
#include "kindred/data/episodes.h"

namespace kindred {
namespace {

/// Reads a table's columns block by block, so that each file is opened once for all of them.
class TableReader {
 public:
  TableReader(const ParquetTable& table, const TableLayout& layout, const ReadOptions& options)
      : table_(table),
        layout_(layout),
        lenient_(options.lenient),
        discrete_(are_discrete(options)) {
    if (table.rows() == 0)
      throw DataFormatError("'{}' has no rows, expected steps", table.files()[0].string());
    for (const auto& column : layout.observations) {
      sizes_.push_back(numbers_in(column));
      obs_dim_ += sizes_.back();
    }
    act_dim_ = numbers_in(layout.actions);
    if (discrete_ && act_dim_ != 1)
      throw DataFormatError(
          "{} has {} numbers in a row, expected one whole number per step for discrete actions; "
          "for "
          "several use the option actions = continuous",
          table.where(0, layout.actions), act_dim_);
    for (const auto& column : {layout.rewards, layout.terminals, layout.timeouts})
      if (!column.empty() && numbers_in(column) != 1)
        throw DataFormatError("{} has {} numbers in a row, expected one", table.where(0, column),
                              numbers_in(column));
  }

  Trajectories read() {
    const auto rows = static_cast<std::size_t>(table_.rows());
    observations_.resize(rows * static_cast<std::size_t>(obs_dim_));
    if (discrete_)
      ints_.resize(rows);
    else
      floats_.resize(rows * static_cast<std::size_t>(act_dim_));
    if (!layout_.rewards.empty()) rewards_.resize(rows);
    if (!layout_.terminals.empty()) terminals_.resize(rows);
    if (!layout_.timeouts.empty()) timeouts_.resize(rows);
    for (const auto& block : table_.blocks())
      if (block.end > block.begin) read_block(block);
    return assembled();
  }

 private:
  bool are_discrete(const ReadOptions& options) const {
    if (options.actions != ReadActionsAs::kAuto) return options.actions == ReadActionsAs::kDiscrete;
    const auto* column = table_.find(layout_.actions);
    return column && column->kind != ParquetKind::kFloat && table_.row_size(column->name) == 1;
  }

  std::int64_t numbers_in(const std::string& name) const {
    const auto* column = table_.find(name);
    if (!column)
      throw DataFormatError("{} is missing; the columns of numbers are {}", table_.where(0, name),
                            printable(fmt::format("{}", fmt::join(numeric_columns(table_), ", "))));
    if (column->kind == ParquetKind::kText || column->kind == ParquetKind::kOther)
      throw DataFormatError("{} holds no numbers; the columns of numbers are {}",
                            table_.where(0, name),
                            printable(fmt::format("{}", fmt::join(numeric_columns(table_), ", "))));
    const auto size = table_.row_size(name);
    if (size == 0)
      throw DataFormatError("{} has an empty list in its first row, expected numbers",
                            table_.where(0, name));
    return size;
  }

  void read_block(const ParquetBlock& block) {
    std::int64_t column = 0;
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      read_beside(block, layout_.observations[i], sizes_[i], column);
      column += sizes_[i];
    }
    if (discrete_) {
      const auto values = table_.read<std::int64_t>(layout_.actions, block.begin, block.end);
      to_discrete<std::int64_t>(values, block.row_in_file, where(block, layout_.actions),
                                ints_.data() + block.begin);
    } else {
      float* out = floats_.data() + block.begin * act_dim_;
      table_.read(layout_.actions, block.begin, block.end, out);
      if (!lenient_)
        check_finite({out, static_cast<std::size_t>((block.end - block.begin) * act_dim_)},
                     block.row_in_file, act_dim_, where(block, layout_.actions));
    }
    if (!layout_.rewards.empty())
      table_.read(layout_.rewards, block.begin, block.end, rewards_.data() + block.begin);
    read_flags(block, layout_.terminals, terminals_);
    read_flags(block, layout_.timeouts, timeouts_);
  }

  /// Numbers of one column into their place in rows that hold several.
  void read_beside(const ParquetBlock& block, const std::string& column, std::int64_t size,
                   std::int64_t first) {
    const auto values = table_.read<float>(column, block.begin, block.end);
    if (!lenient_) check_finite(values, block.row_in_file, size, where(block, column));
    for (auto row = block.begin; row < block.end; ++row)
      std::copy_n(values.data() + (row - block.begin) * size, size,
                  observations_.data() + row * obs_dim_ + first);
  }

  void read_flags(const ParquetBlock& block, const std::string& column,
                  std::vector<std::uint8_t>& flags) const {
    if (column.empty()) return;
    const auto values = table_.read<std::int64_t>(column, block.begin, block.end);
    to_flags<std::int64_t>(values, block.row_in_file, where(block, column),
                           flags.data() + block.begin);
  }

  Trajectories assembled() {
    Trajectories data;
    data.observations = Observations::dense(std::move(observations_), obs_dim_);
    if (discrete_) {
      const auto count = *std::ranges::max_element(ints_) + 1;
      data.actions = Actions::discrete(std::move(ints_), count);
    } else {
      data.actions = Actions::continuous(std::move(floats_), act_dim_);
    }
    data.rewards = std::move(rewards_);
    data.terminals = std::move(terminals_);
    data.timeouts = std::move(timeouts_);
    return data;
  }

  std::string where(const ParquetBlock& block, const std::string& column) const {
    return table_.where(block.file, column);
  }

  const ParquetTable& table_;
  const TableLayout& layout_;
  bool lenient_;
  bool discrete_;
  std::vector<std::int64_t> sizes_;
  std::int64_t obs_dim_ = 0, act_dim_ = 0;
  std::vector<float> observations_, floats_, rewards_;
  std::vector<std::int32_t> ints_;
  std::vector<std::uint8_t> terminals_, timeouts_;
};

/// The name of the episode that each row of a block belongs to.
std::vector<std::string> episode_names(const ParquetTable& table, const ParquetBlock& block,
                                       const std::string& column) {
  if (table.find(column)->kind == ParquetKind::kText)
    return table.read_texts(column, block.begin, block.end);
  std::vector<std::string> names;
  std::int64_t last = 0;
  for (const auto number : table.read<std::int64_t>(column, block.begin, block.end)) {
    names.push_back(names.empty() || number != last ? std::to_string(number) : names.back());
    last = number;
  }
  return names;
}

void find_episodes(Trajectories& data, const ParquetTable& table, const std::string& column) {
  std::vector<std::int64_t> offsets;
  std::unordered_set<std::string> seen;
  for (const auto& block : table.blocks()) {
    if (block.end == block.begin) continue;
    const auto names = episode_names(table, block, column);
    for (auto row = block.begin; row < block.end; ++row) {
      const auto& name = names[static_cast<std::size_t>(row - block.begin)];
      if (!data.ids.empty() && data.ids.back() == name) continue;
      if (!seen.insert(name).second)
        throw DataFormatError(
            "{} has episode {} again in row {}, expected the steps of an episode together; sort "
            "the "
            "table by episode",
            table.where(block.file, column), printable(name),
            row - block.begin + block.row_in_file);
      data.ids.push_back(name);
      offsets.push_back(row);
    }
  }
  offsets.push_back(table.rows());
  data.offsets = std::move(offsets);
}

}  // namespace

std::string first_column(const ParquetTable& table, const std::vector<std::string>& names) {
  for (const auto& name : names)
    if (table.find(name)) return name;
  return {};
}

std::vector<std::string> numeric_columns(const ParquetTable& table) {
  std::vector<std::string> names;
  for (const auto& [name, kind, list] : table.columns())
    if (kind != ParquetKind::kText && kind != ParquetKind::kOther) names.push_back(name);
  return names;
}

Trajectories read_table_steps(const ParquetTable& table, const TableLayout& layout,
                              const ReadOptions& options) {
  Trajectories data = TableReader(table, layout, options).read();
  find_episodes(data, table, layout.episodes);
  return data;
}

void set_labels_from(Trajectories& data, const ParquetTable& table, const std::string& column) {
  const auto* found = table.find(column);
  if (!found) return;
  const bool whole = found->kind == ParquetKind::kInteger || found->kind == ParquetKind::kBool;
  if (!whole || table.row_size(column) != 1) {
    data.provenance["labels"] = "ignored: they are no whole numbers";
    return;
  }
  std::vector<std::int64_t> labels, of_steps;
  try {
    of_steps = table.read<std::int64_t>(column, 0, table.rows());
  } catch (const DataFormatError& error) {  // a label is no reason to refuse the steps
    data.provenance["labels"] = fmt::format("ignored: {}", printable(error.what()));
    return;
  }
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    const auto first = of_steps.begin() + data.offsets[i],
               last = of_steps.begin() + data.offsets[i + 1];
    if (std::any_of(first, last, [&](auto label) { return label != *first; })) {
      data.provenance["labels"] = "ignored: they change within an episode";
      return;
    }
    labels.push_back(*first);
  }
  set_labels(data, labels);
}

}  // namespace kindred
