#include "kindred/data/hdf5_steps.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <type_traits>

#include "kindred/core/error.h"
#include "kindred/data/checks.h"

namespace kindred::hdf5 {
namespace {

constexpr int kDeepestNesting = 8;  // a damaged group can contain itself
constexpr const char* kActionCount = "action_count";

template <class T>
std::vector<T> allocate(std::int64_t steps, std::int64_t dim) {
  return std::vector<T>(static_cast<std::size_t>(steps * dim));
}

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

/// The arrays that make up an observation, relative to a group of steps.
std::vector<std::string> observation_arrays(const InputFile& file, const std::string& group,
                                            const std::string& name,
                                            const std::vector<std::string>& keys) {
  const std::string path = join(group, name);
  if (!file.has_group(path)) {
    if (!keys.empty() && file.has_dataset(path))
      throw InvalidArgument("observation key '{}' cannot be chosen: {} is one array without keys",
                            keys[0], file.where(path));
    return {name};
  }
  std::vector<std::string> arrays;
  list_arrays(file, path, "", 0, arrays);
  std::vector<std::string> chosen;
  for (const auto& key : keys) {
    const auto before = chosen.size();
    std::ranges::copy_if(arrays, std::back_inserter(chosen),
                         [&](const auto& array) { return selects(key, array); });
    if (chosen.size() == before)
      throw InvalidArgument("unknown observation key '{}': '{}' group '{}' holds {}", key,
                            file.path().string(), path, fmt::join(arrays, ", "));
  }
  if (keys.empty())
    std::ranges::copy_if(arrays, std::back_inserter(chosen), [&](const auto& array) {
      return joined_by_default(file, join(path, array));
    });
  if (chosen.empty())
    throw DataFormatError(
        "'{}' group '{}' has no numeric arrays of rank 1 or 2, expected "
        "observations; it holds {}; name images to use them",
        file.path().string(), path, fmt::join(arrays, ", "));
  for (auto& array : chosen) array = join(name, array);
  return chosen;
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
    measure();
    Trajectories data;
    data.observations = read_observations();
    data.actions = read_actions();
    data.rewards = read_rewards();
    data.terminals = read_flags(layout_.terminals);
    data.timeouts = read_flags(layout_.timeouts);
    data.offsets = std::move(offsets_);
    return data;
  }

