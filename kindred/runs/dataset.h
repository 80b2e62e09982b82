// The dataset a run is made from: which file, how to read it, which episodes, what truth.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "kindred/core/options.h"
#include "kindred/data/formats.h"
#include "kindred/data/label_writer.h"
#include "kindred/data/trajectories.h"
#include "kindred/dist/communicator.h"
#include "kindred/runs/memory.h"

namespace kindred {

/// A dataset as it was read, with what a record says of it. Nothing needs the file any more.
struct Dataset {
  std::string path;  ///< As it was named; of several files the first.
  Format format = Format::kAuto;
  Trajectories data;
  std::vector<std::string> files{};  ///< All of them, where there are several.
  /// That the process keeps to a budget of memory for as long as this dataset is there, or nothing.
  std::shared_ptr<const MemoryPromise> memory{};

  /// Path, format, size, dimensions and, where they are known, their names.
  nlohmann::ordered_json describe() const;
};

struct DatasetOptions {
  std::vector<std::string> files;  ///< One, or several that are read as one dataset.
  ReadOptions read;
  std::int64_t min_length = 1;
  std::int64_t max_length = 0;
  std::int64_t sample = 0;
  std::int64_t sample_seed = 0;
  std::string truth;
  std::string truth_column = "label";
  std::string truth_episode_column = "episode";
  std::vector<std::int64_t> truth_boundary;
  bool truth_return_change = false;
  MemoryOptions limit;  ///< Scratch files lie in the first file's folder unless it says otherwise.

  /// How to read the file.
  OptionTable describe_reading();
  /// Which episodes to keep.
  OptionTable describe_selection();
  /// Where true labels come from when the file has none.
  OptionTable describe_truth();
  /// How much memory may be used: no part of what a record says of the data, which stays the same.
  OptionTable describe_memory() { return limit.describe(); }

  /// Everything but the file's name and memory, as a record keeps it, and back. restore throws
  /// DataFormatError naming `where` when a value is not one the option takes.
  nlohmann::ordered_json to_json() const;
  void restore(const nlohmann::ordered_json& saved, const std::string& where);

  /// Reads, labels and selects, with every core where `read` has no pool. Throws as the data room
  /// does.
  Dataset load() const;
  /// The same by several processes, each of which holds some of the episodes. Collective.
  Dataset load(Communicator& ranks) const;
  /// Reads every episode, also those that are not selected, without labelling any.
  Dataset load_everything() const;
  /// The episodes to keep of all, by offsets alone.
  std::vector<std::int64_t> selected(std::span<const std::int64_t> offsets) const;
  /// The episodes to keep of all.
  Trajectories select(Trajectories loaded) const;

 private:
  Dataset label_and_select(Dataset loaded) const;
};

/// What a record says of a dataset that was read so: where it is, how it was read and its
/// fingerprint, by the pool of `options` where there is one. What looks odd in it ("doctor") is
/// null until somebody looks. Collective, where `ranks` share it.
nlohmann::ordered_json describe_dataset(const DatasetOptions& options, const Dataset& dataset,
                                        Communicator& ranks = *one_process());

/// Writes labels, of all episodes that `everything` holds, into each of its files; `options` is how
/// it was read. Each file is changed whole or not at all.
std::vector<LabelledFile> write_labels(const DatasetOptions& options, const Dataset& everything,
                                       const EpisodeLabels& labels, const LabelOptions& how);
/// Undoes it in every file that has labels. Throws InvalidArgument when none has.
std::vector<std::filesystem::path> undo_labels(std::span<const std::string> files, Format format);
/// Throws InvalidArgument when the dataset is several files, which cannot be made into one.
void require_one_file(const Dataset& dataset);

}  // namespace kindred
