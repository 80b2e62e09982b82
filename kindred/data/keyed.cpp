#include "kindred/data/keyed.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/data/array_keys.h"
#include "kindred/data/checks.h"
#include "kindred/data/episodes.h"
#include "kindred/data/format_readers.h"
#include "kindred/data/hdf5_labels.h"
#include "kindred/data/hdf5_steps.h"
#include "kindred/data/npz.h"
#include "kindred/data/sparse.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kBlockNumbers = 1 << 20;
constexpr std::size_t kMostShownArrays = 16;

/// How arrays are called that are likely to be what an option wants.
struct LikelyKey {
  const char* option;
  std::array<const char*, 3> beginnings;
};
constexpr std::array<LikelyKey, 5> kLikelyKeys = {{{"--obs-key", {"obs", "state", "qpos"}},
                                                   {"--action-key", {"act", "ctrl", "control"}},
                                                   {"--reward-key", {"rew", "reward", "return"}},
                                                   {"--done-key", {"done", "terminal", "is_last"}},
                                                   {"--mask-key", {"mask", "valid", "pad"}}}};

/// What an array is called in its group, where there is one for each episode: "obs" of "run_0/obs".
std::string name_in_group(const std::string& name) {
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1))
    if (slash > 0 && std::isdigit(static_cast<unsigned char>(name[slash - 1])))
      return name.substr(slash + 1);
  return name;
}

const NamedArray* likely_array(const NamedArrays& arrays, const LikelyKey& likely) {
  for (const auto* beginning : likely.beginnings)
    for (const auto& array : arrays.list()) {
      const auto name = name_in_group(array.name);
      if (array.is_number() && name.substr(name.rfind('/') + 1).starts_with(beginning))
        return &array;
    }
  return nullptr;
}

/// Columns [begin, end) of the innermost extent of an array.
struct KeyedPart {
  const NamedArray* array;
  ArrayKey key;
  std::int64_t begin = 0, end = 0;

  std::int64_t size() const { return end - begin; }
};

/// Reads the arrays the options name, or that D4RL and NPZ call by a usual name.
class KeyedReader {
 public:
  KeyedReader(const NamedArrays& arrays, const ReadOptions& options)
      : arrays_(arrays), options_(options) {}

  Trajectories read() {
    const auto& seen = first_of(options_.obs_keys, "observations");
    const auto& done = first_of(options_.action_keys, "actions");
    find_layout(seen, done);
    const auto observed = parts_of(options_.obs_keys, "observations");
    const auto taken = parts_of(options_.action_keys, "actions");
    Trajectories data;
    data.observations = read_observations(observed);
    data.actions = read_actions(taken);
    data.observation_names = names_of(observed);
    if (!data.actions.is_discrete()) data.action_names = names_of(taken);
    data.rewards = read_rewards();
    data = times_ > 0 ? with_padded_episodes(std::move(data)) : cut(std::move(data));
    read_labels(data);
    return data;
  }

 private:
  const NamedArray& require(const std::string& name) const {
    if (const auto* array = arrays_.find(name)) return *array;
    throw InvalidArgument("{} has no array '{}'; {}", arrays_.file(), name, propose_keys(arrays_));
  }

  const NamedArray* optional(const std::string& asked, const char* usual) const {
    return asked.empty() ? arrays_.find(usual) : &require(asked);
  }

  /// The arrays a key names: one, or all inside a group.
  std::vector<const NamedArray*> selected(const ArrayKey& key) const {
    if (const auto* array = arrays_.find(key.name)) return {array};
    std::vector<const NamedArray*> inside;
    for (const auto& array : arrays_.list())
      if (array.name.starts_with(key.name + "/") && array.is_number()) inside.push_back(&array);
    if (inside.empty()) require(key.name);
    return inside;
  }

  const NamedArray& first_of(const std::vector<std::string>& keys, const char* usual) const {
    return *selected(keys.empty() ? ArrayKey{.name = usual} : parse_array_key(keys[0]))[0];
  }

