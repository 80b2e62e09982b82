// The JSON image of one run: what it was asked, what it found, what it cost. Reports and result
// tables are made from records alone, never from live objects.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace kindred {

struct RunRecord {
  std::string version;  ///< Of Kindred.
  std::string method;
  std::string command;              ///< As typed.
  std::string started;              ///< UTC, ISO 8601.
  nlohmann::ordered_json dataset;   ///< Path, format, episodes, steps, dimensions, provenance.
  nlohmann::ordered_json options;   ///< Complete and resolved.
  nlohmann::ordered_json result;    ///< Objective, rounds, sizes, agreement; scores when known.
  nlohmann::ordered_json restarts;  ///< One object each.
  nlohmann::ordered_json trace;     ///< One object per round and restart.
  nlohmann::ordered_json timings;   ///< Seconds by stage.
  nlohmann::ordered_json machine;   ///< Threads, device, memory.

  /// Writes and reads `run.json`. read throws IoError or DataFormatError.
  void write(const std::filesystem::path& path) const;
  static RunRecord read(const std::filesystem::path& path);
};

}  // namespace kindred
