#include "kindred/data/fingerprint.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <charconv>
#include <span>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/thread_pool.h"
#include "kindred/core/words.h"
#include "kindred/data/mind_memory.h"

namespace kindred {
namespace {

constexpr std::int64_t kMindAfter = 4096;               // steps
constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15U;  // odd, and without a pattern in its bits

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * kFactor;
  return hash ^ (hash >> 32);
}

constexpr std::size_t kAtOnce = 4;  // rows whose hashes do not wait for each other

/// Of rows one after the other, at most kAtOnce.
void hash_rows(std::span<const float> rows, std::size_t width, std::uint64_t* hashes) {
  const auto count = width == 0 ? 0 : rows.size() / width;
  std::uint64_t hash[kAtOnce];
  const float* row[kAtOnce];
  for (std::size_t r = 0; r < kAtOnce; ++r) {
    hash[r] = width;
    row[r] = rows.data() + std::min(r, std::max<std::size_t>(count, 1) - 1) * width;
  }
  for (std::size_t i = 0; i < width; ++i)
    for (std::size_t r = 0; r < kAtOnce; ++r)
      hash[r] = mixed(hash[r], std::bit_cast<std::uint32_t>(row[r][i]));
  std::copy_n(hash, count, hashes);
}

std::uint64_t hash_of(std::span<const float> row) {
  std::uint64_t hash = row.size();
  if (!row.empty()) hash_rows(row, row.size(), &hash);
  return hash;
}

/// What one step adds to a sum over steps: sums can be made in parts, and a step counts with its
/// place.
std::uint64_t at_step(std::uint64_t hash, std::int64_t step) {
  return mixed(mixed(kFactor, hash), static_cast<std::uint64_t>(step));
}

std::uint64_t episode_hash(const Trajectories& data) {
  std::uint64_t hash = 0;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    hash = mixed(hash, static_cast<std::uint64_t>(data.offsets[i + 1]));
    for (const char c : data.ids[static_cast<std::size_t>(i)])
      hash = mixed(hash, static_cast<unsigned char>(c));
  }
  return hash;
}

struct Steps {
  std::int64_t begin, end;
};

/// Calls `add(begin, end)` for parts of the steps.
template <class Add>
void each_part(const Steps& steps, ThreadPool* pool, const Add& add) {
  const auto count = steps.end - steps.begin;
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    mind_memory();
    add(steps.begin + begin, steps.begin + end);
  };
  if (pool) {
    pool->chunks(count, kMindAfter, part);
  } else {
    for (std::int64_t begin = 0; begin < count; begin += kMindAfter)
      part(begin, std::min(begin + kMindAfter, count));
  }
}

/// Σ over steps of what each adds, given the hash of what it holds.
template <class HashOfStep>
std::uint64_t sum_over(const Steps& steps, ThreadPool* pool, const HashOfStep& hash_of_step) {
  std::atomic<std::uint64_t> hash = 0;
  each_part(steps, pool, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t own = 0;
    for (auto t = begin; t < end; ++t) own += at_step(hash_of_step(t), t);
    hash += own;
  });
  return hash;
}

/// The same for rows of floats that lie one after the other.
std::uint64_t sum_over_rows(const Steps& steps, ThreadPool* pool, std::span<const float> rows,
                            std::size_t width) {
  if (width == 0) return sum_over(steps, pool, [](std::int64_t) { return hash_of({}); });
  std::atomic<std::uint64_t> hash = 0;
  each_part(steps, pool, [&](std::int64_t begin, std::int64_t end) {
    std::uint64_t own = 0, hashes[kAtOnce];
    for (auto t = begin; t < end; t += static_cast<std::int64_t>(kAtOnce)) {
      const auto n = std::min(kAtOnce, static_cast<std::size_t>(end - t));
      hash_rows(rows.subspan(static_cast<std::size_t>(t) * width, n * width), width, hashes);
      for (std::size_t r = 0; r < n; ++r)
        own += at_step(hashes[r], t + static_cast<std::int64_t>(r));
    }
    hash += own;
  });
  return hash;
}

