#include "kindred/findings/segments_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>

#include "kindred/core/error.h"
#include "kindred/core/words.h"
#include "kindred/findings/column.h"
#include "kindred/findings/names.h"
#include "kindred/findings/run_data.h"
#include "kindred/findings/stage.h"
#include "kindred/runs/segment_evidence.h"
#include "kindred/runs/segment_scores.h"

namespace kindred {
namespace {

namespace fs = std::filesystem;
using findings::Json;
using findings::narrow_column;

constexpr std::int64_t kMostPoints = 800;  // of an episode's evidence: more than a chart is wide
constexpr std::int64_t kMostActions = 20;  // that can be told apart, one above the other
constexpr std::size_t kMostNumbers = 3;    // of an action, drawn one below the other
constexpr std::int64_t kMostTurns = 6;     // with a picture of their first step

/// The segments with their episodes' numbers; refused unless they cover each episode once.
std::vector<Segment> numbered_segments(const SegmentFolder& folder, const LoadedSegments& loaded,
                                       const Trajectories& data) {
  const auto k = loaded.record.at("result").at("k").get<std::int64_t>();
  const auto refuse = [&](const std::string& episode) {
    throw DataFormatError(
        "'{}' does not cover episode '{}' of the dataset, step by step and once, with policies 0 "
        "to {}; make it again with 'kindred segment … --force'",
        folder.segments().string(), episode, k - 1);
  };
  auto segments = loaded.segments;
  std::int64_t episode = 0, reached = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    auto& one = segments[i];
    if (episode == data.episodes()) refuse(loaded.episodes[i]);
    const auto& id = data.ids[static_cast<std::size_t>(episode)];
    one.episode = episode;
    if (loaded.episodes[i] != id || one.begin != reached || one.end > data.length(episode) ||
        one.policy >= k)
      refuse(id);
    reached = one.end;
    if (reached < data.length(episode)) continue;
    ++episode;
    reached = 0;
  }
  if (episode < data.episodes()) refuse(data.ids[static_cast<std::size_t>(episode)]);
  return segments;
}

template <class Get>
Json segment_column(const std::vector<Segment>& segments, const Get& get) {
  std::vector<std::int32_t> values;
  values.reserve(segments.size());
  for (const auto& one : segments) values.push_back(static_cast<std::int32_t>(get(one)));
  return narrow_column(values);
}

Json episode_lengths(const Trajectories& data) {
  std::vector<std::int32_t> lengths;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    lengths.push_back(static_cast<std::int32_t>(data.length(i)));
  return {{"count", data.episodes()},
          {"ids", findings::ids_of(data)},
          {"length", narrow_column(lengths)}};
}

Json segments_json(const std::vector<Segment>& segments) {
  std::vector<double> chances;
  for (const auto& one : segments) chances.push_back(one.chance);
  return {{"begin", segment_column(segments, [](const auto& one) { return one.begin; })},
          {"policy", segment_column(segments, [](const auto& one) { return one.policy; })},
          {"earliest", segment_column(segments, [](const auto& one) { return one.earliest; })},
          {"latest", segment_column(segments, [](const auto& one) { return one.latest; })},
          {"chance", findings::rough_column(chances)}};
}

/// A row for each policy that may have acted in an unsure stretch; null without any. Refused unless
/// the stretches are in the order of the dataset's episodes.
Json unsure_json(const SegmentFolder& folder, const LoadedSegments& loaded,
                 const Trajectories& data, std::int64_t k) {
  if (loaded.unsure.empty()) return nullptr;
  std::vector<std::int32_t> episodes, begins, ends, policies;
  std::vector<double> chances;
  std::int64_t episode = 0;
  for (std::size_t i = 0; i < loaded.unsure.size(); ++i) {
    const auto& [unset, begin, end, candidates] = loaded.unsure[i];
    const auto& id = loaded.unsure_episodes[i];
    while (episode < data.episodes() && data.ids[static_cast<std::size_t>(episode)] != id)
      ++episode;
    if (episode == data.episodes() || end <= begin || end > data.length(episode))
      throw DataFormatError("'{}' does not fit the dataset; make it again with 'kindred segment'",
                            folder.unsure().string());
    for (const auto& [policy, chance, first, after] : candidates) {
      if (policy >= k)
        throw DataFormatError("'{}' names a policy {}; there are {}", folder.unsure().string(),
                              policy, k);
      episodes.push_back(static_cast<std::int32_t>(episode));
      begins.push_back(static_cast<std::int32_t>(begin));
      ends.push_back(static_cast<std::int32_t>(end));
      policies.push_back(policy);
      chances.push_back(chance);
    }
  }
  return {{"episode", narrow_column(episodes)},
          {"begin", narrow_column(begins)},
          {"end", narrow_column(ends)},
          {"policy", narrow_column(policies)},
          {"chance", findings::rough_column(chances)}};
}

/// For each true policy the found one that shares most steps with it, of which each is given once;
/// -1 where none is left.
std::vector<std::int32_t> matching_policies(const Trajectories& data,
                                            const std::vector<Segment>& segments,
                                            const std::vector<std::int32_t>& truth, std::int64_t k,
                                            std::int64_t true_k) {
  Matrix shared(true_k, k);
  for (const auto& one : segments)
    for (auto t = one.begin; t < one.end; ++t)
      if (const auto actor = truth[static_cast<std::size_t>(data.offsets[one.episode] + t)];
          actor >= 0)
        shared(actor, one.policy) += 1.0;
  std::vector<std::int32_t> match(static_cast<std::size_t>(true_k), -1);
  for (;;) {
    const auto largest = std::ranges::max_element(shared.values);
    if (largest == shared.values.end() || *largest <= 0.0) return match;
    const auto place = largest - shared.values.begin();
    match[static_cast<std::size_t>(place / k)] = static_cast<std::int32_t>(place % k);
    for (std::int64_t j = 0; j < k; ++j) shared(place / k, j) = 0.0;
    for (std::int64_t i = 0; i < true_k; ++i) shared(i, place % k) = 0.0;
  }
}

/// Null where the true actors are not known.
Json truth_json(const Trajectories& data, const std::vector<Segment>& found, std::int64_t k) {
  const auto [actors, names] = findings::numbered_truth(true_actors(data), data.label_names);
  if (actors.empty()) return nullptr;
  const auto true_k = 1 + std::max<std::int64_t>(0, *std::ranges::max_element(actors));
  const auto segments = segments_of(actors, data.offsets.span());
  return {{"names", names},
          {"match", matching_policies(data, found, actors, k, true_k)},
          {"begin", segment_column(segments, [](const auto& one) { return one.begin; })},
          {"policy", segment_column(segments, [](const auto& one) { return one.policy; })}};
}

/// How far each policy's log-likelihood of all steps so far is behind that of who acted: [kept, k].
Json evidence_of(const SegmentEvidence& evidence, std::int64_t i,
                 std::span<const Segment> segments) {
  const auto k = evidence.policies, length = evidence.length(i);
  const auto stride = findings::stride_for(length, kMostPoints);
  std::vector<double> behind(static_cast<std::size_t>(k), 0.0);
  std::vector<float> kept;
  for (const auto& one : segments)
    for (auto t = one.begin; t < one.end; ++t) {
      const auto nats = evidence.at(i, t);
      for (std::int64_t j = 0; j < k; ++j)
        behind[static_cast<std::size_t>(j)] +=
            nats[static_cast<std::size_t>(j)] - nats[static_cast<std::size_t>(one.policy)];
      if (t % stride == 0)
        for (const double value : behind) kept.push_back(static_cast<float>(value));
    }
  return {{"episode", evidence.episodes[static_cast<std::size_t>(i)]},
          {"stride", stride},
          {"behind", findings::column(kept)}};
}

/// The numbers of an action that who acts says most about: of every number, which share of its
/// variance lies between policies.
std::vector<std::int64_t> telling_numbers(const Trajectories& data,
                                          const std::vector<Segment>& segments,
                                          const std::set<std::int64_t>& episodes, std::int64_t k) {
  const auto dim = data.actions.dim();
  const auto values = data.actions.floats();
  std::vector<double> share(static_cast<std::size_t>(dim));
  for (std::int64_t i = 0; i < dim; ++i) {
    std::vector<double> count(static_cast<std::size_t>(k)), sum = count;
    double squares = 0.0;
    for (const auto& one : segments)
      if (episodes.contains(one.episode))
        for (auto t = one.begin; t < one.end; ++t) {
          const double value = values[(data.offsets[one.episode] + t) * dim + i];
          count[static_cast<std::size_t>(one.policy)] += 1.0;
          sum[static_cast<std::size_t>(one.policy)] += value;
          squares += value * value;
        }
    const double all = std::accumulate(count.begin(), count.end(), 0.0);
    const double mean = std::accumulate(sum.begin(), sum.end(), 0.0) / all;
    double between = -all * mean * mean;
    for (std::size_t j = 0; j < count.size(); ++j)
      if (count[j] > 0.0) between += sum[j] * sum[j] / count[j];
    share[static_cast<std::size_t>(i)] = between / (squares - all * mean * mean + 1e-12);
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(dim));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(),
                           [&](auto i) { return share[static_cast<std::size_t>(i)]; });
  if (order.size() <= kMostNumbers)
    std::ranges::sort(order);  // all are shown
  else
    order.resize(kMostNumbers);
  return order;
}

