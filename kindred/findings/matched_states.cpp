#include "kindred/findings/matched_states.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "kindred/findings/names.h"
#include "kindred/findings/state_rows.h"

namespace kindred::findings {
namespace {

constexpr std::int64_t kMatchedClusters = 24, kMatchedColumns = 64;
constexpr std::int64_t kAskedSteps = 3000, kAnsweringSteps = 24'000;  // of all clusters together
constexpr std::int64_t kMostAnswering = 10'000;                       // of one
constexpr std::size_t kNeighbours = 5;  // of its own: the farthest of them is near
constexpr double kErrors = 2.0;         // standard errors that count
constexpr double kLeastShare = 0.01;  // of the steps must be matched, and so many, to say anything
constexpr std::int64_t kLeastMatches = 20;
constexpr double kAlike = 0.1;         // of the differences within a cluster, or
constexpr double kAlikeAnyway = 0.02;  // this, is too little to call a difference
constexpr double kWorthTelling = 0.3;  // correlation of a difference with where it is

/// Some steps of a cluster.
struct Sample {
  std::vector<std::int64_t> steps, episodes;
  StateRows states = {};

  std::size_t count() const { return steps.size(); }
  const float* state(std::size_t i) const { return states.row(static_cast<std::int64_t>(i)); }
};

/// A step that is near, by its number in a sample; none where the number is below 0.
struct Near {
  float distance = std::numeric_limits<float>::infinity();  // squared
  std::int64_t number = -1;
};

/// A step with a near one of its own cluster and one of another that is no farther.
struct Match {
  std::int64_t step, own, other, episode;
  const float* state;
};

Sample sample_of(const Trajectories& data, const std::vector<std::int64_t>& members,
                 std::int64_t most) {
  std::int64_t all = 0, passed = 0;
  for (const auto episode : members) all += data.length(episode);
  const auto stride = stride_for(all, most);
  Sample sample;
  for (const auto episode : members)
    for (auto step = data.offsets[episode]; step < data.offsets[episode + 1]; ++step)
      if (passed++ % stride == 0) {
        sample.steps.push_back(step);
        sample.episodes.push_back(episode);
      }
  return sample;
}

float squared_distance(const float* a, const float* b, std::int64_t width) {
  float sum = 0.0f;
  for (std::int64_t i = 0; i < width; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

/// The nearest steps of `to` that are of another episode than step i of `from`, the nearest first.
template <std::size_t count>
std::array<Near, count> nearest(const Sample& from, std::size_t i, const Sample& to) {
  std::array<Near, count> best;
  for (std::size_t j = 0; j < to.count(); ++j) {
    if (from.episodes[i] == to.episodes[j]) continue;
    const float distance = squared_distance(from.state(i), to.state(j), from.states.width);
    if (distance >= best.back().distance) continue;
    best.back() = {distance, static_cast<std::int64_t>(j)};
    for (auto at = count - 1; at > 0 && best[at].distance < best[at - 1].distance; --at)
      std::swap(best[at], best[at - 1]);
  }
  return best;
}

class Matching {
 public:
  explicit Matching(const RunData& found) : data_(found.data) {
    const auto most = std::min(kMostAnswering, kAnsweringSteps / found.k());
    for (const auto& members : found.members) samples_.push_back(sample_of(data_, members, most));
    take_states();
    take_scales();
    const auto asked = kAskedSteps / found.k();
    for (const auto& sample : samples_) {
      auto& own = own_.emplace_back();
      const auto stride = static_cast<std::size_t>(stride_for(std::ssize(sample.steps), asked));
      for (std::size_t i = 0; i < sample.count(); i += stride) {
        const auto near = nearest<kNeighbours>(sample, i, sample);
        const auto last = std::ranges::find_if(near.rbegin(), near.rend(),
                                               [](const Near& one) { return one.number >= 0; });
        if (last != near.rend()) own.emplace(i, *last);
      }
    }
  }

  Json pairs() const {
    auto list = Json::array();
    for (std::size_t a = 0; a < samples_.size(); ++a)
      for (std::size_t b = a + 1; b < samples_.size(); ++b) list.push_back(pair(a, b));
    return list;
  }

 private:
  /// Of all samples together, on one scale.
  void take_states() {
    std::vector<float> all;
    for (auto& sample : samples_) {
      sample.states = state_rows(data_.observations, sample.steps, kMatchedColumns);
      all.insert(all.end(), sample.states.values.begin(), sample.states.values.end());
    }
    standardise(all, samples_.front().states.width);
    auto from = all.begin();
    for (auto& sample : samples_) {
      const auto size = std::ssize(sample.states.values);
      std::copy(from, from + size, sample.states.values.begin());
      from += size;
    }
  }

  /// By what the numbers of actions are divided: their deviation over all samples.
  void take_scales() {
    if (data_.actions.is_discrete()) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(data_.actions.dim()); ++i) {
      double sum = 0.0, count = 0.0, squares = 0.0;
      for (const auto& sample : samples_)
        for (const auto step : sample.steps) sum += action(step, i), ++count;
      for (const auto& sample : samples_)
        for (const auto step : sample.steps)
          squares += std::pow(action(step, i) - sum / count, 2) / count;
      scales_.push_back(std::sqrt(squares));
    }
  }

  double action(std::int64_t step, std::size_t i) const {
    return data_.actions.floats()[step * data_.actions.dim() + static_cast<std::int64_t>(i)];
  }

  /// 0 or 1 for discrete actions; else the mean square over the action's numbers, in deviations.
  double difference(std::int64_t a, std::int64_t b) const {
    if (data_.actions.is_discrete())
      return data_.actions.ints()[a] == data_.actions.ints()[b] ? 0.0 : 1.0;
    double sum = 0.0;
    for (std::size_t i = 0; i < scales_.size(); ++i)
      if (scales_[i] > 0.0) sum += std::pow((action(a, i) - action(b, i)) / scales_[i], 2);
    return sum / static_cast<double>(scales_.size());
  }

  std::vector<Match> matches(std::size_t from, std::size_t to) const {
    const auto &own = samples_[from], &other = samples_[to];
    std::vector<Match> result;
    for (const auto& [i, near] : own_[from]) {
      const auto [found] = nearest<1>(own, i, other);
      if (found.number < 0 || found.distance > near.distance) continue;
      result.push_back({own.steps[i], own.steps[static_cast<std::size_t>(near.number)],
                        other.steps[static_cast<std::size_t>(found.number)], own.episodes[i],
                        own.state(i)});
    }
    return result;
  }

  /// How much more actions differ from the other cluster's than from their own, and the standard
  /// error of that over episodes: steps of one episode are no independent witnesses.
  struct Excess {
    double between = 0.0, within = 0.0, error = 0.0;
  };

  Excess excess(const std::vector<Match>& matched) const {
    Excess result;
    std::map<std::int64_t, std::pair<double, double>> of_episode;  // sum, count
    const auto count = static_cast<double>(matched.size());
    for (const auto& match : matched) {
      const double between = difference(match.step, match.other);
      const double within = difference(match.step, match.own);
      result.between += between / count;
      result.within += within / count;
      auto& [sum, steps] = of_episode[match.episode];
      sum += between - within;
      ++steps;
    }
    double squares = 0.0;
    for (const auto& [episode, part] : of_episode)
      squares += std::pow(part.first - (result.between - result.within) * part.second, 2);
    const auto episodes = static_cast<double>(of_episode.size());
    // One episode alone says nothing about others.
    result.error = episodes > 1.0 ? std::sqrt(squares * episodes / (episodes - 1.0)) / count
                                  : std::numeric_limits<double>::infinity();
    return result;
  }

  Json pair(std::size_t a, std::size_t b) const {
    const std::array matched = {matches(a, b), matches(b, a)};
    const auto share = [&](const std::vector<Match>& found, std::size_t of) {
      return static_cast<double>(found.size()) /
             static_cast<double>(std::max<std::size_t>(1, own_[of].size()));
    };
    const std::array shares = {share(matched[0], a), share(matched[1], b)};
    Json json = {
        {"pair", {a, b}}, {"share", {brief(shares[0]), brief(shares[1])}}, {"verdict", "apart"}};
    if (std::max(shares[0], shares[1]) < kLeastShare ||
        std::ssize(matched[0]) + std::ssize(matched[1]) < kLeastMatches)
      return json;
    Excess mean;
    double sides = 0.0;
    for (const auto& side : matched) {
      if (side.empty()) continue;
      const auto one = excess(side);
      mean.between += one.between;
      mean.within += one.within;
      mean.error = std::hypot(mean.error, one.error);
      ++sides;
    }
    json["between"] = brief(mean.between / sides);
    json["within"] = brief(mean.within / sides);
    const double more = mean.between - mean.within, error = kErrors * mean.error;
    json["verdict"] = more > error                                                 ? "differ"
                      : more + error < sides * kAlikeAnyway + kAlike * mean.within ? "alike"
                                                                                   : "unclear";
    if (json["verdict"] == "differ") tell_apart(both_ways(matched), json);
    return json;
  }

  /// Those of the second cluster turned round, so that all begin with a step of the first.
  static std::vector<Match> both_ways(const std::array<std::vector<Match>, 2>& matched) {
    auto all = matched[0];
    for (auto match : matched[1]) {
      std::swap(match.step, match.other);
      all.push_back(match);
    }
    return all;
  }

  /// In what the actions of matched steps differ most, and where.
  void tell_apart(const std::vector<Match>& matched, Json& json) const {
    if (data_.actions.is_discrete())
      json["choices"] = most_common_choices(matched);
    else
      json["action"] = most_different_number(matched);
    json["where"] = where_most(matched);
  }

  /// What the first chooses where the second chooses something else, most often.
  Json most_common_choices(const std::vector<Match>& matched) const {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> times;
    for (const auto& match : matched)
      if (difference(match.step, match.other) > 0.0)
        ++times[{data_.actions.ints()[match.step], data_.actions.ints()[match.other]}];
    if (times.empty()) return nullptr;
    const auto most =
        std::ranges::max_element(times, {}, [](const auto& one) { return one.second; });
    return {
        {"first", most->first.first},
        {"second", most->first.second},
        {"share", brief(static_cast<double>(most->second) / static_cast<double>(matched.size()))}};
  }

  /// By how much the two differ in it and, by how much of that, the first is higher.
  Json most_different_number(const std::vector<Match>& matched) const {
    const auto count = static_cast<double>(matched.size());
    std::size_t best = 0;
    double most = -1.0;
    std::vector<double> apart(scales_.size(), 0.0);
    for (std::size_t i = 0; i < scales_.size(); ++i) {
      if (!(scales_[i] > 0.0)) continue;
      for (const auto& match : matched)
        apart[i] += std::pow(action(match.step, i) - action(match.other, i), 2) / count;
      if (apart[i] / (scales_[i] * scales_[i]) > most) {
        most = apart[i] / (scales_[i] * scales_[i]);
        best = i;
      }
    }
    double higher = 0.0;
    for (const auto& match : matched)
      higher += (action(match.step, best) - action(match.other, best)) / count;
    return {{"name", action_name(data_, static_cast<std::int64_t>(best))},
            {"apart", brief(std::sqrt(apart[best]))},
            {"higher", brief(higher)}};
  }

  /// The number of the observation with which the difference grows or falls most; null where it
  /// does with none, or numbers are blocks of many.
  Json where_most(const std::vector<Match>& matched) const {
    if (data_.observations.dim() > kMatchedColumns) return nullptr;
    std::int64_t best = -1;
    double most = kWorthTelling;
    for (std::int64_t i = 0; i < data_.observations.dim(); ++i) {
      const double r = correlation(matched, i);
      if (std::abs(r) <= std::abs(most)) continue;
      most = r;
      best = i;
    }
    if (best < 0) return nullptr;
    return {{"name", observation_name(data_, best)}, {"high", most > 0.0}};
  }

  double correlation(const std::vector<Match>& matched, std::int64_t column) const {
    double x = 0.0, y = 0.0, xx = 0.0, yy = 0.0, xy = 0.0;
    const auto n = static_cast<double>(matched.size());
    for (const auto& match : matched) {
      const double state = match.state[column];
      const double apart = difference(match.step, match.other);
      x += state / n, y += apart / n;
      xx += state * state / n, yy += apart * apart / n, xy += state * apart / n;
    }
    const double spreads = std::sqrt(std::max(0.0, xx - x * x) * std::max(0.0, yy - y * y));
    return spreads > 1e-9 ? (xy - x * y) / spreads : 0.0;
  }

  const Trajectories& data_;
  std::vector<Sample> samples_;                   // [k]
  std::vector<std::map<std::size_t, Near>> own_;  // [k]: of the steps that are asked about
  std::vector<double> scales_;  // [action numbers]; empty where actions are discrete
};

}  // namespace

Json matched_states(const RunData& found) {
  if (found.k() < 2 || found.k() > kMatchedClusters) return nullptr;
  return Matching(found).pairs();
}

}  // namespace kindred::findings
