// The ragged store of trajectories: columns over all steps of all episodes, without padding.
//
// Everything is immutable once built and cheap to copy (columns are shared). Readers, rollouts and
// the functions in select.h build new stores; methods only read them.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kindred/data/column.h"

namespace kindred {

/// Observations of every step, in one of two representations behind one view: dense rows
/// (float32 or uint8), or interned (a table of the distinct rows and one index per step).
class Observations {
 public:
  Observations() = default;

  static Observations dense(Column<float> rows, std::int64_t dim);         // [steps, dim]
  static Observations dense(Column<std::uint8_t> rows, std::int64_t dim);  // [steps, dim]
  static Observations interned(Column<float> table, std::int64_t dim,      // [distinct, dim]
                               Column<std::int32_t> index);                // [steps]

  std::int64_t steps() const { return steps_; }
  std::int64_t dim() const { return dim_; }

  bool is_interned() const { return interned_; }
  bool is_bytes() const { return !bytes_.empty(); }
  /// Rows of the table; 0 when dense.
  std::int64_t distinct() const { return interned_ ? floats_.size() / dim_ : 0; }
  /// [distinct, dim]; only when interned.
  const Column<float>& table() const { return floats_; }
  /// [steps], each below distinct(); only when interned.
  const Column<std::int32_t>& index() const { return index_; }
  /// [steps, dim]; only when dense and not bytes.
  const Column<float>& floats() const { return floats_; }
  /// [steps, dim]; only when dense bytes.
  const Column<std::uint8_t>& bytes() const { return bytes_; }

  /// Copies the rows of steps [begin, end) as float32 to out[(end - begin) * dim].
  void copy(std::int64_t begin, std::int64_t end, float* out) const;
  /// Copies the given steps' rows as float32 to out[steps.size() * dim].
  void gather(std::span<const std::int64_t> steps, float* out) const;
  /// Bytes the columns occupy.
  std::int64_t bytes_in_memory() const;

 private:
  std::int64_t steps_ = 0;
  std::int64_t dim_ = 0;
  bool interned_ = false;
  Column<float> floats_;  // rows, or the table when interned
  Column<std::uint8_t> bytes_;
  Column<std::int32_t> index_;
};

/// Actions of every step: discrete (int32 in [0, count)) or continuous (float32 [steps, dim]).
class Actions {
 public:
  Actions() = default;

  static Actions discrete(Column<std::int32_t> values, std::int64_t count);
  static Actions continuous(Column<float> values, std::int64_t dim);

  bool is_discrete() const { return discrete_; }
  /// How many different actions there are; only when discrete.
  std::int64_t count() const { return width_; }
  /// Numbers per action; 1 when discrete.
  std::int64_t dim() const { return discrete_ ? 1 : width_; }
  std::int64_t steps() const { return discrete_ ? ints_.size() : floats_.size() / width_; }
  const Column<std::int32_t>& ints() const { return ints_; }
  const Column<float>& floats() const { return floats_; }
  std::int64_t bytes_in_memory() const;

 private:
  bool discrete_ = true;
  std::int64_t width_ = 1;
  Column<std::int32_t> ints_;
  Column<float> floats_;
};

/// Episodes [begin, end).
struct EpisodeRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
};

/// N episodes; steps of episode i are [offsets[i], offsets[i + 1]).
struct Trajectories {
  Column<std::int64_t> offsets;    ///< [episodes + 1], from 0 to steps, strictly increasing.
  Observations observations;       ///< [steps]
  Actions actions;                 ///< [steps]
  Column<float> rewards;           ///< [steps], or empty when the source has none.
  Column<std::uint8_t> terminals;  ///< [steps], or empty.
  Column<std::uint8_t> timeouts;   ///< [steps], or empty.
  std::vector<std::string> ids;    ///< [episodes]: the source's name of each episode.
  Column<std::int32_t> labels;     ///< [episodes]: the true policy of each, or empty: unknown.
  Column<std::int32_t> oracle;     ///< [episodes]: label the true policies would give, or empty.
  Column<std::int32_t> actors;     ///< [steps]: the true policy of each step, or empty: unknown.
  std::vector<std::string> label_names;        ///< What label i is called, or empty.
  std::vector<std::string> observation_names;  ///< [observation dim], or empty: nobody named them.
  std::vector<std::string> action_names;       ///< [action dim], or empty.
  nlohmann::json provenance = nlohmann::json::object();  ///< Source file, format, generator, seed.
  /// Where several processes share a dataset: the episodes this one holds. The other steps mean
  /// nothing here; what is known per episode is known of all.
  std::optional<EpisodeRange> held;

  std::int64_t episodes() const { return offsets.empty() ? 0 : offsets.size() - 1; }
  std::int64_t steps() const { return observations.steps(); }
  std::int64_t length(std::int64_t episode) const {
    return offsets[episode + 1] - offsets[episode];
  }
  /// The episodes whose steps can be read here.
  EpisodeRange own() const { return held.value_or(EpisodeRange{0, episodes()}); }
  /// Bytes all columns occupy.
  std::int64_t bytes_in_memory() const;
  /// Throws DataFormatError when the columns do not fit each other; `what` names the source.
  void validate(const std::string& what) const;
};

/// For each episode, who acted in most of its steps; only where `actors` are known.
std::vector<std::int32_t> most_frequent_actors(const Trajectories& data);

/// Sum of rewards of each episode; empty when there are no rewards.
std::vector<double> episode_returns(const Trajectories& data);

}  // namespace kindred