/// What was done at the steps whose evidence is kept, beside that evidence; returns what the
/// actions or their numbers are called, null where there is nothing to draw.
Json add_actions(const Trajectories& data, const std::vector<Segment>& segments, std::int64_t k,
                 Json& evidence) {
  const auto& actions = data.actions;
  const auto all = actions.is_discrete() ? actions.count() : actions.dim();
  if (evidence.empty() || (actions.is_discrete() && all > kMostActions)) return nullptr;
  std::set<std::int64_t> episodes;
  for (const auto& one : evidence) episodes.insert(one.at("episode").get<std::int64_t>());
  std::vector<std::int64_t> shown(static_cast<std::size_t>(all));
  std::iota(shown.begin(), shown.end(), 0);
  if (!actions.is_discrete()) shown = telling_numbers(data, segments, episodes, k);
  for (auto& one : evidence) {
    const std::int64_t episode = one.at("episode"), stride = one.at("stride");
    std::vector<std::int32_t> chosen;
    std::vector<double> numbers;
    for (auto t = data.offsets[episode]; t < data.offsets[episode + 1]; t += stride)
      if (actions.is_discrete())
        chosen.push_back(actions.ints()[t]);
      else
        for (const auto i : shown) numbers.push_back(actions.floats()[t * actions.dim() + i]);
    one["actions"] =
        actions.is_discrete() ? narrow_column(chosen) : findings::rough_column(numbers);
  }
  auto names = Json::array();
  for (const auto i : shown) names.push_back(findings::action_name(data, i));
  return {{"names", names}, {"discrete", actions.is_discrete()}, {"of", all}};
}

