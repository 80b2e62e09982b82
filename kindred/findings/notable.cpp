#include "kindred/findings/notable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace kindred::findings {
namespace {

constexpr std::int64_t kOfAll = 12, kOfCluster = 6;

std::vector<std::int64_t> every_episode(const RunData& found) {
  std::vector<std::int64_t> episodes(static_cast<std::size_t>(found.data.episodes()));
  std::iota(episodes.begin(), episodes.end(), 0);
  return episodes;
}

/// The `count` episodes with the least key.
template <class Key>
std::vector<std::int64_t> least(std::vector<std::int64_t> episodes, std::int64_t count,
                                const Key& key) {
  const auto middle = episodes.begin() + std::min<std::ptrdiff_t>(count, std::ssize(episodes));
  std::ranges::partial_sort(episodes, middle, {}, [&](auto i) { return std::pair(key(i), i); });
  episodes.erase(middle, episodes.end());
  return episodes;
}

double at(const std::vector<double>& values, std::int64_t i) {
  return values[static_cast<std::size_t>(i)];
}

/// How far each episode's fit lies from the middle of its cluster, in typical distances from it.
std::vector<double> relative_fit(const RunData& found) {
  std::vector<double> relative(found.fit.size(), 0.0);
  for (const auto& members : found.members) {
    if (members.empty()) continue;
    const auto middle = [](std::vector<double> values) {
      const auto half = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      std::ranges::nth_element(values, half);
      return *half;
    };
    std::vector<double> fits, distances;
    for (const auto i : members) fits.push_back(at(found.fit, i));
    const double median = middle(fits);
    for (const double fit : fits) distances.push_back(std::abs(fit - median));
    const double typical = std::max(middle(distances), 1e-6);
    for (const auto i : members)
      relative[static_cast<std::size_t>(i)] = (at(found.fit, i) - median) / typical;
  }
  return relative;
}

/// Those whose fit is further below the middle than is typical; none where all fit alike.
NotableList misfits(const RunData& found) {
  const auto relative = relative_fit(found);
  auto worse = every_episode(found);
  std::erase_if(worse, [&](auto i) { return !(at(relative, i) < -1.0); });
  return {.id = "misfits",
          .title = "Misfits",
          .explanation =
              "Explained worst compared with the rest of their cluster: perhaps none of these "
              "policies made them.",
          .episodes = least(worse, kOfAll, [&](auto i) { return at(relative, i); })};
}

/// The true policy most episodes of each cluster have; -1 where none is known.
std::vector<std::int32_t> main_truths(const RunData& found) {
  std::vector<std::int32_t> truths;
  for (const auto& members : found.members) {
    std::map<std::int32_t, std::int64_t> counts;
    for (const auto i : members)
      if (found.data.labels[i] >= 0) ++counts[found.data.labels[i]];
    const auto most = std::ranges::max_element(counts, {}, [](const auto& c) { return c.second; });
    truths.push_back(most == counts.end() ? -1 : most->first);
  }
  return truths;
}

NotableList mislabelled(const RunData& found) {
  const auto truths = main_truths(found);
  std::vector<std::int64_t> wrong;
  for (const auto i : every_episode(found))
    if (found.data.labels[i] >= 0 &&
        found.data.labels[i] != truths[static_cast<std::size_t>(found.label(i))])
      wrong.push_back(i);
  return {.id = "mislabelled",
          .title = "Against the truth",
          .explanation =
              "Made by a different true policy than most of their cluster. Largest lead for the "
              "cluster's policy first.",
          .episodes = least(wrong, kOfAll, [&](auto i) { return -at(found.margin, i); })};
}

}  // namespace

std::vector<NotableList> notable_lists(const RunData& found) {
  std::vector<NotableList> lists;
  if (found.k() > 1)
    lists.push_back({.id = "uncertain",
                     .title = "Least certain",
                     .explanation = "Their policy is least far ahead of the best of the others.",
                     .episodes = least(every_episode(found), kOfAll,
                                       [&](auto i) { return at(found.margin, i); })});
  if (auto list = misfits(found); !list.episodes.empty()) lists.push_back(std::move(list));
  if (!found.data.labels.empty())
    if (auto list = mislabelled(found); !list.episodes.empty()) lists.push_back(std::move(list));
  for (std::int64_t c = 0; c < found.k(); ++c)
    lists.push_back(
        {.id = fmt::format("closest-{}", c),
         .title = fmt::format("Typical of Policy {}", c),
         .explanation = "The policy explains these best.",
         .cluster = c,
         .episodes = least(found.members[static_cast<std::size_t>(c)], kOfCluster, [&](auto i) {
           return std::pair(-at(found.fit, i), -at(found.margin, i));
         })});
  return lists;
}

Json to_json(const std::vector<NotableList>& lists) {
  auto json = Json::array();
  for (const auto& list : lists)
    json.push_back({{"id", list.id},
                    {"title", list.title},
                    {"explanation", list.explanation},
                    {"cluster", list.cluster < 0 ? Json() : Json(list.cluster)},
                    {"episodes", list.episodes}});
  return json;
}

}  // namespace kindred::findings
