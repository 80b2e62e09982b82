#include "kindred/data/npz.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/data/checks.h"
#include "kindred/data/episodes.h"
#include "kindred/data/keyed.h"
#include "kindred/data/npy.h"
#include "kindred/data/zip.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSuffix = ".npy";
constexpr std::int64_t kRowsPerBlock = 4096;

std::int64_t size_of(const auto& values) { return static_cast<std::int64_t>(values.size()); }

/// The arrays of one file, each checked before it is read.
class NpzReader {
 public:
  NpzReader(const fs::path& path, const ReadOptions& options)
      : archive_(path), where_(fmt::format("'{}'", path.string())), options_(options) {}

  Trajectories read() {
    Trajectories data;
    data.observations = read_observations();
    data.actions = read_actions();
    data.rewards = read_rewards();
    data.terminals = read_flags("terminals");
    data.timeouts = read_flags("timeouts");
    data = cut(std::move(data));
    read_labels(data);
    read_oracle(data);
    read_ids(data);
    data.observation_names = read_names("observation_names", data.observations.dim());
    data.action_names = read_names("action_names", data.actions.dim());
    return data;
  }

 private:
  using Array = npy::ArrayReader;

  bool has(const std::string& name) const { return archive_.find(name + kSuffix) != nullptr; }

  Array open(const std::string& name) const {
    const auto* entry = archive_.find(name + kSuffix);
    if (!entry)
      throw DataFormatError(
          "{} has no array '{}'; expected observations, actions, and offsets or "
          "terminals; {}",
          where_, name, contents());
    return Array(archive_, *entry, fmt::format("{} array '{}'", where_, name));
  }

  std::string contents() const { return propose_keys(*open_named_arrays(archive_.path())); }

  [[noreturn]] static void refuse(const Array& array, const std::string& expected) {
    throw DataFormatError("{} has type {} and shape {}, expected {}", array.where(), array.dtype(),
                          array.shape_text(), expected);
  }

  /// Numbers, one row of at least one for each step.
  Array open_steps(const std::string& name) const {
    Array array = open(name);
    if (array.is_text() || array.shape().empty() || array.row_size() == 0)
      refuse(array, "numbers, at least one for each step");
    if (steps_ > 0 && array.rows() != steps_)
      refuse(array, fmt::format("{} rows, as many as there are observations", steps_));
    return array;
  }

  Array open_one_per_step(const std::string& name) const {
    Array array = open_steps(name);
    if (array.row_size() != 1) refuse(array, "one number for each step");
    return array;
  }

  StepValues<float> read_floats(Array& array) const {
    auto values = array.read<float>();
    if (!options_.lenient) check_finite(values, 0, array.row_size(), array.where());
    return values;
  }

  Observations read_observations() {
    Array array = open_steps("observations");
    steps_ = array.rows();
    if (array.is_byte()) return Observations::dense(array.read<std::uint8_t>(), array.row_size());
    return Observations::dense(read_floats(array), array.row_size());
  }

  Actions read_actions() const {
    Array array = open_steps("actions");
    const bool discrete = options_.actions == ReadActionsAs::kDiscrete ||
                          (options_.actions == ReadActionsAs::kAuto && array.is_integer());
    if (!discrete) return Actions::continuous(read_floats(array), array.row_size());
    if (array.row_size() != 1)
      refuse(array,
             "one whole number for each step; for several use the option actions = "
             "continuous");
    StepValues<std::int32_t> values(static_cast<std::size_t>(steps_));
    if (array.is_float())
      to_discrete<double>(array.read<double>(), 0, array.where(), values.data());
    else
      to_discrete<std::int64_t>(array.read<std::int64_t>(), 0, array.where(), values.data());
    const std::int64_t count = action_count(values);
    return Actions::discrete(std::move(values), count);
  }