/// Where episodes can be watched, and the steps whose evidence is kept; null where they cannot be.
Json add_scenes(const Trajectories& data, Json& evidence) {
  if (evidence.empty()) return nullptr;
  const auto stage = findings::make_stage(data);
  if (!stage) return nullptr;
  for (auto& one : evidence) {
    const std::int64_t episode = one.at("episode"), stride = one.at("stride");
    std::vector<std::int64_t> steps;
    for (std::int64_t t = 0; t < data.length(episode); t += stride) steps.push_back(t);
    stage->add_steps(episode, steps, one);
  }
  return stage->setting();
}

/// The first step, the last, and those at which somebody takes over, where these are not too many.
std::vector<std::int64_t> pictured_steps(std::span<const Segment> segments) {
  const auto length = segments.back().end, turns = std::ssize(segments) - 1;
  if (turns == 0) return findings::evenly_pictured(length);
  std::set<std::int64_t> steps{0, length - 1};
  for (std::int64_t i = 0; i < std::min(turns, kMostTurns); ++i)
    steps.insert(
        segments[static_cast<std::size_t>(1 + i * turns / std::min(turns, kMostTurns))].begin);
  return {steps.begin(), steps.end()};
}

/// What cameras saw of the episodes with evidence, most switches first.
Json add_pictures(const Trajectories& data, const std::vector<Segment>& segments,
                  const PictureOptions& options, Json& evidence) {
  std::map<std::int64_t, Json*> place;
  std::vector<std::pair<std::int64_t, findings::PicturedEpisode>> order;
  for (auto& one : evidence) {
    const std::int64_t episode = one.at("episode");
    const auto [first, last] = std::ranges::equal_range(segments, episode, {}, &Segment::episode);
    place[episode] = &one;
    order.push_back({first - last, {episode, pictured_steps(std::span(first, last))}});
  }
  std::ranges::stable_sort(order, {}, [](const auto& one) { return one.first; });
  std::vector<findings::PicturedEpisode> episodes;
  for (auto& [turns, one] : order) episodes.push_back(std::move(one));
  return findings::take_pictures(data, options, episodes, [&](std::int64_t episode, Json pictures) {
    (*place.at(episode))["pictures"] = std::move(pictures);
  });
}