  [[noreturn]] void refuse(const NamedArray& array, const std::string& expected) const {
    throw DataFormatError("{} is [{}] of {}, expected {}", arrays_.where(array.name),
                          fmt::join(array.shape, ", "), to_string(array.kind), expected);
  }

  /// Padded arrays have two extents of their own before what a step holds.
  void find_layout(const NamedArray& seen, const NamedArray& done) {
    rows_ = done.rows();
    const NamedArray* shaped = nullptr;  // says how many steps there are in a row
    if (!options_.mask_key.empty()) {
      shaped = &require(options_.mask_key);
    } else if (!options_.done_keys.empty()) {
      shaped = &require(options_.done_keys[0]);
      if (shaped->shape.size() < 2 || shaped->shape[1] == 1) shaped = nullptr;
    } else if (looks_padded(seen, done)) {
      shaped = &done;
    }
    if (!shaped) return;
    if (shaped->shape.size() < 2) refuse(*shaped, "[episodes, time]");
    times_ = shaped->shape[1];
    if (seen.shape.size() < 2 || done.shape.size() < 2 || rows_ == 0 || times_ == 0)
      refuse(done, fmt::format("[episodes, time, …] as '{}' is", shaped->name));
    real_.assign(static_cast<std::size_t>(rows_ * times_), 1);
    if (!options_.mask_key.empty())
      real_ = read_flags(*shaped);
    else if (shaped != &done)
      keep_to_first_done(read_flags(*shaped));
  }

  /// Where nothing says what ends an episode but the shapes themselves.
  bool looks_padded(const NamedArray& seen, const NamedArray& done) const {
    const bool cut = !options_.episode_key.empty() || arrays_.find("offsets") ||
                     arrays_.find("terminals") || arrays_.find("timeouts");
    if (cut || seen.shape.size() != 3 || done.shape.size() < 2 || done.shape[1] < 2) return false;
    const auto more = seen.shape[1] - done.shape[1];
    return more == 0 || more == 1;
  }

  void keep_to_first_done(const StepValues<std::uint8_t>& done) {
    for (std::int64_t row = 0; row < rows_; ++row) {
      bool over = false;
      for (auto i = static_cast<std::size_t>(row * times_);
           i < static_cast<std::size_t>((row + 1) * times_); ++i) {
        if (over) real_[i] = 0;
        over = over || done[i] != 0;
      }
    }
  }

  /// Numbers in each step of an array that must have a row for each of the others'.
  std::int64_t step_size(const NamedArray& array) const {
    if (!array.is_number()) refuse(array, "numbers");
    if (array.rows() != rows_ || array.shape.empty())
      refuse(array, fmt::format("{} rows, as many as there are actions", rows_));
    if (times_ == 0) return array.row_size();
    // One more step than there are actions: the observation after the last.
    if (array.shape.size() < 2 || array.shape[1] < times_ || array.shape[1] > times_ + 1)
      refuse(array, fmt::format("[{}, {}, …]", rows_, times_));
    return array.shape[1] == 0 ? 0 : array.row_size() / array.shape[1];
  }

  std::vector<KeyedPart> parts_of(const std::vector<std::string>& keys, const char* usual) const {
    std::vector<KeyedPart> parts;
    for (const auto& text : keys.empty() ? std::vector<std::string>{usual} : keys) {
      const auto key = parse_array_key(text);
      for (const auto* array : selected(key)) {
        const auto width = step_size(*array);
        if (width == 0) refuse(*array, "at least one number for each step");
        KeyedPart part{array, {array->name, key.begin, key.end}};
        std::tie(part.begin, part.end) = key.range(width, arrays_.where(array->name));
        parts.push_back(std::move(part));
      }
    }
    return parts;
  }