  /// As the file says, where it says so: the data need not contain every action.
  std::int64_t action_count(std::span<const std::int32_t> values) const {
    const std::int64_t used = std::ranges::max(values) + std::int64_t{1};
    if (!has("action_count")) return used;
    const auto stated = read_integers("action_count");
    if (stated.size() != 1 || stated[0] < used || stated[0] > kMaxActions)
      throw DataFormatError("{} array 'action_count' holds {}, expected one number from {} to {}",
                            where_, fmt::join(stated, ", "), used, kMaxActions);
    return stated[0];
  }

  Column<float> read_rewards() const {
    if (!has("rewards")) return {};
    return open_one_per_step("rewards").read<float>();  // as they are, numbers or not
  }

  Column<std::uint8_t> read_flags(const std::string& name) const {
    if (!has(name)) return {};
    Array array = open_one_per_step(name);
    StepValues<std::uint8_t> flags(static_cast<std::size_t>(steps_));
    if (array.is_float())
      to_flags<double>(array.read<double>(), 0, array.where(), flags.data());
    else
      to_flags<std::int64_t>(array.read<std::int64_t>(), 0, array.where(), flags.data());
    return flags;
  }

  StepValues<std::int64_t> read_integers(const std::string& name) const {
    Array array = open(name);
    if (!array.is_integer()) refuse(array, "integers");
    return array.read<std::int64_t>();
  }

  std::vector<std::string> read_texts(const std::string& name) const {
    Array array = open(name);
    if (!array.is_text()) refuse(array, "text");
    return array.read_text();
  }

  /// Finds the episodes by offsets where there are any, else by flags.
  Trajectories cut(Trajectories flat) const {
    if (!has("offsets")) {
      if (flat.terminals.empty() && flat.timeouts.empty())
        throw DataFormatError(
            "{} has none of the arrays offsets, terminals and timeouts, expected "
            "at least one to tell where episodes end; {}",
            where_, contents());
      return cut_into_episodes(std::move(flat), options_, where_);
    }
    auto offsets = read_integers("offsets");
    if (offsets.size() < 2 || offsets.front() != 0 || offsets.back() != steps_)
      throw DataFormatError(
          "{} array 'offsets' has {} numbers{}, expected one more than there are "
          "episodes, from 0 to {}",
          where_, offsets.size(),
          offsets.empty() ? std::string()
                          : fmt::format(" from {} to {}", offsets.front(), offsets.back()),
          steps_);
    for (std::size_t i = 1; i < offsets.size(); ++i) {
      if (offsets[i] <= offsets[i - 1])
        throw DataFormatError(
            "{} array 'offsets' goes from {} to {} at position {}, expected "
            "increasing numbers; remove empty episodes",
            where_, offsets[i - 1], offsets[i], i);
      flat.ids.push_back(std::to_string(i - 1));
    }
    flat.offsets = std::move(offsets);
    return flat;
  }

  void read_labels(Trajectories& data) const {
    for (const auto& name :
         {options_.label_key, "infos/" + options_.label_key, std::string("labels")}) {
      if (!has(name)) continue;
      FoundLabels found;
      if (open(name).is_text())
        found.texts = read_texts(name);
      else
        found.numbers = read_integers(name);
      if (found.size() != data.episodes() && found.size() != steps_)
        throw DataFormatError(
            "{} array '{}' has {} labels, expected one for each of {} episodes "
            "or {} steps",
            where_, name, found.size(), data.episodes(), steps_);
      set_labels(data, found, where_);
      if (!data.labels.empty() && found.texts.empty()) read_label_names(data);
      return;
    }
  }

  void read_label_names(Trajectories& data) const {
    if (!has("label_names")) return;
    data.label_names = read_texts("label_names");
    const std::int64_t largest = std::ranges::max(data.labels.span());
    if (largest >= size_of(data.label_names))
      throw DataFormatError(
          "{} array 'label_names' has {} names, expected one for each of the "
          "labels 0 to {}",
          where_, data.label_names.size(), largest);
  }

