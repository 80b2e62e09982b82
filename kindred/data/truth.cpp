#include "kindred/data/truth.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/core/words.h"
#include "kindred/data/csv.h"
#include "kindred/data/returns.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string quoted(const fs::path& path) { return fmt::format("'{}'", path.string()); }

/// The labels a file holds, with the line of each for messages.
struct LabelRows {
  LabelsFile file;
  std::vector<std::int64_t> lines;
};

std::size_t required_column(const CsvTable& table, std::string_view name, const std::string& what) {
  const auto column = table.column(name);
  if (!column)
    throw DataFormatError(
        "{} has no column '{}', only {}; a labels file needs the columns "
        "episode and label, or others named with --truth-episode-column and --truth-column",
        what, name, fmt::join(table.header, ", "));
  return *column;
}

/// Whole numbers stay as they are; as soon as one label is a name, all are.
void number_labels(LabelsFile& file, const std::vector<std::string>& texts) {
  for (const auto& text : texts) {
    const auto number = parse_number<std::int32_t>(text);
    if (!number) break;
    file.labels.push_back(*number);
  }
  if (file.labels.size() == texts.size()) return;

  file.label_names = texts;
  std::ranges::sort(file.label_names);
  file.label_names.erase(std::unique(file.label_names.begin(), file.label_names.end()),
                         file.label_names.end());
  file.labels.clear();
  for (const auto& text : texts)
    file.labels.push_back(static_cast<std::int32_t>(
        std::ranges::lower_bound(file.label_names, text) - file.label_names.begin()));
}

std::vector<double> parse_margins(const CsvTable& table, std::size_t column,
                                  const std::string& what) {
  std::vector<double> margins;
  for (const auto& [line, fields] : table.rows) {
    const auto margin = parse_number<double>(fields[column]);
    if (!margin)
      throw DataFormatError("{} line {}: the margin is '{}', expected a number", what, line,
                            fields[column]);
    margins.push_back(*margin);
  }
  return margins;
}

enum class Margins { kRead, kIgnore };

LabelRows read_rows(const fs::path& path, Margins margins, const TruthColumns& columns = {}) {
  const std::string what = quoted(path);
  const CsvTable table = parse_csv(read_text(path), what);
  const auto episode = required_column(table, columns.episode, what);
  const auto label = required_column(table, columns.label, what);
  if (table.rows.empty())
    throw DataFormatError("{} has a header but no rows; expected one per episode", what);

  LabelRows rows;
  std::vector<std::string> labels;
  for (const auto& [line, fields] : table.rows) {
    if (fields[label].empty())
      throw DataFormatError(
          "{} line {}: the label of episode '{}' is empty; give each episode a "
          "number or a name",
          what, line, fields[episode]);
    if (parse_number<std::int64_t>(fields[label]).value_or(0) < 0)
      throw DataFormatError(
          "{} line {}: the label of episode '{}' is {}, expected a whole number "
          "of at least 0 or a name",
          what, line, fields[episode], fields[label]);
    rows.lines.push_back(line);
    rows.file.episodes.push_back(fields[episode]);
    labels.push_back(fields[label]);
  }
  number_labels(rows.file, labels);
  if (const auto margin = table.column("margin"); margin && margins == Margins::kRead)
    rows.file.margins = parse_margins(table, *margin, what);
  return rows;
}

/// Episode of each id; nothing when two episodes share one.
std::unordered_map<std::string, std::int64_t> episodes_by_id(const Trajectories& data) {
  std::unordered_map<std::string, std::int64_t> episodes;
  for (std::size_t i = 0; i < data.ids.size(); ++i)
    if (!episodes.emplace(data.ids[i], i).second) return {};
  return episodes;
}

/// The episode each row speaks of: by id when all rows name ids, else by number.
std::vector<std::int64_t> find_episodes(const Trajectories& data,
                                        std::span<const std::string> names,
                                        std::span<const std::int64_t> lines,
                                        const std::string& what) {
  const auto by_id = episodes_by_id(data);
  const bool use_ids = std::ranges::all_of(names, [&](const auto& n) { return by_id.contains(n); });
  std::vector<std::int64_t> episodes;
  for (std::size_t row = 0; row < names.size(); ++row) {
    if (use_ids) {
      episodes.push_back(by_id.at(names[row]));
      continue;
    }
    const auto number = parse_number<std::int64_t>(names[row]);
    if (!number || *number < 0 || *number >= data.episodes())
      throw DataFormatError(
          "{} line {}: there is no episode '{}'; expected an episode's id (such "
          "as '{}') in every row or a number from 0 to {} in every row",
          what, lines[row], names[row], data.ids[0], data.episodes() - 1);
    episodes.push_back(*number);
  }
  return episodes;
}