  /// Nobody names pixels, nor the only array there is.
  std::vector<std::string> names_of(const std::vector<KeyedPart>& parts) const {
    std::vector<std::string> names;
    for (const auto& part : parts) {
      const auto& [array, key, begin, end] = part;
      const bool image = array->shape.size() > (times_ > 0 ? 3u : 2u);
      if (image || (parts.size() == 1 && key.whole() && array->columns.empty())) return {};
      for (auto& name : key.names(step_size(*array), array->columns))
        names.push_back(std::move(name));
    }
    return names;
  }

  static std::int64_t width_of(const std::vector<KeyedPart>& parts) {
    std::int64_t width = 0;
    for (const auto& part : parts) width += part.size();
    return width;
  }

  bool is_real(std::int64_t row, std::int64_t time) const {
    return times_ == 0 || real_[static_cast<std::size_t>(row * times_ + time)] != 0;
  }

  std::int64_t steps() const {
    return times_ == 0 ? rows_ : std::ranges::count(real_, std::uint8_t{1});
  }

  /// Calls take(first row, values) for consecutive blocks of all rows.
  template <class T, class Take>
  void for_each_block(const NamedArray& array, Take take) const {
    const auto in_row = array.row_size();
    const auto usual = std::max<std::int64_t>(1, kBlockNumbers / std::max<std::int64_t>(1, in_row));
    const auto block = arrays_.rows_at_once(array, usual);
    std::vector<T> values(static_cast<std::size_t>(std::min(block, rows_) * in_row));
    for (std::int64_t begin = 0; begin < rows_; begin += block) {
      const auto end = std::min(begin + block, rows_);
      arrays_.read(array, begin, end, values.data());
      take(begin,
           std::span<const T>(values).first(static_cast<std::size_t>((end - begin) * in_row)));
    }
  }

  /// Calls take(values of a step, its row in the file) for every real step in order.
  template <class T, class Take>
  void for_each_step(const NamedArray& array, Take take) const {
    const auto width = static_cast<std::size_t>(step_size(array));
    const auto in_row = static_cast<std::size_t>(array.row_size());
    for_each_block<T>(array, [&](std::int64_t row, std::span<const T> values) {
      for (std::size_t first = 0; first < values.size(); first += in_row, ++row)
        for (std::int64_t time = 0; time < std::max<std::int64_t>(times_, 1); ++time)
          if (is_real(row, time))
            take(values.subspan(first + static_cast<std::size_t>(time) * width, width), row);
    });
  }

  /// Read as floats, kept as T.
  template <class T>
  NewColumn<T> read_numbers(const std::vector<KeyedPart>& parts) const {
    const auto dim = width_of(parts);
    NewColumn<T> out(steps() * dim, false);
    std::int64_t column = 0;
    for (const auto& part : parts) {
      T* to = out.data() + column;
      for_each_step<float>(*part.array, [&](std::span<const float> step, std::int64_t row) {
        const auto values = step.subspan(static_cast<std::size_t>(part.begin),
                                         static_cast<std::size_t>(part.size()));
        if (!options_.lenient &&
            !std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) {
          const auto place = arrays_.place(*part.array, row);
          check_finite(values, place.row, part.size(), place.where);
        }
        std::ranges::transform(values, to, [](float value) { return static_cast<T>(value); });
        to += dim;
      });
      column += part.size();
    }
    return out;
  }

  Observations read_observations(const std::vector<KeyedPart>& parts) const {
    const auto dim = width_of(parts);
    if (std::ranges::all_of(parts, [](const auto& part) { return part.array->is_byte; }))
      return Observations::dense(read_numbers<std::uint8_t>(parts).column(), dim);
    return Observations::dense(read_numbers<float>(parts).column(), dim);
  }

