#include "kindred/data/hdf5_steps.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>

#include "kindred/core/error.h"
#include "kindred/data/array_keys.h"
#include "kindred/data/checks.h"
#include "kindred/data/episodes.h"
#include "kindred/data/mapping.h"
#include "kindred/data/memory_promise.h"
#include "kindred/data/sparse.h"

namespace kindred::hdf5 {
namespace {

constexpr int kDeepestNesting = 8;  // a damaged group can contain itself
constexpr const char* kActionCount = "action_count";

/// Steps [begin, end).
struct StepRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  /// What it has of the `length` steps from `first` on, counted from there.
  StepRange inside(std::int64_t first, std::int64_t length) const {
    const auto from = std::clamp<std::int64_t>(begin - first, 0, length);
    return {from, std::clamp<std::int64_t>(end - first, from, length)};
  }
};

/// Arrays inside `group`, at any depth, as paths relative to it.
void list_arrays(const InputFile& file, const std::string& group, const std::string& inside,
                 int depth, std::vector<std::string>& found) {
  const std::string here = inside.empty() ? group : join(group, inside);
  if (depth > kDeepestNesting)
    throw DataFormatError("{} is nested more than {} deep, expected arrays", file.where(here),
                          kDeepestNesting);
  for (const auto& child : file.children(here)) {
    const std::string path = join(inside, child);
    if (file.has_group(join(group, path)))
      list_arrays(file, group, path, depth + 1, found);
    else
      found.push_back(path);
  }
}

/// A key names an array, or a group and with it all arrays inside.
bool selects(const std::string& key, const std::string& array) {
  return array == key || array.starts_with(key + "/");
}

/// An array of numbers other than an image.
bool joined_by_default(const InputFile& file, const std::string& name) {
  try {
    const auto dataset = file.dataset(name);
    return dataset.is_number() && dataset.shape().size() <= 2;
  } catch (const DataFormatError&) {
    return false;  // text in a dictionary is no reason to refuse the rest
  }
}

/// One of the arrays that stand side by side in a row of observations or actions.
struct Part {
  Part(ArrayKey the_key, std::string the_name)
      : key(std::move(the_key)), called(std::move(the_name)) {}

  ArrayKey key;            ///< Its name in a group of steps, and which of its numbers.
  std::string called;      ///< As people know it: without the dictionary's own name.
  std::int64_t width = 0;  ///< Numbers per row of the array, not all of which are taken.
  std::int64_t begin = 0, end = 0;
  std::int64_t extra_rows = 0;
  bool is_byte = false, is_integer = false, is_image = false;

  std::int64_t size() const { return end - begin; }
};

std::int64_t total_size(const std::vector<Part>& parts) {
  std::int64_t size = 0;
  for (const auto& part : parts) size += part.size();
  return size;
}

/// What an array, or a dictionary of arrays, of a group of steps is made of.
class PartFinder {
 public:
  /// `what` is "observation" or "action", `name` what the format calls it.
  PartFinder(const InputFile& file, std::string group, std::string name, const char* what)
      : file_(file), group_(std::move(group)), name_(std::move(name)), what_(what) {
    if (file_.has_group(path())) list_arrays(file_, path(), "", 0, inside_);
  }

  std::vector<Part> find(const std::vector<std::string>& keys) const {
    std::vector<Part> parts;
    for (const auto& key : keys) add_chosen(parse_array_key(key), parts);
    if (!keys.empty()) return parts;
    if (!file_.has_group(path())) return {Part(ArrayKey{.name = name_}, name_)};
    for (const auto& array : inside_)
      if (joined_by_default(file_, join(path(), array)))
        parts.emplace_back(ArrayKey{.name = join(name_, array)}, array);
    if (parts.empty())
      throw DataFormatError(
          "'{}' group '{}' has no numeric arrays of rank 1 or 2, expected "
          "{}s; it holds {}; name images to use them",
          file_.path().string(), path(), what_, fmt::join(inside_, ", "));
    return parts;
  }

 private:
  std::string path() const { return join(group_, name_); }

