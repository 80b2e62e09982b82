// The JSON image of one run: what it was asked, what it found, what it cost. Reports and result
// tables are made from records alone, never from live objects.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "kindred/clustering/clustering.h"
#include "kindred/data/fingerprint.h"

namespace kindred {

struct RunRecord {
  std::string version;  ///< Of Kindred.
  std::string method;
  std::string command;              ///< As typed.
  std::string started;              ///< UTC, ISO 8601.
  nlohmann::ordered_json dataset;   ///< Path, size, fingerprint, how it was read, what looks odd.
  nlohmann::ordered_json options;   ///< Complete and resolved.
  nlohmann::ordered_json result;    ///< Objective, rounds, sizes, agreement; scores when known.
  nlohmann::ordered_json restarts;  ///< One object each.
  nlohmann::ordered_json trace;     ///< One object per round and restart.
  nlohmann::ordered_json timings;   ///< Seconds by stage.
  nlohmann::ordered_json machine;   ///< Threads, device, memory.

  /// Which data the run was made from.
  Fingerprint fingerprint() const { return fingerprint_from_json(dataset.at("fingerprint")); }
  /// Number of clusters.
  std::int64_t k() const { return result.at("k"); }

  /// Writes and reads `run.json`. A record that is read has every field its readers rely on, of the
  /// right kind. read throws IoError or DataFormatError naming the field.
  void write(const std::filesystem::path& path) const;
  static RunRecord read(const std::filesystem::path& path);
};

/// How many clusters a method with these options was to end with, where it was asked for a number.
std::optional<std::int64_t> asked_k(const nlohmann::ordered_json& options);

/// Fills the parts of a record that follow from the clustering.
void describe_clustering(const Clustering& clustering, RunRecord& record);

}  // namespace kindred