  Actions read_actions(const std::vector<KeyedPart>& parts) const {
    const auto& first = *parts[0].array;
    const bool integers = parts.size() == 1 && first.kind != ArrayKind::kFloat;
    const bool discrete = options_.actions == ReadActionsAs::kDiscrete ||
                          (options_.actions == ReadActionsAs::kAuto && integers);
    auto values = read_numbers<float>(parts);
    const auto dim = width_of(parts);
    if (!discrete) return Actions::continuous(values.column(), dim);
    if (dim != 1)
      refuse(first,
             "one whole number for each step; for several use the option actions = continuous");
    NewColumn<std::int32_t> numbers(steps(), false);
    std::vector<double> exact;
    for (std::int64_t begin = 0; begin < steps(); begin += kBlockNumbers) {
      const auto end = std::min(begin + kBlockNumbers, steps());
      exact.assign(values.data() + begin, values.data() + end);
      to_discrete<double>(exact, begin, arrays_.where(first.name), numbers.data() + begin);
    }
    const std::int64_t count = std::ranges::max(numbers.span()) + std::int64_t{1};
    return Actions::discrete(numbers.column(), count);
  }

  Column<float> read_rewards() const {
    const auto* array = optional(options_.reward_key, "rewards");
    if (!array) return {};
    if (step_size(*array) != 1) refuse(*array, "one number for each step");
    NewColumn<float> rewards(steps(), false);
    float* to = rewards.data();
    for_each_step<float>(*array,
                         [&](std::span<const float> step, std::int64_t) { *to++ = step[0]; });
    return rewards.column();
  }

  /// Flags of every step there is, real or not.
  StepValues<std::uint8_t> read_flags(const NamedArray& array) const {
    const auto count = rows_ * std::max<std::int64_t>(times_, 1);
    if (!array.is_number() || array.rows() != rows_ || array.rows() * array.row_size() != count)
      refuse(array, "one flag for each step");
    StepValues<std::uint8_t> flags(static_cast<std::size_t>(count));
    const auto in_row = array.row_size();
    for_each_block<float>(array, [&](std::int64_t row, std::span<const float> values) {
      const std::vector<double> exact(values.begin(), values.end());
      to_flags<double>(exact, row * in_row, arrays_.where(array.name), flags.data() + row * in_row);
    });
    return flags;
  }

  Trajectories with_padded_episodes(Trajectories data) const {
    std::vector<std::int64_t> offsets{0};
    for (std::int64_t row = 0; row < rows_; ++row) {
      const auto begin = real_.begin() + row * times_;
      const auto length = std::count(begin, begin + times_, std::uint8_t{1});
      if (length == 0) continue;  // a row of padding alone is no episode
      offsets.push_back(offsets.back() + length);
      data.ids.push_back(std::to_string(row));
    }
    data.offsets = std::move(offsets);
    return data;
  }

  Trajectories cut(Trajectories flat) const {
    const auto flags_of = [&](std::size_t which, const char* usual) -> Column<std::uint8_t> {
      const auto& keys = options_.done_keys;
      if (!keys.empty() && which >= keys.size()) return {};
      const auto* array = keys.empty() ? arrays_.find(usual) : &require(keys[which]);
      return array ? Column<std::uint8_t>(read_flags(*array)) : Column<std::uint8_t>();
    };
    flat.terminals = flags_of(0, "terminals");
    flat.timeouts = flags_of(1, "timeouts");
    if (!options_.episode_key.empty()) return cut_by_ids(std::move(flat));
    if (const auto* offsets = arrays_.find("offsets"); offsets && options_.done_keys.empty())
      return cut_at(std::move(flat), *offsets);
    if (flat.terminals.empty() && flat.timeouts.empty())
      throw InvalidArgument(
          "{} does not say where episodes end; name flags with --done-key or a column of episode "
          "ids with --episode-key; {}",
          arrays_.file(), propose_keys(arrays_));
    auto options = options_;
    if (!options_.done_keys.empty()) options.episode_cap = std::numeric_limits<std::int64_t>::max();
    return cut_into_episodes(std::move(flat), options, arrays_.file());
  }