  /// A key names something in the dictionary or else in the group of steps.
  void add_chosen(const ArrayKey& key, std::vector<Part>& parts) const {
    const auto before = parts.size();
    for (const auto& array : inside_)
      if (selects(key.name, array))
        parts.emplace_back(ArrayKey{join(name_, array), key.begin, key.end}, array);
    if (parts.size() == before) add_beside(key, parts);
    if (parts.size() == before)
      throw InvalidArgument("unknown {} key '{}': '{}' group '{}' holds {}", what_, key.name,
                            file_.path().string(), inside_.empty() ? group_ : path(),
                            fmt::join(inside_.empty() ? file_.children(group_) : inside_, ", "));
    if (parts.size() > before + 1 && !key.whole())
      throw InvalidArgument("'{}' names {} arrays, of which no part can be taken; name them singly",
                            key.name, parts.size() - before);
  }

  void add_beside(const ArrayKey& key, std::vector<Part>& parts) const {
    const auto beside = join(group_, key.name);
    if (file_.has_dataset(beside)) parts.emplace_back(key, key.name);
    if (!file_.has_group(beside)) return;
    std::vector<std::string> arrays;
    list_arrays(file_, beside, "", 0, arrays);
    for (const auto& array : arrays)
      parts.emplace_back(ArrayKey{join(key.name, array), key.begin, key.end}, array);
  }

  const InputFile& file_;
  std::string group_, name_;
  const char* what_;
  std::vector<std::string> inside_;  ///< Arrays of the dictionary, where it is one.
};

/// What the numbers of a row are called; nobody names pixels, nor the only array there is.
std::vector<std::string> names_of(const std::vector<Part>& parts) {
  const auto& first = parts[0];
  const bool plain = parts.size() == 1 && first.key.whole() && first.called == first.key.name;
  if (plain || std::ranges::any_of(parts, &Part::is_image)) return {};
  std::vector<std::string> names;
  for (const auto& part : parts)
    for (auto& name : ArrayKey{part.called, part.begin, part.end}.names(part.width))
      names.push_back(std::move(name));
  return names;
}

/// Opens a group's dataset of numbers and checks how many rows and numbers per row it has.
Dataset open_rows(const InputFile& file, const std::string& group, const std::string& name,
                  std::int64_t rows, std::int64_t row_size, const std::string& why) {
  auto dataset = file.dataset(join(group, name));
  if (!dataset.is_number())
    throw DataFormatError("{} holds text, expected numbers", dataset.where());
  if (dataset.shape().empty())
    throw DataFormatError("{} is a single number, expected an array of {} rows", dataset.where(),
                          rows);
  if (dataset.rows() != rows)
    throw DataFormatError("{} has {} rows, expected {} ({})", dataset.where(), dataset.rows(), rows,
                          why);
  if (dataset.row_size() != row_size)
    throw DataFormatError("{} has shape {}, expected {} per row{}", dataset.where(),
                          shape_text(dataset.shape()),
                          row_size == 1 ? "one number" : fmt::format("{} numbers", row_size),
                          group.empty() ? "" : " as in the first episode");
  return dataset;
}

/// Reads all groups' columns into final storage; every dataset is opened once, when it is read.
class StepReader {
 public:
  StepReader(const InputFile& file, const std::vector<std::string>& groups,
             const StepLayout& layout, const ReadOptions& options)
      : file_(file), groups_(groups), layout_(layout), options_(options) {}

  Trajectories read() {
    auto seen =
        PartFinder(file_, groups_[0], layout_.observations, "observation").find(options_.obs_keys);
    auto done = PartFinder(file_, groups_[0], layout_.actions, "action").find(options_.action_keys);
    measure(done[0].key.name);
    for (auto& part : seen) complete(part, layout_.final_observation, options_.obs_keys.empty());
    for (auto& part : done) complete(part, false, true);
    Trajectories data;
    data.terminals = read_flags(layout_.terminals);
    data.timeouts = read_flags(layout_.timeouts);
    hold_own(data);
    data.observations = read_observations(seen);
    data.actions = read_actions(done);
    data.observation_names = names_of(seen);
    if (!data.actions.is_discrete()) data.action_names = names_of(done);
    data.rewards = read_rewards();
    data.offsets = std::move(offsets_);
    return data;
  }

