// The steps of a Minari dataset that is stored as tables (minari_tables.h), read as named arrays.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/array_keys.h"
#include "kindred/data/arrow_file.h"
#include "kindred/data/episodes.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_input.h"
#include "kindred/data/keyed.h"
#include "kindred/data/minari_tables.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kMinariEpisode = "episode_id";  // what the folders' names are to Minari
constexpr const char* kMinariSeen = "observations";
constexpr const char* kMinariDone = "actions";

/// A column, and what it is by the space it is of: tables keep neither shapes nor tuples.
struct SpacePart {
  ArrowColumn column;
  std::vector<std::string> path;  ///< As the HDF5 form calls it: `_index_0` of a tuple.
  std::vector<std::int64_t> shape;
};

/// The order in which the HDF5 form lists its groups.
bool comes_before(const SpacePart& a, const SpacePart& b) {
  return std::ranges::lexicographical_compare(a.path, b.path, hdf5::natural_less);
}

/// What a dictionary or a tuple calls `name`; null where the space does not say.
Json subspace(const Json& subspaces, const std::string& name) {
  if (subspaces.is_object()) return subspaces.value(name, Json());
  const auto index = std::strtoull(name.c_str(), nullptr, 10);
  return subspaces.is_array() && index < subspaces.size() ? subspaces[index] : Json();
}

/// The shape of a box that has as many numbers as the column in each row.
std::vector<std::int64_t> shape_in(const Json& space, const ArrowColumn& column) {
  std::vector<std::int64_t> shape;
  std::int64_t size = 1;
  const auto stated = space.is_object() ? space.value("shape", Json()) : Json();
  for (const auto& extent : stated) {
    shape.push_back(extent.is_number_integer() ? extent.get<std::int64_t>() : 0);
    size *= std::clamp<std::int64_t>(shape.back(), 0, column.row_size + 1);
    size = std::min(size, column.row_size + 1);
  }
  if (!shape.empty() && size == column.row_size) return shape;
  return column.list ? std::vector{column.row_size} : std::vector<std::int64_t>();
}

SpacePart part_of_space(const ArrowColumn& column, const Json& metadata) {
  const auto& top = column.path[0];
  auto space = top == kMinariSeen   ? minari_space(metadata, "observation_space")
               : top == kMinariDone ? minari_space(metadata, "action_space")
                                    : Json();
  SpacePart part{column, {top}, {}};
  for (std::size_t depth = 1; depth < column.path.size(); ++depth) {
    const auto& name = column.path[depth];
    const auto inside = space.is_object() ? space.value("subspaces", Json()) : Json();
    part.path.push_back(inside.is_array() ? "_index_" + name : name);
    space = subspace(inside, name);
  }
  part.shape = shape_in(space, column);
  return part;
}

ArrayKind array_kind(ParquetKind kind) {
  switch (kind) {
    case ParquetKind::kFloat:
      return ArrayKind::kFloat;
    case ParquetKind::kInteger:
      return ArrayKind::kInteger;
    case ParquetKind::kBool:
      return ArrayKind::kBool;
    default:
      return ArrayKind::kText;
  }
}

/// A row for each step of all episodes; the last row of a table, which has no action, is not there.
class MinariArrays final : public NamedArrays {
 public:
  MinariArrays(const MinariTables& tables, bool lenient) : NamedArrays(tables.data) {
    for (const auto& episode : tables.episodes) add_episode(episode, lenient);
    if (episodes_.empty())
      throw DataFormatError("{} has no episode with a step, expected at least one", file());
    std::vector<SpacePart> parts;
    for (const auto& column : open(0).columns())
      if (column.kind != ParquetKind::kOther && column.path[0] != kMinariEpisode)
        parts.push_back(part_of_space(column, tables.metadata));
    std::ranges::sort(parts, comes_before);
    for (const auto& part : parts) add_array(part);
    list_.push_back(
        {.name = kMinariEpisode, .kind = ArrayKind::kInteger, .shape = {steps()}, .columns = {}});
  }

  const std::vector<const MinariEpisode*>& episodes() const { return episodes_; }
  const std::vector<std::string>& empty() const { return empty_; }