/// The label of each episode; -1: no row speaks of it.
std::vector<std::int32_t> labels_by_episode(const Trajectories& data, const LabelRows& rows,
                                            const std::string& what) {
  const auto episodes = find_episodes(data, rows.file.episodes, rows.lines, what);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(data.episodes()), -1);
  std::vector<std::int64_t> line_of(labels.size(), 0);
  for (std::size_t row = 0; row < episodes.size(); ++row) {
    const auto episode = static_cast<std::size_t>(episodes[row]);
    if (line_of[episode] != 0)
      throw DataFormatError(
          "{} line {}: episode '{}' was already labelled in line {}; keep one of "
          "the two",
          what, rows.lines[row], rows.file.episodes[row], line_of[episode]);
    line_of[episode] = rows.lines[row];
    labels[episode] = rows.file.labels[row];
  }
  return labels;
}

/// Rows of pairs instead of labels.
KnownEpisodes read_pairs(const Trajectories& data, const CsvTable& table, const std::string& what) {
  const auto episode = table.column("episode"), other = table.column("other"),
             link = table.column("link");
  if (!episode || !other || !link)
    throw DataFormatError(
        "{} has the columns {}; expected episode and label, or episode, other and link", what,
        fmt::join(table.header, ", "));
  std::vector<std::string> names;
  std::vector<std::int64_t> lines;
  for (const auto& [line, fields] : table.rows)
    for (const auto column : {*episode, *other}) {
      names.push_back(fields[column]);
      lines.push_back(line);
    }
  const auto episodes = find_episodes(data, names, lines, what);
  KnownEpisodes known;
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    const auto& [line, fields] = table.rows[row];
    const auto& word = fields[*link];
    if (word != "together" && word != "apart")
      throw DataFormatError("{} line {}: the link is '{}', expected 'together' or 'apart'", what,
                            line, word);
    auto& pairs = word == "together" ? known.together : known.apart;
    pairs.emplace_back(episodes[2 * row], episodes[2 * row + 1]);
  }
  return known;
}

Trajectories with_labels(Trajectories data, std::vector<std::int32_t> labels,
                         std::vector<std::string> names, const std::string& source) {
  data.labels = std::move(labels);
  data.label_names = std::move(names);
  data.oracle = data.actors = {};  // they are of the labels that were there
  data.provenance["truth"] = printable(source);
  return data;
}

/// Labels 0, 1, … for consecutive parts that begin at the given episodes (and at 0).
std::vector<std::int32_t> labels_of_parts(std::int64_t episodes,
                                          std::span<const std::int64_t> starts) {
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < episodes; ++i)
    labels.push_back(
        static_cast<std::int32_t>(std::ranges::upper_bound(starts, i) - starts.begin()));
  return labels;
}

}  // namespace

Trajectories label_from_csv(const Trajectories& data, const fs::path& path,
                            const TruthColumns& columns) {
  LabelRows rows = read_rows(path, Margins::kIgnore, columns);
  auto labels = labels_by_episode(data, rows, quoted(path));
  return with_labels(data, std::move(labels), std::move(rows.file.label_names), path.string());
}

KnownEpisodes read_seeds(const Trajectories& data, const fs::path& path) {
  const std::string what = quoted(path);
  const CsvTable table = parse_csv(read_text(path), what);
  if (!table.column("label")) return read_pairs(data, table, what);
  KnownEpisodes known;
  known.labels = labels_by_episode(data, read_rows(path, Margins::kIgnore), what);
  std::map<std::int32_t, std::int64_t> first;  // episode of each label
  for (std::size_t i = 0; i < known.labels.size(); ++i) {
    if (known.labels[i] < 0) continue;
    const auto episode = static_cast<std::int64_t>(i);
    known.together.emplace_back(first.try_emplace(known.labels[i], episode).first->second, episode);
  }
  for (auto a = first.begin(); a != first.end(); ++a)
    for (auto b = std::next(a); b != first.end(); ++b)
      known.apart.emplace_back(a->second, b->second);
  return known;
}