 private:
  /// Lengths come from the actions: every step has one.
  void measure(const std::string& name) {
    for (const auto& group : groups_) {
      const auto actions = file_.dataset(join(group, name));
      if (!actions.is_number() || actions.shape().empty())
        throw DataFormatError(
            "{} holds {} of shape {}, expected numbers of shape [steps] or "
            "[steps, actions]",
            actions.where(), to_string(actions.kind()), shape_text(actions.shape()));
      const std::int64_t length = actions.rows();
      if (length == 0)
        throw DataFormatError("{} has 0 rows, expected at least one step; remove empty episodes",
                              actions.where());
      const auto promised = layout_.length_attribute.empty()
                                ? std::nullopt
                                : file_.integer_attribute(group, layout_.length_attribute);
      if (promised && *promised != length)
        throw DataFormatError("{} has {} rows, expected {} (attribute '{}' of '{}')",
                              actions.where(), length, *promised, layout_.length_attribute, group);
      offsets_.push_back(offsets_.back() + length);
    }
  }

  /// Fills in what the first episode says of an array. Where one more row than steps is usual, an
  /// array that was asked for may be without it.
  void complete(Part& part, bool final_row, bool always) const {
    const auto first = file_.dataset(join(groups_[0], part.key.name));
    part.width = first.row_size();
    if (part.width == 0)
      throw DataFormatError("{} has shape {}, expected at least one number per row", first.where(),
                            shape_text(first.shape()));
    std::tie(part.begin, part.end) = part.key.range(part.width, first.where());
    part.extra_rows = final_row && (always || first.rows() == length(0) + 1) ? 1 : 0;
    part.is_byte = first.is_byte();
    part.is_integer = first.kind() == Kind::kInteger;
    part.is_image = first.shape().size() > 2;
  }

  /// Which steps are read: all, or where others hold the rest those of some episodes, which in one
  /// group end where flags say so.
  void hold_own(Trajectories& data) {
    held_ = {0, steps()};
    if (!options_.own) return;
    const auto episodes = layout_.one_episode_each
                              ? offsets_
                              : cut_episodes(steps(), data.terminals.span(), data.timeouts.span(),
                                             options_.episode_cap, options_.keep_partial);
    if (episodes.size() < 2) return;  // there are none, which is said later
    data.held = options_.own(episodes);
    held_ = {episodes[static_cast<std::size_t>(data.held->begin)],
             episodes[static_cast<std::size_t>(data.held->end)]};
  }

  bool holds_all() const { return held_.begin == 0 && held_.end == steps(); }

  std::int64_t steps() const { return offsets_.back(); }
  std::int64_t length(std::size_t group) const { return offsets_[group + 1] - offsets_[group]; }

  Dataset open(std::size_t group, const std::string& name, std::int64_t row_size,
               std::int64_t extra_rows = 0) const {
    return open_rows(
        file_, groups_[group], name, length(group) + extra_rows, row_size,
        extra_rows ? "one more than there are actions" : "as many as there are actions");
  }

  Observations read_observations(const std::vector<Part>& parts) const {
    if (std::ranges::all_of(parts, &Part::is_byte))
      return Observations::dense(read_joined<std::uint8_t>(parts), total_size(parts));
    return Observations::dense(read_joined<float>(parts), total_size(parts));
  }

  /// Rows with the parts side by side.
  template <class T>
  Column<T> read_joined(const std::vector<Part>& parts) const {
    if (auto mapped = map_rows<T>(parts)) return *mapped;
    const std::int64_t dim = total_size(parts);
    NewColumn<T> out(steps() * dim, !holds_all());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto rows = held_.inside(offsets_[g], length(g));
      if (rows.begin == rows.end) continue;
      T* corner = out.data() + offsets_[g] * dim;
      for (const auto& part : parts) {
        read_beside(open(g, part.key.name, part.width, part.extra_rows), part, rows, corner, dim);
        corner += part.size();
      }
    }
    return out.column();
  }

  /// Where memory is promised, and the file holds one array exactly as it is wanted.
  template <class T>
  std::optional<Column<T>> map_rows(const std::vector<Part>& parts) const {
    const auto& part = parts[0];
    if (!memory_is_promised() || groups_.size() > 1 || parts.size() > 1 ||
        part.size() != part.width)
      return std::nullopt;
    const auto dataset = open(0, part.key.name, part.width, part.extra_rows);
    const auto offset = dataset.file_offset<T>();
    const auto count = static_cast<std::size_t>(steps() * part.width);
    if (!offset || *offset > file_.size() || count * sizeof(T) > file_.size() - *offset)
      return std::nullopt;
    const auto map = std::make_shared<const MappedFile>(file_.path(), file_.size());
    if (!*map) return std::nullopt;
    const Column<T> rows({reinterpret_cast<const T*>(map->data() + *offset), count}, map);
    if constexpr (std::is_same_v<T, float>)
      if (!options_.lenient)
        check_finite(
            rows.slice(held_.begin * part.width, (held_.end - held_.begin) * part.width).span(),
            held_.begin, part.width, dataset.where());
    return rows;
  }