std::uint64_t observation_hash(const Observations& observations, const Steps& steps,
                               ThreadPool* pool) {
  const auto dim = static_cast<std::size_t>(observations.dim());
  const auto row_of = [&](std::span<const float> rows, std::int64_t row) {
    return rows.subspan(static_cast<std::size_t>(row) * dim, dim);
  };
  if (observations.is_interned()) {
    std::vector<std::uint64_t> of_row;
    for (std::int64_t row = 0; row < observations.distinct(); ++row)
      of_row.push_back(hash_of(row_of(observations.table().span(), row)));
    return sum_over(steps, pool, [&](std::int64_t t) {
      return of_row[static_cast<std::size_t>(observations.index()[t])];
    });
  }
  if (!observations.is_bytes())
    return sum_over_rows(steps, pool, observations.floats().span(), dim);
  return sum_over(steps, pool, [&](std::int64_t t) {
    std::vector<float> row(dim);
    observations.copy(t, t + 1, row.data());
    return hash_of(row);
  });
}

std::uint64_t action_hash(const Actions& actions, const Steps& steps, ThreadPool* pool) {
  if (actions.is_discrete())
    return sum_over(steps, pool,
                    [&](std::int64_t t) { return static_cast<std::uint64_t>(actions.ints()[t]); });
  return sum_over_rows(steps, pool, actions.floats().span(),
                       static_cast<std::size_t>(actions.dim()));
}

// As text: many readers of JSON keep only 53 bits of a number.
std::string hexadecimal(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::uint64_t from_hexadecimal(const std::string& text) {
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (error != std::errc() || end != text.data() + text.size())
    throw DataFormatError("'{}' is not a hash in hexadecimal digits", text);
  return hash;
}

std::string action_words(const Fingerprint& f) {
  return f.discrete ? fmt::format("one of {} actions a step", f.actions)
                    : fmt::format("{} action numbers a step", f.actions);
}

}  // namespace

Fingerprint fingerprint_of(const Trajectories& data, ThreadPool* pool) {
  const auto own = data.own();
  const Steps steps{data.offsets[own.begin], data.offsets[own.end]};
  return {.episodes = data.episodes(),
          .steps = data.steps(),
          .obs_dim = data.observations.dim(),
          .discrete = data.actions.is_discrete(),
          .actions = data.actions.is_discrete() ? data.actions.count() : data.actions.dim(),
          .episode_hash = episode_hash(data),
          .observation_hash = observation_hash(data.observations, steps, pool),
          .action_hash = action_hash(data.actions, steps, pool)};
}

nlohmann::ordered_json to_json(const Fingerprint& f) {
  return {{"episodes", f.episodes},
          {"steps", f.steps},
          {"obs_dim", f.obs_dim},
          {"discrete", f.discrete},
          {"actions", f.actions},
          {"episode_hash", hexadecimal(f.episode_hash)},
          {"observation_hash", hexadecimal(f.observation_hash)},
          {"action_hash", hexadecimal(f.action_hash)}};
}

Fingerprint fingerprint_from_json(const nlohmann::ordered_json& json) {
  return {.episodes = json.at("episodes"),
          .steps = json.at("steps"),
          .obs_dim = json.at("obs_dim"),
          .discrete = json.at("discrete"),
          .actions = json.at("actions"),
          .episode_hash = from_hexadecimal(json.at("episode_hash")),
          .observation_hash = from_hexadecimal(json.at("observation_hash")),
          .action_hash = from_hexadecimal(json.at("action_hash"))};
}

std::string difference(const Fingerprint& expected, const Fingerprint& found) {
  const auto counted = [](std::int64_t has, std::int64_t had, const char* what) {
    return fmt::format("it has {} {}, the run had {}", grouped(has), what, grouped(had));
  };
  if (found.episodes != expected.episodes)
    return counted(found.episodes, expected.episodes, "episodes");
  if (found.steps != expected.steps) return counted(found.steps, expected.steps, "steps");
  if (found.obs_dim != expected.obs_dim)
    return counted(found.obs_dim, expected.obs_dim, "observation numbers");
  if (found.discrete != expected.discrete || found.actions != expected.actions)
    return fmt::format("it has {}, the run had {}", action_words(found), action_words(expected));
  if (found.episode_hash != expected.episode_hash)
    return "its episodes have other names or lengths";
  if (found.action_hash != expected.action_hash) return "its actions are others";
  if (found.observation_hash != expected.observation_hash) return "its observations are others";
  return "";
}

void require_same_data(const Fingerprint& expected, const Fingerprint& found,
                       const std::string& path) {
  const auto what = difference(expected, found);
  if (!what.empty())
    throw InvalidArgument(
        "'{}' is not the dataset this run was made from: {}; give the file the run was made from, "
        "read with the same options",
        path, what);
}

}  // namespace kindred