Trajectories label_by_boundaries(const Trajectories& data,
                                 std::span<const std::int64_t> boundaries) {
  if (boundaries.empty())
    throw InvalidArgument("no boundary given: expected at least one step at which a part begins");
  std::vector<std::int64_t> starts;  // The first episode of each part but the first.
  for (const auto boundary : boundaries) {
    const auto first = std::ranges::lower_bound(data.offsets.span(), boundary);
    const auto episode = static_cast<std::int64_t>(first - data.offsets.begin());
    const auto previous = starts.empty() ? 0 : starts.back();
    if (episode <= previous || episode >= data.episodes())
      throw InvalidArgument(
          "the boundaries {} leave no episode for the part before or after step "
          "{}; expected increasing steps from 1 to {}",
          fmt::join(boundaries, ", "), boundary, data.offsets[data.episodes() - 1]);
    starts.push_back(episode);
  }
  std::vector<std::string> names;
  for (std::size_t part = 0; part <= boundaries.size(); ++part)
    names.push_back(fmt::format("steps {} to {}", part == 0 ? 0 : boundaries[part - 1],
                                (part == boundaries.size() ? data.steps() : boundaries[part]) - 1));
  return with_labels(data, labels_of_parts(data.episodes(), starts), std::move(names),
                     fmt::format("parts that begin at step {}", fmt::join(boundaries, ", ")));
}

Trajectories label_by_return_change(const Trajectories& data, double min_share) {
  const auto count = data.episodes();
  if (data.rewards.empty())
    throw InvalidArgument("cannot find a change of return: the data have no rewards");
  const auto returns = finite_returns(data, "a change of return cannot be found");
  if (count < 2) throw InvalidArgument("cannot split {} episode into two parts", count);
  if (!(min_share >= 0.0 && min_share <= 0.5))
    throw InvalidArgument("the smallest share of a part is {}, expected from 0 to 0.5", min_share);

  double total = 0.0;
  for (const auto value : returns) total += value;
  const auto wanted = static_cast<std::int64_t>(std::ceil(min_share * static_cast<double>(count)));
  const auto smallest = std::clamp<std::int64_t>(wanted, 1, count / 2);

  double before = 0.0, best = -1.0;
  std::int64_t split = smallest;
  for (std::int64_t i = 1; i <= count - smallest; ++i) {
    before += returns[static_cast<std::size_t>(i - 1)];
    if (i < smallest) continue;
    const double change = std::abs((total - before) / static_cast<double>(count - i) -
                                   before / static_cast<double>(i));
    if (change > best) {
      best = change;
      split = i;
    }
  }
  return with_labels(data, labels_of_parts(count, std::span(&split, 1)),
                     {fmt::format("episodes 0 to {}", split - 1),
                      fmt::format("episodes {} to {}", split, count - 1)},
                     fmt::format("change of mean return at episode {}", split));
}

bool LabelCounts::consecutive() const {
  return values.empty() ||
         (values.front() == 0 && values.back() == static_cast<std::int64_t>(values.size()) - 1);
}

LabelCounts count_labels(std::span<const std::int32_t> labels) {
  std::map<std::int32_t, std::int64_t> sizes;
  for (const auto label : labels)
    if (label >= 0) ++sizes[label];
  LabelCounts counts;
  for (const auto& [value, size] : sizes) {
    counts.values.push_back(value);
    counts.sizes.push_back(size);
  }
  return counts;
}

void write_labels_csv(const fs::path& path, std::span<const std::string> episodes,
                      std::span<const std::int32_t> labels, std::span<const double> margins) {
  const bool fits =
      labels.size() == episodes.size() && (margins.empty() || margins.size() == episodes.size());
  if (!fits)
    throw InvalidArgument("cannot write {}: {} episodes with {} labels and {} margins",
                          quoted(path), episodes.size(), labels.size(), margins.size());
  std::string text = margins.empty() ? "episode,label\n" : "episode,label,margin\n";
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    text += fmt::format("{},{}", csv_field(episodes[i]), labels[i]);
    if (!margins.empty()) text += fmt::format(",{}", margins[i]);
    text += '\n';
  }
  write_text(path, text);
}

LabelsFile read_labels_csv(const fs::path& path) { return read_rows(path, Margins::kRead).file; }

}  // namespace kindred