  /// Reads rows to their places corner, corner + dim, corner + 2 dim, …
  template <class T>
  void read_beside(const Dataset& dataset, const Part& part, const StepRange& rows, T* corner,
                   std::int64_t dim) const {
    const auto check = [&](std::int64_t row, std::span<const T> values) {
      if constexpr (std::is_same_v<T, float>)
        if (!options_.lenient) check_finite(values, row, part.width, dataset.where());
    };
    if (part.width == dim && part.size() == dim) {  // straight into its place
      T* first = corner + rows.begin * dim;
      dataset.read(rows.begin, rows.end, first);
      check(rows.begin, {first, static_cast<std::size_t>((rows.end - rows.begin) * dim)});
      return;
    }
    dataset.for_each_block<T>(
        rows.begin, rows.end, [&](std::int64_t row, std::span<const T> block) {
          check(row, block);
          for (std::size_t i = 0; i < block.size();
               i += static_cast<std::size_t>(part.width), ++row)
            std::copy_n(block.data() + i + part.begin, part.size(), corner + row * dim);
        });
  }

  Actions read_actions(const std::vector<Part>& parts) const {
    const auto first = file_.dataset(join(groups_[0], parts[0].key.name));
    const bool integers = std::ranges::all_of(parts, &Part::is_integer) && parts.size() == 1;
    const bool discrete = options_.actions == ReadActionsAs::kDiscrete ||
                          (options_.actions == ReadActionsAs::kAuto && integers);
    const std::int64_t dim = total_size(parts);
    if (!discrete) return Actions::continuous(read_joined<float>(parts), dim);
    if (dim != 1)
      throw DataFormatError(
          "{} has shape {}, expected one whole number per step for discrete "
          "actions; for several use the option actions = continuous",
          first.where(), shape_text(first.shape()));
    auto values = parts[0].width == 1 ? read_whole(parts[0].key.name) : read_column(parts);
    const auto held = values.span().subspan(static_cast<std::size_t>(held_.begin),
                                            static_cast<std::size_t>(held_.end - held_.begin));
    const std::int64_t used = held.empty() ? 1 : *std::ranges::max_element(held) + 1;
    const auto stated =
        file_.integer_attribute(join(groups_[0], parts[0].key.name), kActionCount).value_or(used);
    return Actions::discrete(values.column(),
                             stated >= used && stated <= kMaxActions ? stated : used);
  }

  NewColumn<std::int32_t> read_whole(const std::string& name) const {
    return read_converted<std::int32_t>(
        name, held_, [](auto block, std::int64_t row, const std::string& where, auto* out) {
          to_discrete(block, row, where, out);
        });
  }

  /// Discrete actions that are one column of several.
  NewColumn<std::int32_t> read_column(const std::vector<Part>& parts) const {
    const auto numbers = read_joined<double>(parts);
    NewColumn<std::int32_t> values(steps(), !holds_all());
    to_discrete<double>(numbers.span().subspan(static_cast<std::size_t>(held_.begin),
                                               static_cast<std::size_t>(held_.end - held_.begin)),
                        held_.begin, file_.where(parts[0].key.name), values.data() + held_.begin);
    return values;
  }

  /// Reads one number for each of the steps through convert(block, first row, where, out).
  template <class T, class Convert>
  NewColumn<T> read_converted(const std::string& name, const StepRange& of, Convert convert) const {
    NewColumn<T> out(steps(), of.begin > 0 || of.end < steps());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto rows = of.inside(offsets_[g], length(g));
      if (rows.begin == rows.end) continue;
      const auto dataset = open(g, name, 1);
      T* target = out.data() + offsets_[g];
      const auto take = [&](std::int64_t row, auto block) {
        convert(block, row, dataset.where(), target + row);
      };
      if (dataset.kind() == Kind::kInteger)
        dataset.for_each_block<std::int64_t>(rows.begin, rows.end, take);
      else
        dataset.for_each_block<double>(rows.begin, rows.end, take);
    }
    return out;
  }

  /// What is asked for by name must be there, and is missed when it is opened.
  bool present(const std::string& name) const {
    const bool asked = name == options_.reward_key || std::ranges::count(options_.done_keys, name);
    return !name.empty() && (asked || file_.has_dataset(join(groups_[0], name)));
  }

  /// As they are: no policy is found by rewards, so one that is not a number spoils nothing.
  Column<float> read_rewards() const {
    if (!present(layout_.rewards)) return {};
    NewColumn<float> rewards(steps(), false);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      open(g, layout_.rewards, 1).read(0, length(g), rewards.data() + offsets_[g]);
    return rewards.column();
  }

  Column<std::uint8_t> read_flags(const std::string& name) const {
    if (!present(name)) return {};
    return read_converted<std::uint8_t>(name, {0, steps()},
                                        [](auto block, std::int64_t row, const std::string& where,
                                           auto* out) { to_flags(block, row, where, out); })
        .column();
  }

  const InputFile& file_;
  const std::vector<std::string>& groups_;
  const StepLayout& layout_;
  const ReadOptions& options_;
  std::vector<std::int64_t> offsets_{0};
  StepRange held_;
};

}  // namespace