  /// Calls take(row, id) with the id of each step, as a number or as text.
  template <class Take>
  void for_each_id(const NamedArray& array, Take take) const {
    if (array.row_size() != 1) refuse(array, "one id for each step");
    if (!array.is_number()) {
      std::int64_t row = 0;
      for (const auto& id : arrays_.read_text(array, 0, array.rows())) take(row++, id);
      return;
    }
    if (array.kind == ArrayKind::kFloat)
      for_each_block<float>(array, [&](std::int64_t row, std::span<const float> values) {
        check_finite(values, row, 1, arrays_.where(array.name));
      });
    for_each_block<std::int64_t>(array,
                                 [&](std::int64_t row, std::span<const std::int64_t> numbers) {
                                   for (const auto number : numbers) take(row++, number);
                                 });
  }

  [[noreturn]] void refuse_return(const NamedArray& array, const std::string& id,
                                  std::int64_t row) const {
    const auto place = arrays_.place(array, row);
    throw DataFormatError(
        "{} comes back to episode '{}' in row {}, after another had begun; sort the rows by "
        "episode first",
        place.where, printable(id), place.row);
  }

  Trajectories cut_by_ids(Trajectories flat) const {
    const auto& array = require(options_.episode_key);
    if (array.rows() != rows_) return cut_at(std::move(flat), array);
    std::vector<std::int64_t> offsets;
    std::set<std::string> before;
    std::variant<std::int64_t, std::string> last;
    for_each_id(array, [&](std::int64_t row, const auto& id) {
      if (row > 0 && std::get<std::decay_t<decltype(id)>>(last) == id) return;
      last = id;
      auto name = fmt::format("{}", id);
      if (!before.insert(name).second) refuse_return(array, name, row);
      offsets.push_back(row);
      flat.ids.push_back(std::move(name));
    });
    offsets.push_back(rows_);
    flat.offsets = std::move(offsets);
    return flat;
  }

  /// By where episodes begin (from 0 to the number of steps) or end.
  Trajectories cut_at(Trajectories flat, const NamedArray& array) const {
    std::vector<std::int64_t> offsets(static_cast<std::size_t>(array.rows()));
    if (array.kind != ArrayKind::kInteger || array.row_size() != 1)
      refuse(array, fmt::format("an id for each of {} steps, or where each episode ends", rows_));
    arrays_.read(array, 0, array.rows(), offsets.data());
    if (!offsets.empty() && offsets.front() != 0) offsets.insert(offsets.begin(), 0);
    const bool increasing =
        std::ranges::adjacent_find(offsets, std::greater_equal<>()) == offsets.end();
    if (offsets.size() < 2 || !increasing || offsets.back() != rows_)
      refuse(array, fmt::format("an id for each of {} steps, or where each episode ends: numbers "
                                "that increase to {}",
                                rows_, rows_));
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) flat.ids.push_back(std::to_string(i));
    flat.offsets = std::move(offsets);
    return flat;
  }

  /// Padded arrays have a label for each row, or for each step of it, also where nothing is real.
  void read_labels(Trajectories& data) const {
    const auto& key = options_.label_key;
    const auto* array = arrays_.find(key);
    if (!array) array = arrays_.find("infos/" + key);
    if (!array && hdf5::is_asked_for(key)) require(key);
    if (!array) return;
    if (array->kind == ArrayKind::kFloat) refuse(*array, "whole numbers or text");
    FoundLabels found;
    if (array->is_number()) {
      found.numbers.resize(static_cast<std::size_t>(array->rows() * array->row_size()));
      arrays_.read(*array, 0, array->rows(), found.numbers.data());
    } else {
      found.texts = arrays_.read_text(*array, 0, array->rows());
    }
    if (times_ > 0) keep_real(found);
    set_labels(data, found, arrays_.where(array->name));
  }

  void keep_real(FoundLabels& found) const {
    const auto per_step = found.size() == rows_ * times_;
    if (found.size() != rows_ && !per_step) return;
    const auto keep = [&](auto& items) {
      auto all = std::exchange(items, {});
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto begin = real_.begin() + static_cast<std::int64_t>(i) * times_;
        const bool real = per_step ? real_[i] != 0 : std::count(begin, begin + times_, 1) > 0;
        if (real) items.push_back(std::move(all[i]));
      }
    };
    keep(found.numbers);
    keep(found.texts);
  }

  const NamedArrays& arrays_;
  const ReadOptions& options_;
  std::int64_t rows_ = 0;
  std::int64_t times_ = 0;         ///< Steps in a row of padded arrays; 0: a row is a step.
  StepValues<std::uint8_t> real_;  ///< [rows, times] of padded arrays.
};

