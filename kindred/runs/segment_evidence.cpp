#include "kindred/runs/segment_evidence.h"

#include <algorithm>

#include "kindred/data/array_file.h"

namespace kindred {
namespace {

/// An episode as its segments tell it.
struct SegmentedEpisode {
  std::int64_t episode = 0;
  std::int64_t switches = 0;
  double least_chance = 1.0;
};

std::vector<SegmentedEpisode> by_episode(const std::vector<Segment>& segments) {
  std::vector<SegmentedEpisode> episodes;
  for (const auto& one : segments) {
    if (one.begin == 0) episodes.push_back({.episode = one.episode});
    episodes.back().switches += one.begin > 0;
    episodes.back().least_chance = std::min(episodes.back().least_chance, one.chance);
  }
  return episodes;
}

/// The first `count` of `from` that were not chosen yet, or as many evenly spread over it.
void choose(std::vector<SegmentedEpisode> from, std::int64_t count, bool spread,
            std::vector<std::int64_t>& chosen) {
  std::erase_if(from, [&](const auto& one) {
    return std::ranges::find(chosen, one.episode) != chosen.end();
  });
  const auto all = std::ssize(from), taken = std::min(all, count);
  for (std::int64_t i = 0; i < taken; ++i)
    chosen.push_back(from[static_cast<std::size_t>(spread ? i * all / taken : i)].episode);
}

std::vector<std::int64_t> notable_episodes(const std::vector<Segment>& segments,
                                           std::int64_t each) {
  auto episodes = by_episode(segments);
  auto steady = episodes;
  std::erase_if(steady, [](const auto& one) { return one.switches > 0; });
  auto switching = episodes;
  std::erase_if(switching, [](const auto& one) { return one.switches == 0; });
  std::ranges::stable_sort(switching, std::greater<>(), &SegmentedEpisode::switches);
  std::ranges::stable_sort(episodes, std::less<>(), &SegmentedEpisode::least_chance);
  std::vector<std::int64_t> chosen;
  choose(switching, each, false, chosen);
  choose(episodes, each, false, chosen);
  choose(steady, each, true, chosen);
  return chosen;
}

void require(bool fits, const ArrayFileReader& file, const std::string& name) {
  if (!fits) file.refuse(name, "does not fit the segments; make them again with 'kindred segment'");
}

}  // namespace

SegmentEvidence notable_evidence(const Segmentation& found, std::span<const std::int64_t> offsets,
                                 std::int64_t each, std::int64_t most_steps) {
  SegmentEvidence evidence;
  evidence.policies = found.policies;
  std::int64_t room = most_steps;
  for (const auto episode : notable_episodes(found.segments, each)) {
    const auto at = static_cast<std::size_t>(episode);
    const auto length = offsets[at + 1] - offsets[at];
    if (length > room) continue;
    room -= length;
    evidence.episodes.push_back(episode);
  }
  std::ranges::sort(evidence.episodes);
  for (const auto episode : evidence.episodes) {
    const auto at = static_cast<std::size_t>(episode);
    for (auto t = offsets[at]; t < offsets[at + 1]; ++t)
      for (const double nats : found.nats.row(t)) evidence.nats.push_back(static_cast<float>(nats));
    evidence.offsets.push_back(evidence.offsets.back() + offsets[at + 1] - offsets[at]);
  }
  return evidence;
}

void save_evidence(const SegmentEvidence& evidence, const std::filesystem::path& path) {
  ArrayFileWriter file(path);
  file.write<std::int64_t>("episodes", evidence.episodes);
  file.write<std::int64_t>("offsets", evidence.offsets);
  file.write<float>("nats", evidence.nats, {evidence.offsets.back(), evidence.policies});
  file.close();
}

SegmentEvidence load_evidence(const std::filesystem::path& path, std::int64_t policies,
                              std::int64_t episodes) {
  const ArrayFileReader file(path);
  SegmentEvidence evidence;
  evidence.policies = policies;
  evidence.episodes = file.read<std::int64_t>("episodes").values;
  evidence.offsets = file.read<std::int64_t>("offsets", {evidence.count() + 1}).values;
  const bool ordered = std::ranges::adjacent_find(evidence.episodes, std::greater_equal<>()) ==
                       evidence.episodes.end();
  require(ordered && (evidence.episodes.empty() ||
                      (evidence.episodes.front() >= 0 && evidence.episodes.back() < episodes)),
          file, "episodes");
  require(evidence.offsets.front() == 0 && std::ranges::is_sorted(evidence.offsets), file,
          "offsets");
  if (evidence.episodes.empty()) return evidence;
  evidence.nats = file.read_finite<float>("nats", {evidence.offsets.back(), policies}).values;
  return evidence;
}

}  // namespace kindred
