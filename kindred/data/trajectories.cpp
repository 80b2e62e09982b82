#include "kindred/data/trajectories.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "kindred/core/error.h"
#include "kindred/data/mind_memory.h"

namespace kindred {
namespace {

template <class T>
std::int64_t byte_size(const Column<T>& column) {
  return column.size() * static_cast<std::int64_t>(sizeof(T));
}

/// Calls copy_row(step, out) for each of `count` rows of `dim` numbers.
template <class CopyRow>
void for_each_row(std::int64_t count, std::int64_t dim, float* out, CopyRow copy_row) {
  for (std::int64_t i = 0; i < count; ++i) copy_row(i, out + i * dim);
}

}  // namespace

Observations Observations::dense(Column<float> rows, std::int64_t dim) {
  Observations result;
  result.dim_ = dim;
  result.steps_ = dim > 0 ? rows.size() / dim : 0;
  result.floats_ = std::move(rows);
  return result;
}

Observations Observations::dense(Column<std::uint8_t> rows, std::int64_t dim) {
  Observations result;
  result.dim_ = dim;
  result.steps_ = dim > 0 ? rows.size() / dim : 0;
  result.bytes_ = std::move(rows);
  return result;
}

Observations Observations::interned(Column<float> table, std::int64_t dim,
                                    Column<std::int32_t> index) {
  Observations result;
  result.dim_ = dim;
  result.steps_ = index.size();
  result.interned_ = true;
  result.floats_ = std::move(table);
  result.index_ = std::move(index);
  return result;
}

void Observations::copy(std::int64_t begin, std::int64_t end, float* out) const {
  if (interned_) {
    for_each_row(end - begin, dim_, out, [&](std::int64_t i, float* row) {
      std::copy_n(floats_.data() + index_[begin + i] * dim_, dim_, row);
    });
  } else if (is_bytes()) {
    std::copy(bytes_.data() + begin * dim_, bytes_.data() + end * dim_, out);
  } else {
    std::copy(floats_.data() + begin * dim_, floats_.data() + end * dim_, out);
  }
}

void Observations::gather(std::span<const std::int64_t> steps, float* out) const {
  if (interned_ || is_bytes()) {
    for_each_row(std::ssize(steps), dim_, out, [&](std::int64_t i, float* row) {
      const auto step = steps[static_cast<std::size_t>(i)];
      copy(step, step + 1, row);
    });
    return;
  }
  // Steps are drawn from all over memory: their rows are asked for before they are needed.
  constexpr std::int64_t kAhead = 32, kFloatsOfALine = 16;
  const float* const rows = floats_.data();
  for_each_row(std::ssize(steps), dim_, out, [&](std::int64_t i, float* row) {
    if (i + kAhead < std::ssize(steps)) {
      const float* later = rows + steps[static_cast<std::size_t>(i + kAhead)] * dim_;
      for (std::int64_t d = 0; d < dim_; d += kFloatsOfALine) __builtin_prefetch(later + d);
      __builtin_prefetch(later + dim_ - 1);  // rows begin anywhere in a line
    }
    std::copy_n(rows + steps[static_cast<std::size_t>(i)] * dim_, dim_, row);
  });
}

std::int64_t Observations::bytes_in_memory() const {
  return byte_size(floats_) + byte_size(bytes_) + byte_size(index_);
}

Actions Actions::discrete(Column<std::int32_t> values, std::int64_t count) {
  Actions result;
  result.discrete_ = true;
  result.width_ = count;
  result.ints_ = std::move(values);
  return result;
}

Actions Actions::continuous(Column<float> values, std::int64_t dim) {
  Actions result;
  result.discrete_ = false;
  result.width_ = dim;
  result.floats_ = std::move(values);
  return result;
}

std::int64_t Actions::bytes_in_memory() const { return byte_size(ints_) + byte_size(floats_); }

std::int64_t Trajectories::bytes_in_memory() const {
  return byte_size(offsets) + observations.bytes_in_memory() + actions.bytes_in_memory() +
         byte_size(rewards) + byte_size(terminals) + byte_size(timeouts) + byte_size(labels) +
         byte_size(oracle) + byte_size(actors);
}

void Trajectories::validate(const std::string& what) const {
  const auto n = steps();
  const auto require = [&](bool fine, const std::string& problem) {
    if (!fine) throw DataFormatError("{}: {}", what, problem);
  };
  const auto fits = [&](std::int64_t found, std::int64_t expected, const char* column) {
    require(found == expected,
            fmt::format("{} has {} entries, expected {}", column, found, expected));
  };
  require(episodes() > 0, "no episodes");
  require(observations.dim() > 0, "observations have no dimensions");
  require(offsets[0] == 0 && offsets[episodes()] == n,
          fmt::format("episode offsets run from {} to {}, expected 0 to {}", offsets[0],
                      offsets[episodes()], n));
  for (std::int64_t i = 0; i < episodes(); ++i)
    require(length(i) > 0,
            fmt::format("episode {} has {} steps, expected at least 1", i, length(i)));
  fits(actions.steps(), n, "actions");
  if (!rewards.empty()) fits(rewards.size(), n, "rewards");
  if (!terminals.empty()) fits(terminals.size(), n, "terminals");
  if (!timeouts.empty()) fits(timeouts.size(), n, "timeouts");
  if (!actors.empty()) fits(actors.size(), n, "actors");
  fits(static_cast<std::int64_t>(ids.size()), episodes(), "ids");
  if (!labels.empty()) fits(labels.size(), episodes(), "labels");
  if (!oracle.empty()) fits(oracle.size(), episodes(), "oracle labels");
  const auto names_fit = [&](const std::vector<std::string>& names, std::int64_t dim,
                             const char* column) {
    if (!names.empty()) fits(static_cast<std::int64_t>(names.size()), dim, column);
  };
  names_fit(observation_names, observations.dim(), "names of observations");
  names_fit(action_names, actions.dim(), "names of actions");
  if (observations.is_interned())
    for (const auto row : observations.index())
      require(row >= 0 && row < observations.distinct(),
              fmt::format("observation index {} is outside its table of {}", row,
                          observations.distinct()));
  if (actions.is_discrete())
    for (const auto action : actions.ints())
      require(action >= 0 && action < actions.count(),
              fmt::format("action {} is outside 0..{}", action, actions.count() - 1));
}

std::vector<std::int32_t> most_frequent_actors(const Trajectories& data) {
  std::vector<std::int32_t> result;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    std::map<std::int32_t, std::int64_t> steps;
    for (auto step = data.offsets[i]; step < data.offsets[i + 1]; ++step)
      ++steps[data.actors[step]];
    result.push_back(
        std::ranges::max_element(steps, {}, [](const auto& of) { return of.second; })->first);
  }
  return result;
}

std::vector<double> episode_returns(const Trajectories& data) {
  if (data.rewards.empty()) return {};
  std::vector<double> returns(static_cast<std::size_t>(data.episodes()));
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    returns[static_cast<std::size_t>(i)] = std::accumulate(
        data.rewards.data() + data.offsets[i], data.rewards.data() + data.offsets[i + 1], 0.0);
  return returns;
}

void expect_steps(const Trajectories& data, std::int64_t begin, std::int64_t end) {
  const auto expect = [&](const auto& column, std::int64_t width) {
    expect_pages(column.data() + begin * width,
                 static_cast<std::size_t>((end - begin) * width) * sizeof(*column.data()));
  };
  const auto& seen = data.observations;
  if (seen.is_interned())
    expect(seen.index(), 1);
  else if (seen.is_bytes())
    expect(seen.bytes(), seen.dim());
  else
    expect(seen.floats(), seen.dim());
  if (data.actions.is_discrete())
    expect(data.actions.ints(), 1);
  else
    expect(data.actions.floats(), data.actions.dim());
}

}  // namespace kindred