/// The groups that hold something called `key`, of the root or of a group in it.
std::vector<std::string> groups_with(const hdf5::InputFile& file, const std::string& key) {
  const auto holds = [&](const std::string& group) {
    const auto name = hdf5::join(group, key);
    return file.has_group(group) && (file.has_dataset(name) || file.has_group(name));
  };
  auto parents = file.children();
  std::erase_if(parents, [&](const auto& child) { return !file.has_group(child); });
  parents.insert(parents.begin(), "");
  for (const auto& parent : parents) {
    std::vector<std::string> groups;
    for (const auto& child : file.children(parent))
      if (const auto group = hdf5::join(parent, child); holds(group)) groups.push_back(group);
    if (!groups.empty()) return groups;
  }
  return {};
}

/// Where keys name what each of many groups holds, those groups are the episodes.
std::vector<std::string> episode_groups(const hdf5::InputFile& file, const ReadOptions& options) {
  const auto& keys = options.action_keys.empty() ? options.obs_keys : options.action_keys;
  const auto name = keys.empty() ? hdf5::StepLayout{}.actions : parse_array_key(keys[0]).name;
  if (file.has_dataset(name) || file.has_group(name)) return {};
  return groups_with(file, name);
}

Trajectories read_groups(const hdf5::InputFile& file, const std::vector<std::string>& groups,
                         const ReadOptions& options) {
  hdf5::StepLayout layout;
  layout.final_observation = true;
  Trajectories data = hdf5::read_steps(file, groups, layout, options);
  for (const auto& group : groups) data.ids.push_back(group.substr(group.rfind('/') + 1));
  if (const auto found = hdf5::read_group_labels(file, groups, options.label_key); found.size() > 0)
    set_labels(data, found, file.where(options.label_key));
  return data;
}

}  // namespace

Trajectories read_keyed(const NamedArrays& arrays, const ReadOptions& options) {
  return KeyedReader(arrays, options).read();
}

Trajectories read_keyed_file(const fs::path& path, const ReadOptions& options) {
  if (!is_npz(path)) {
    const hdf5::InputFile file(path);
    if (const auto groups = episode_groups(file, options); !groups.empty())
      return read_groups(file, groups, options);
  }
  auto data = read_keyed(*open_named_arrays(path, options.pool), options);
  if (!is_npz(path) &&
      hdf5::InputFile(path).has_attribute("", found_mark("infos/" + options.label_key))) {
    data.labels = {};
    data.label_names = {};
    data.provenance["labels"] = kFoundLabels;
  }
  return data;
}

std::string propose_keys(const NamedArrays& arrays) {
  std::vector<std::string> shown, options;
  for (const auto& array : arrays.list()) {
    if (shown.size() == kMostShownArrays) {
      shown.emplace_back("…");
      break;
    }
    shown.push_back(array.description());
  }
  for (const auto& likely : kLikelyKeys)
    if (const auto* array = likely_array(arrays, likely))
      options.push_back(fmt::format("{} {}", likely.option, name_in_group(array->name)));
  if (shown.empty()) return "it holds no arrays that can be read";
  return fmt::format("it holds {}; name what you mean, such as {}", fmt::join(shown, ", "),
                     options.empty() ? "--obs-key NAME --action-key NAME --done-key NAME"
                                     : fmt::format("{}", fmt::join(options, " ")));
}

}  // namespace kindred
