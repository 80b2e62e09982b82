// The state of a fit on disk, in one format for all methods: a header that says what the state
// belongs to (format, method, options, data), then what the method adds, as JSON and as arrays.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "kindred/clustering/clustering.h"
#include "kindred/core/progress.h"
#include "kindred/data/array_file.h"
#include "kindred/data/fingerprint.h"
#include "kindred/data/trajectories.h"

namespace kindred {

/// The checkpoint of one fit, where the run around it keeps one. Of several processes the first
/// keeps it, and tells the others what it holds.
class Checkpoint {
 public:
  /// `options` are complete and resolved. Reads all of `data` once if there is a file to keep.
  /// Collective, as is load().
  Checkpoint(std::string method, nlohmann::json options, const Trajectories& data,
             const RunContext& run);

  /// Whether this process keeps a checkpoint at all, and whether the run goes on from one.
  bool kept() const { return !path_.empty(); }
  bool resumes() const { return resumes_; }

  /// Writes the file whole or not at all: the arrays `write` writes and the JSON it returns. Throws
  /// IoError.
  void save(const std::function<nlohmann::json(ArrayFileWriter&)>& write) const;

  /// Reads what save() wrote. Throws InvalidArgument when it belongs to another method, other data
  /// or other options, DataFormatError when it is damaged: whatever `restore` throws that is not an
  /// IoError means that.
  void load(const std::function<void(const nlohmann::json& state, const ArrayFileReader&)>& restore)
      const;

 private:
  void load_from(const std::filesystem::path& path,
                 const std::function<void(const nlohmann::json& state, const ArrayFileReader&)>&
                     restore) const;
  void require_own_header(const nlohmann::json& header) const;

  std::shared_ptr<Communicator> ranks_;  // none: this process alone
  std::filesystem::path path_;
  bool resumes_ = false;
  std::string method_;
  nlohmann::json options_;
  Fingerprint data_;
  std::string data_name_;
};

// Parts that several methods' states have. JSON has no infinities; an impossible trajectory makes
// an objective infinite.
nlohmann::json saved_number(double x);
double restored_number(const nlohmann::json& saved);

nlohmann::json saved_trace(const std::vector<TraceEntry>& trace);
std::vector<TraceEntry> restored_trace(const nlohmann::json& saved);

nlohmann::json saved_merges(const std::vector<MergeStep>& merges);
std::vector<MergeStep> restored_merges(const nlohmann::json& saved);

/// Throws DataFormatError unless there is one label for each of `episodes`, all from 0 to k - 1.
void require_labels(std::span<const std::int32_t> labels, std::int64_t episodes, std::int64_t k);

}  // namespace kindred