  Place place(const NamedArray& array, std::int64_t row) const override {
    if (array.name == kMinariEpisode) return {where(array.name), row};
    const auto at = episode_of(row);
    return {open(at).where(column_.at(array.name)), row - offsets_[at]};
  }
  void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
            float* out) const override {
    read_numbers(array, begin, end, out);
  }
  void read(const NamedArray& array, std::int64_t begin, std::int64_t end,
            std::int64_t* out) const override {
    read_numbers(array, begin, end, out);
  }
  std::vector<std::string> read_text(const NamedArray& array, std::int64_t begin,
                                     std::int64_t end) const override {
    std::vector<std::string> texts;
    for_each_episode(begin, end, [&](std::size_t at, std::int64_t from, std::int64_t to) {
      for (auto& text : open(at).read_texts(column_.at(array.name), from, to))
        texts.push_back(std::move(text));
    });
    return texts;
  }

 private:
  void add_episode(const MinariEpisode& episode, bool lenient) {
    const auto steps = open_arrow_file(episode.table)->rows() - 1;
    const auto stated = episode.metadata.value("total_steps", Json());
    if (stated.is_number_integer() && stated != Json(steps))
      throw DataFormatError("'{}' has {} rows, expected {} ('total_steps' of '{}', and one more)",
                            episode.table.string(), steps + 1, stated.get<std::int64_t>() + 1,
                            episode.metadata_file().string());
    if (steps > 0) {
      episodes_.push_back(&episode);
      offsets_.push_back(offsets_.back() + steps);
    } else if (lenient) {
      empty_.push_back(episode.id());
    } else {
      throw DataFormatError("'{}' has no steps, expected at least one; remove empty episodes",
                            episode.table.string());
    }
  }

  void add_array(const SpacePart& part) {
    NamedArray array{.name = fmt::format("{}", fmt::join(part.path, "/")),
                     .kind = array_kind(part.column.kind),
                     .shape = {steps()},
                     .columns = {},
                     .is_byte = part.column.is_byte};
    array.shape.insert(array.shape.end(), part.shape.begin(), part.shape.end());
    if (part.path.size() > 1) {  // called without the dictionary's own name
      const auto called = array.name.substr(part.path[0].size() + 1);
      array.columns = ArrayKey{.name = called}.names(array.row_size());
    }
    column_.emplace(array.name, part.column);
    list_.push_back(std::move(array));
  }

  std::int64_t steps() const { return offsets_.back(); }

  std::size_t episode_of(std::int64_t step) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(offsets_, step) - offsets_.begin()) -
           1;
  }

  /// Kept open: the next rows asked for are mostly of the same episode.
  const ArrowFile& open(std::size_t at) const {
    if (opened_ != at || !open_) {
      open_.reset();
      open_ = open_arrow_file(episodes_[at]->table);
      opened_ = at;
    }
    return *open_;
  }

  /// Calls use(episode, its first row, the end of its rows) for what steps [begin, end) are.
  template <class Use>
  void for_each_episode(std::int64_t begin, std::int64_t end, Use use) const {
    for (auto at = episode_of(begin); begin < end; ++at) {
      const auto last = std::min(end, offsets_[at + 1]);
      use(at, begin - offsets_[at], last - offsets_[at]);
      begin = last;
    }
  }

  template <class T>
  void read_numbers(const NamedArray& array, std::int64_t begin, std::int64_t end, T* out) const {
    for_each_episode(begin, end, [&](std::size_t at, std::int64_t from, std::int64_t to) {
      if (array.name == kMinariEpisode)
        std::fill_n(out, to - from, static_cast<T>(at));
      else
        open(at).read(column_.at(array.name), from, to, out);
      out += (to - from) * array.row_size();
    });
  }

  std::vector<const MinariEpisode*> episodes_;
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::string> empty_;
  std::map<std::string, ArrowColumn, std::less<>> column_;
  mutable std::unique_ptr<const ArrowFile> open_;
  mutable std::size_t opened_ = 0;
};

/// Numbers other than images that are in the dictionary `name`; the name itself where it is none.
std::vector<std::string> usual_keys(const NamedArrays& arrays, const std::string& name) {
  std::vector<std::string> keys;
  for (const auto& array : arrays.list())
    if (array.name.starts_with(name + "/") && array.is_number() && array.shape.size() <= 2)
      keys.push_back(array.name);
  return keys.empty() ? std::vector{name} : keys;
}

/// A key names something in the dictionary or else in the table.
std::vector<std::string> full_keys(const NamedArrays& arrays, const std::string& name,
                                   const std::vector<std::string>& keys) {
  if (keys.empty()) return usual_keys(arrays, name);
  std::vector<std::string> full;
  for (const auto& key : keys) {
    const auto inside = name + "/" + parse_array_key(key).name;
    const bool there = std::ranges::any_of(arrays.list(), [&](const auto& array) {
      return array.name == inside || array.name.starts_with(inside + "/");
    });
    full.push_back(there ? name + "/" + key : key);
  }
  return full;
}

ReadOptions with_minari_names(const NamedArrays& arrays, ReadOptions options) {
  for (const auto& key : {options.episode_key, options.mask_key})
    if (!key.empty())
      throw InvalidArgument(
          "'{}' cannot say where episodes end: in {} each has a folder of its own", key,
          arrays.file());
  options.obs_keys = full_keys(arrays, kMinariSeen, options.obs_keys);
  options.action_keys = full_keys(arrays, kMinariDone, options.action_keys);
  if (options.done_keys.empty())
    for (const char* flag : {"terminations", "truncations"})
      if (arrays.find(flag)) options.done_keys.emplace_back(flag);
  options.episode_key = kMinariEpisode;
  return options;
}

/// What the metadata of the episodes say of who made them; nothing where none does.
FoundLabels labels_of_episodes(const std::vector<const MinariEpisode*>& episodes,
                               const std::string& key) {
  std::vector<std::string> texts;
  for (const auto* episode : episodes) {
    const auto label = episode->metadata.value(key, Json());
    texts.push_back(label.is_string()           ? printable(label.get<std::string>())
                    : label.is_number_integer() ? label.dump()
                                                : "");
  }
  const bool any = std::ranges::any_of(texts, [](const auto& text) { return !text.empty(); });
  return any ? labels_from(std::move(texts)) : FoundLabels{};
}

}  // namespace

Trajectories read_minari_tables(const MinariTables& tables, const ReadOptions& options) {
  const MinariArrays arrays(tables, options.lenient);
  auto named = with_minari_names(arrays, options);
  const auto labels = labels_of_episodes(arrays.episodes(), options.label_key);
  const bool found = tables.found_by_kindred(options.label_key);
  if (found || labels.size() > 0) named.label_key = ReadOptions{}.label_key;  // not asked of steps
  Trajectories data = read_keyed(arrays, named);
  data.ids.clear();
  for (const auto* episode : arrays.episodes()) data.ids.push_back(episode->id());
  if (found || labels.size() > 0) {
    data.labels = {};
    data.label_names = {};
  }
  if (found)
    data.provenance["labels"] = kFoundLabels;
  else if (labels.size() > 0)
    set_labels(data, labels, arrays.file());
  if (!arrays.empty().empty()) data.provenance["empty_episodes"] = arrays.empty();
  state_minari_actions(data, tables.metadata);
  return data;
}

}  // namespace kindred