std::string join(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

Trajectories read_steps(const InputFile& file, const std::vector<std::string>& groups,
                        StepLayout layout, const ReadOptions& options) {
  if (!options.reward_key.empty()) layout.rewards = options.reward_key;
  if (!options.done_keys.empty()) {
    layout.terminals = options.done_keys[0];
    layout.timeouts = options.done_keys.size() > 1 ? options.done_keys[1] : "";
  }
  for (const auto& key : {options.episode_key, options.mask_key})
    if (!key.empty())
      throw InvalidArgument(
          "'{}' cannot say where episodes end: in '{}' each is a group of its own, such as '{}'",
          key, file.path().string(), groups[0]);
  return StepReader(file, groups, layout, options).read();
}

std::vector<std::string> numbered_children(const InputFile& file, const std::string& parent,
                                           const std::string& prefix) {
  std::vector<std::string> paths;
  for (const auto& child : file.children(parent)) {
    const bool numbered = child.starts_with(prefix) && child.size() > prefix.size() &&
                          child.find_first_not_of("0123456789", prefix.size()) == std::string::npos;
    if (numbered) paths.push_back(join(parent, child));
  }
  return paths;
}

std::vector<std::string> remove_empty(const InputFile& file, std::vector<std::string>& groups,
                                      const StepLayout& layout) {
  const auto empty = std::ranges::stable_partition(groups, [&](const std::string& group) {
    const auto actions = file.dataset(join(group, layout.actions));
    return actions.shape().empty() || actions.rows() > 0;
  });
  std::vector<std::string> removed(empty.begin(), empty.end());
  groups.erase(empty.begin(), empty.end());
  return removed;
}

void write_observations(OutputFile& file, const std::string& name, const Observations& rows,
                        std::int64_t begin, std::int64_t end, bool repeat_last) {
  const std::int64_t dim = rows.dim(), extra = repeat_last ? 1 : 0;
  const std::vector<std::int64_t> shape{end - begin + extra, dim};
  // Row i of the file is step begin + i; the row after the last step repeats it.
  const auto for_each_step = [&](std::int64_t from, std::int64_t to, auto copy) {
    for (std::int64_t row = from; row < to; ++row) copy(std::min(begin + row, end - 1));
  };
  if (rows.is_bytes()) {
    file.write_blocks<std::uint8_t>(name, shape, [&](auto from, auto to, std::uint8_t* out) {
      for_each_step(from, to, [&](std::int64_t step) {
        out = std::copy_n(rows.bytes().data() + step * dim, dim, out);
      });
    });
  } else {
    file.write_blocks<float>(name, shape, [&](auto from, auto to, float* out) {
      for_each_step(from, to, [&](std::int64_t step) {
        rows.copy(step, step + 1, out);
        out += dim;
      });
    });
  }
}

void write_actions(OutputFile& file, const std::string& name, const Actions& actions,
                   std::int64_t begin, std::int64_t end) {
  const auto part = [&](auto values, std::int64_t dim) {
    return values.subspan(static_cast<std::size_t>(begin * dim),
                          static_cast<std::size_t>((end - begin) * dim));
  };
  if (actions.is_discrete()) {
    file.write(name, part(actions.ints().span(), 1), {end - begin});
    file.write_attribute(name, kActionCount, actions.count());
  } else {
    file.write(name, part(actions.floats().span(), actions.dim()), {end - begin, actions.dim()});
  }
}

}  // namespace kindred::hdf5