 private:
  /// Lengths come from the actions: every step has one.
  void measure() {
    for (const auto& group : groups_) {
      const auto actions = file_.dataset(join(group, layout_.actions));
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

  std::int64_t steps() const { return offsets_.back(); }
  std::int64_t length(std::size_t group) const { return offsets_[group + 1] - offsets_[group]; }

  Dataset open(std::size_t group, const std::string& name, std::int64_t row_size,
               std::int64_t extra_rows = 0) const {
    return open_rows(
        file_, groups_[group], name, length(group) + extra_rows, row_size,
        extra_rows ? "one more than there are actions" : "as many as there are actions");
  }

  Observations read_observations() const {
    const auto arrays =
        observation_arrays(file_, groups_[0], layout_.observations, options_.observation_keys);
    std::vector<std::int64_t> sizes;
    bool bytes = true;
    for (const auto& array : arrays) {
      const auto first = file_.dataset(join(groups_[0], array));
      if (first.row_size() == 0)
        throw DataFormatError("{} has shape {}, expected at least one number per row",
                              first.where(), shape_text(first.shape()));
      sizes.push_back(first.row_size());
      bytes = bytes && first.is_byte();
    }
    const std::int64_t extra = layout_.final_observation ? 1 : 0;
    if (bytes) return dense<std::uint8_t>(arrays, sizes, extra);
    return dense<float>(arrays, sizes, extra);
  }

  template <class T>
  Observations dense(const std::vector<std::string>& arrays, const std::vector<std::int64_t>& sizes,
                     std::int64_t extra) const {
    return Observations::dense(read_joined<T>(arrays, sizes, extra),
                               std::reduce(sizes.begin(), sizes.end()));
  }

  /// Rows with the arrays, of `sizes` numbers each, side by side.
  template <class T>
  std::vector<T> read_joined(const std::vector<std::string>& arrays,
                             const std::vector<std::int64_t>& sizes,
                             std::int64_t extra_rows = 0) const {
    const std::int64_t dim = std::reduce(sizes.begin(), sizes.end());
    auto out = allocate<T>(steps(), dim);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      T* corner = out.data() + offsets_[g] * dim;
      for (std::size_t a = 0; a < arrays.size(); ++a) {
        read_beside(open(g, arrays[a], sizes[a], extra_rows), length(g), corner, dim);
        corner += sizes[a];
      }
    }
    return out;
  }

  /// Reads rows to corner, corner + dim, corner + 2 dim, …
  template <class T>
  void read_beside(const Dataset& dataset, std::int64_t rows, T* corner, std::int64_t dim) const {
    const std::int64_t size = dataset.row_size();
    const auto check = [&](std::int64_t row, std::span<const T> values) {
      if constexpr (std::is_floating_point_v<T>)
        if (!options_.lenient) check_finite(values, row, size, dataset.where());
    };
    if (size == dim) {  // straight into its place
      dataset.read(0, rows, corner);
      check(0, {corner, static_cast<std::size_t>(rows * size)});
      return;
    }
    dataset.for_each_block<T>(0, rows, [&](std::int64_t row, std::span<const T> block) {
      check(row, block);
      for (std::size_t i = 0; i < block.size(); i += static_cast<std::size_t>(size), ++row)
        std::copy_n(block.data() + i, size, corner + row * dim);
    });
  }

  Actions read_actions() const {
    const auto first = file_.dataset(join(groups_[0], layout_.actions));
    const bool discrete =
        options_.actions == ReadActionsAs::kDiscrete ||
        (options_.actions == ReadActionsAs::kAuto && first.kind() == Kind::kInteger);
    const std::int64_t dim = first.row_size();
    if (dim == 0)
      throw DataFormatError("{} has shape {}, expected at least one number per row", first.where(),
                            shape_text(first.shape()));
    if (!discrete) return Actions::continuous(read_joined<float>({layout_.actions}, {dim}), dim);
    if (dim != 1)
      throw DataFormatError(
          "{} has shape {}, expected one whole number per step for discrete "
          "actions; for several use the option actions = continuous",
          first.where(), shape_text(first.shape()));
    auto values = read_converted<std::int32_t>(
        layout_.actions, [](auto block, std::int64_t row, const std::string& where, auto* out) {
          to_discrete(block, row, where, out);
        });
    const std::int64_t used = *std::ranges::max_element(values) + 1;
    const auto stated =
        file_.integer_attribute(join(groups_[0], layout_.actions), kActionCount).value_or(used);
    return Actions::discrete(std::move(values),
                             stated >= used && stated <= kMaxActions ? stated : used);
  }

  /// Reads one number per step of every group through convert(block, first row, where, out).
  template <class T, class Convert>
  std::vector<T> read_converted(const std::string& name, Convert convert) const {
    auto out = allocate<T>(steps(), 1);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const auto dataset = open(g, name, 1);
      T* target = out.data() + offsets_[g];
      const auto take = [&](std::int64_t row, auto block) {
        convert(block, row, dataset.where(), target + row);
      };
      if (dataset.kind() == Kind::kInteger)
        dataset.for_each_block<std::int64_t>(0, length(g), take);
      else
        dataset.for_each_block<double>(0, length(g), take);
    }
    return out;
  }

  bool present(const std::string& name) const {
    return !name.empty() && file_.has_dataset(join(groups_[0], name));
  }

  /// As they are: no policy is found by rewards, so one that is not a number spoils nothing.
  Column<float> read_rewards() const {
    if (!present(layout_.rewards)) return {};
    auto rewards = allocate<float>(steps(), 1);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      open(g, layout_.rewards, 1).read(0, length(g), rewards.data() + offsets_[g]);
    return rewards;
  }

  Column<std::uint8_t> read_flags(const std::string& name) const {
    if (!present(name)) return {};
    return read_converted<std::uint8_t>(
        name, [](auto block, std::int64_t row, const std::string& where, auto* out) {
          to_flags(block, row, where, out);
        });
  }

  const InputFile& file_;
  const std::vector<std::string>& groups_;
  const StepLayout& layout_;
  const ReadOptions& options_;
  std::vector<std::int64_t> offsets_{0};
};

}  // namespace

std::string join(const std::string& group, const std::string& name) {
  return group.empty() ? name : group + "/" + name;
}

Trajectories read_steps(const InputFile& file, const std::vector<std::string>& groups,
                        const StepLayout& layout, const ReadOptions& options) {
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
