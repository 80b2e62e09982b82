#include "kindred/findings/baseline.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kindred/core/random.h"
#include "kindred/findings/state_rows.h"
#include "kindred/metrics/clustering_scores.h"
#include "kindred/nn/kmeans.h"

namespace kindred::findings {
namespace {

constexpr std::int64_t kBaselineEpisodes = 2000, kBaselineSteps = 200, kBaselineColumns = 256;
constexpr std::int64_t kBaselineNumbers = 200'000'000;  // read: about a second
constexpr std::int64_t kBaselineStarts = 4, kBaselineRounds = 100;

/// Means and deviations of the columns of `rows`, appended.
void summarise(const float* rows, std::int64_t count, std::int64_t width,
               std::vector<float>& summary) {
  for (std::int64_t column = 0; column < width; ++column) {
    double sum = 0.0, squares = 0.0;
    for (std::int64_t i = 0; i < count; ++i) sum += rows[i * width + column];
    const double mean = sum / static_cast<double>(count);
    for (std::int64_t i = 0; i < count; ++i)
      squares += std::pow(rows[i * width + column] - mean, 2) / static_cast<double>(count);
    summary.push_back(static_cast<float>(mean));
    summary.push_back(static_cast<float>(std::sqrt(squares)));
  }
}

/// The action of a step as numbers: itself, or a 1 for the one that was chosen.
std::vector<float> action_rows(const Actions& actions, std::span<const std::int64_t> steps) {
  const auto width = actions.is_discrete() ? actions.count() : actions.dim();
  std::vector<float> rows(steps.size() * static_cast<std::size_t>(width), 0.0f);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    float* row = rows.data() + i * static_cast<std::size_t>(width);
    if (actions.is_discrete())
      row[actions.ints()[steps[i]]] = 1.0f;
    else
      for (std::int64_t j = 0; j < width; ++j) row[j] = actions.floats()[steps[i] * width + j];
  }
  return rows;
}

struct Summaries {
  std::vector<float> states, everything;  // [episodes, …]
};

Summaries summaries_of(const Trajectories& data, const std::vector<std::int64_t>& episodes) {
  const auto affordable = kBaselineNumbers / (std::ssize(episodes) * data.observations.dim());
  const auto most = std::clamp<std::int64_t>(affordable, 4, kBaselineSteps);
  const auto actions = data.actions.is_discrete() ? data.actions.count() : data.actions.dim();
  Summaries result;
  for (const auto episode : episodes) {
    std::vector<std::int64_t> steps;
    const auto stride = stride_for(data.length(episode), most);
    for (std::int64_t t = 0; t < data.length(episode); t += stride)
      steps.push_back(data.offsets[episode] + t);
    const auto states = state_rows(data.observations, steps, kBaselineColumns);
    const auto acted = action_rows(data.actions, steps);
    std::vector<float> summary;
    summarise(states.values.data(), states.count(), states.width, summary);
    result.states.insert(result.states.end(), summary.begin(), summary.end());
    summarise(acted.data(), states.count(), actions, summary);
    result.everything.insert(result.everything.end(), summary.begin(), summary.end());
  }
  return result;
}

std::vector<std::int32_t> grouped_by(std::vector<float> summaries, std::int64_t episodes,
                                     std::int64_t k) {
  const auto width = std::ssize(summaries) / episodes;
  standardise(summaries, width);
  const std::vector<double> points(summaries.begin(), summaries.end());
  Random random(0, "baseline");
  return kmeans(points, width, k, kBaselineStarts, random, {}, kBaselineRounds).labels;
}

/// Where both labels are known; null where they nowhere are.
Json agreement(const std::vector<std::int32_t>& groups, const std::vector<std::int32_t>& labels) {
  std::vector<std::int32_t> a, b;
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] >= 0) a.push_back(groups[i]), b.push_back(labels[i]);
  if (a.empty()) return nullptr;
  const auto scores = score_clustering(a, b);
  return {{"nmi", scores.nmi}, {"ami", scores.ami}, {"chance_nmi", scores.chance_nmi}};
}

}  // namespace

Json baselines(const RunData& found) {
  const auto& data = found.data;
  if (found.k() < 2) return nullptr;
  std::vector<std::int64_t> all(static_cast<std::size_t>(data.episodes()));
  std::iota(all.begin(), all.end(), 0);
  const auto episodes = spread(all, kBaselineEpisodes);
  const auto of_episodes = [&](const auto& labels) {
    std::vector<std::int32_t> some;
    for (const auto i : episodes) some.push_back(labels[static_cast<std::size_t>(i)]);
    return some;
  };
  const auto answer = of_episodes(found.run.labels);
  auto summaries = summaries_of(data, episodes);
  Json result = {{"judged", episodes.size()}};
  const auto add = [&](const char* name, std::vector<float> rows) {
    if (std::ranges::any_of(rows, [](float value) { return !std::isfinite(value); })) return;
    const auto groups = grouped_by(std::move(rows), std::ssize(episodes), found.k());
    result[name] = {
        {"answer", agreement(groups, answer)},
        {"truth",
         data.labels.empty() ? Json() : agreement(groups, of_episodes(data.labels.span()))}};
  };
  if (std::ssize(episodes) < found.k()) return nullptr;
  add("states", std::move(summaries.states));
  add("everything", std::move(summaries.everything));
  return result;
}

}  // namespace kindred::findings