  void read_oracle(Trajectories& data) const {
    if (!has("oracle")) return;
    const auto values = read_integers("oracle");
    const auto fits = [](std::int64_t value) {
      return value >= 0 && value <= std::numeric_limits<std::int32_t>::max();
    };
    if (size_of(values) != data.episodes() || !std::ranges::all_of(values, fits))
      throw DataFormatError(
          "{} array 'oracle' has {} numbers, expected a label of at least 0 for "
          "each of {} episodes",
          where_, values.size(), data.episodes());
    data.oracle = std::vector<std::int32_t>(values.begin(), values.end());
  }

  std::vector<std::string> read_names(const std::string& name, std::int64_t dim) const {
    if (!has(name)) return {};
    auto names = read_texts(name);
    if (size_of(names) != dim)
      throw DataFormatError("{} array '{}' has {} names, expected {}, one for each number", where_,
                            name, names.size(), dim);
    return names;
  }

  void read_ids(Trajectories& data) const {
    if (!has("ids")) return;
    data.ids = read_texts("ids");
    if (size_of(data.ids) != data.episodes())
      throw DataFormatError("{} array 'ids' has {} names, expected one for each of {} episodes",
                            where_, data.ids.size(), data.episodes());
  }

  zip::Archive archive_;
  std::string where_;
  const ReadOptions& options_;
  std::int64_t steps_ = 0;
};

template <class T>
void write_column(npy::ArrayWriter& out, const std::string& name, const Column<T>& column) {
  if (!column.empty()) out.write(name, column.span(), {column.size()});
}

void write_flags(npy::ArrayWriter& out, const std::string& name,
                 const Column<std::uint8_t>& flags) {
  if (flags.empty()) return;
  out.begin<bool>(name, {flags.size()});
  out.append(flags.span());
}

void write_observations(npy::ArrayWriter& out, const Observations& rows) {
  const std::vector<std::int64_t> shape = {rows.steps(), rows.dim()};
  if (rows.is_bytes()) return out.write("observations", rows.bytes().span(), shape);
  out.begin<float>("observations", shape);
  std::vector<float> block(static_cast<std::size_t>(kRowsPerBlock * rows.dim()));
  for (std::int64_t begin = 0; begin < rows.steps(); begin += kRowsPerBlock) {
    const std::int64_t end = std::min(begin + kRowsPerBlock, rows.steps());
    rows.copy(begin, end, block.data());
    out.append(
        std::span<const float>(block.data(), static_cast<std::size_t>((end - begin) * rows.dim())));
  }
}

void write_actions(npy::ArrayWriter& out, const Actions& actions) {
  if (actions.is_discrete()) {
    const std::int64_t count = actions.count();
    out.write("actions", actions.ints().span(), {actions.steps()});
    out.write("action_count", std::span(&count, 1), {});
  } else {
    out.write("actions", actions.floats().span(), {actions.steps(), actions.dim()});
  }
}

}  // namespace

bool is_npz(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::array<char, 2> first{};
  std::ifstream(path, std::ios::binary).read(first.data(), first.size());
  return first == std::array{'P', 'K'};
}

Trajectories read_npz(const fs::path& path, const ReadOptions& options) {
  return NpzReader(path, options).read();
}

void write_npz(const Trajectories& data, const fs::path& path) {
  zip::Writer archive(path);
  npy::ArrayWriter out(archive);
  write_observations(out, data.observations);
  write_actions(out, data.actions);
  write_column(out, "rewards", data.rewards);
  write_flags(out, "terminals", data.terminals);
  write_flags(out, "timeouts", data.timeouts);
  write_column(out, "offsets", data.offsets);
  write_column(out, ReadOptions{}.label_key, data.labels);
  write_column(out, "oracle", data.oracle);
  out.write_text("ids", data.ids);
  if (!data.label_names.empty()) out.write_text("label_names", data.label_names);
  if (!data.observation_names.empty()) out.write_text("observation_names", data.observation_names);
  if (!data.action_names.empty()) out.write_text("action_names", data.action_names);
  archive.close();
}

}  // namespace kindred