/// Of the episodes the folder holds it of; none with one policy, nor where an older program made
/// the folder.
Json evidence_json(const SegmentFolder& folder, const Trajectories& data,
                   const std::vector<Segment>& segments, std::int64_t k) {
  auto list = Json::array();
  if (k < 2 || !fs::exists(folder.evidence())) return list;
  const auto evidence = load_evidence(folder.evidence(), k, data.episodes());
  for (std::int64_t i = 0; i < evidence.count(); ++i) {
    const auto episode = evidence.episodes[static_cast<std::size_t>(i)];
    if (evidence.length(i) != data.length(episode))
      throw DataFormatError("'{}' does not fit the dataset; make it again with 'kindred segment'",
                            folder.evidence().string());
    const auto [first, last] = std::ranges::equal_range(segments, episode, {}, &Segment::episode);
    list.push_back(evidence_of(evidence, i, std::span(first, last)));
  }
  return list;
}

std::string folder_name(const fs::path& folder) {
  const auto path = fs::absolute(folder).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

}  // namespace

std::string segments_conclusion(const Json& record) {
  const auto& result = record.at("result");
  const std::int64_t k = result.at("k"), switches = result.at("switches");
  if (switches == 0)
    return k == 1 ? "One policy acted throughout."
                  : fmt::format("{} policies, and nobody switches within an episode.", k);
  return fmt::format("{} policies; {} {} in {} of {} episodes.", k, grouped(switches),
                     switches == 1 ? "switch" : "switches",
                     grouped(result.at("episodes_with_switches").get<std::int64_t>()),
                     grouped(record.at("dataset").at("episodes").get<std::int64_t>()));
}

Json segments_record(const SegmentFolder& folder, const LoadedSegments& loaded,
                     const Trajectories& data, const PictureOptions& pictures) try {
  const auto segments = numbered_segments(folder, loaded, data);
  const auto k = loaded.record.at("result").at("k").get<std::int64_t>();
  auto evidence = evidence_json(folder, data, segments, k);
  const auto actions = add_actions(data, segments, k, evidence);
  const auto scene = add_scenes(data, evidence);
  const auto seen = add_pictures(data, segments, pictures, evidence);
  return {{"kindred_segmentation", 1},
          {"name", folder_name(folder.path())},
          {"conclusion", segments_conclusion(loaded.record)},
          {"record", loaded.record},
          {"episodes", episode_lengths(data)},
          {"segments", segments_json(segments)},
          {"unsure", unsure_json(folder, loaded, data, k)},
          {"truth", truth_json(data, segments, k)},
          {"actions", actions},
          {"scene", scene},
          {"pictures", seen},
          {"evidence", evidence}};
} catch (const Json::exception&) {
  throw DataFormatError(
      "'{}' lacks what a page shows; make it again with 'kindred segment … --force'",
      folder.record().string());
}

}  // namespace kindred
