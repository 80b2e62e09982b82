#include "kindred/segments/segmentation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "kindred/data/select.h"
#include "kindred/dist/spread.h"
#include "kindred/methods/policy_search/search.h"
#include "kindred/segments/components.h"
#include "kindred/segments/one_policy.h"
#include "kindred/segments/sticky_chain.h"

namespace kindred {
namespace {

constexpr std::int64_t kSearchedSteps = 60'000;  // of whole episodes, where there are more
constexpr std::int64_t kFeatureWindow = 50;
constexpr double kFirstRate = 1.0 / 200;
constexpr int kComponentRounds = 2, kPolicyRounds = 1;
constexpr double kClearlyBetter = 3.0;              // standard errors
constexpr std::array kPriors{1.0, 0.3, 0.1, 0.03};  // steps
constexpr int kSharedRounds = 15;                   // with each
constexpr double kLittleGain = 1.0;                 // nats

/// Labels of steps, numbered without gaps; those below 0 stay.
struct Labelled {
  std::vector<std::int32_t> labels;
  std::int64_t k = 0;

  explicit Labelled(std::vector<std::int32_t> of_steps) : labels(std::move(of_steps)) {
    std::vector<std::int32_t> number;
    for (const auto label : labels)
      if (label >= 0) {
        if (label >= std::ssize(number)) number.resize(static_cast<std::size_t>(label) + 1, -1);
        number[static_cast<std::size_t>(label)] = 0;
      }
    for (auto& one : number)
      if (one == 0) one = static_cast<std::int32_t>(k++);
    for (auto& label : labels)
      if (label >= 0) label = number[static_cast<std::size_t>(label)];
  }
};

/// An answer to who acted when, and what it is worth.
struct Guess {
  std::vector<std::int32_t> actors;  // [steps]
  std::int64_t policies = 1;
  std::vector<std::int32_t> components{};  // [steps]
  std::vector<std::int32_t> policy_of{};   // [components]
  double rate = 0.0;                       // of switches; 0 where nobody switches
  std::vector<double> nats{};  // [episodes]: what was predicted, less what naming the actors costs

  double total() const { return std::accumulate(nats.begin(), nats.end(), 0.0); }

  /// Components and policies that nothing is left of go.
  void leave_out_empty() {
    const Labelled parts(components), left(actors);
    std::vector<std::int32_t> of(static_cast<std::size_t>(parts.k), 0);
    for (std::size_t t = 0; t < actors.size(); ++t)
      of[static_cast<std::size_t>(parts.labels[t])] = left.labels[t];
    components = parts.labels;
    actors = left.labels;
    policies = left.k;
    policy_of = std::move(of);
  }
};

void pack(const Guess& guess, Packer& to) {
  to.add(guess.actors);
  to.add(guess.policies);
  to.add(guess.components);
  to.add(guess.policy_of);
  to.add(guess.rate);
  to.add(guess.nats);
}

void unpack(Guess& guess, Unpacker& from) {
  from.take(guess.actors);
  from.take(guess.policies);
  from.take(guess.components);
  from.take(guess.policy_of);
  from.take(guess.rate);
  from.take(guess.nats);
}

/// Who acts at each step, and the log-likelihoods that say so.
struct Found {
  Matrix nats;
  std::vector<std::int32_t> actors;
  double rate = 0.0;
};

class Segmenting {
 public:
  Segmenting(const Trajectories& data, const SegmentOptions& options, const RunContext& run)
      : data_(data), options_(options), run_(run), evidence_(step_evidence(data, run)) {}

  /// One policy for everything.
  Guess one() const {
    Guess guess;
    guess.actors.assign(static_cast<std::size_t>(data_.steps()), 0);
    guess.components = guess.actors;
    guess.policy_of = {0};
    value(guess);
    return guess;
  }

  /// Nobody switches, and these are the labels of all episodes, of which the data are some.
  Guess nobody(std::span<const std::int32_t> known, std::span<const std::int64_t> searched) const {
    Guess guess;
    guess.actors.resize(static_cast<std::size_t>(data_.steps()));
    for (std::size_t i = 0; i < searched.size(); ++i)
      fill(static_cast<std::int64_t>(i), known[static_cast<std::size_t>(searched[i])],
           guess.actors);
    guess.components = guess.actors;
    guess.leave_out_empty();
    value(guess);
    return guess;
  }

  /// The best answer in which nobody switches: that of clustering episodes.
  Guess nobody() const {
    const policy_search::SearchOptions asked{
        .tables = tables(), .k = options_.k, .k_max = options_.k_max, .seed = options_.seed};
    const auto searched = policy_search::episodes_to_search(data_, asked);
    const auto found =
        policy_search::search_by_conflicts(select_episodes(data_, searched), asked, run_);
    const auto& labels = found.answer().fit.labels;
    std::vector<std::int32_t> of_steps(static_cast<std::size_t>(data_.steps()), -1);
    for (std::size_t i = 0; i < searched.size(); ++i) fill(searched[i], labels[i], of_steps);
    Guess guess;
    guess.policies = found.answer().fit.k;
    guess.actors = by_episode(evidence_->judge(of_steps, guess.policies).nats);
    guess.components = guess.actors;
    guess.leave_out_empty();
    if (options_.k == 0 && guess.policies > 1) {
      const auto judged = evidence_->judge(guess.actors, guess.policies);
      const auto joined = join(judged.nats, guess.actors, kFirstRate);
      for (auto& actor : guess.actors) actor = joined.policy_of[static_cast<std::size_t>(actor)];
      guess.leave_out_empty();
    }
    value(guess);
    return guess;
  }

  /// From labels of some steps to policies and who acts when.
  Guess refine(std::vector<std::int32_t> first) const {
    Labelled parts(std::move(first));
    double rate = kFirstRate;
    for (int round = 0; round < kComponentRounds; ++round) {
      const auto judged = evidence_->judge(parts.labels, parts.k);
      parts = Labelled(actors(judged.nats, rate));
      rate = rate_of(parts.labels);
    }
    Guess guess;
    for (int round = 0; round < kPolicyRounds; ++round) {
      run_.throw_if_stopped();
      const auto judged = evidence_->judge(parts.labels, parts.k);
      const auto joined = join(judged.nats, parts.labels, rate);
      guess.actors = actors(joined.nats, rate);
      guess.components = within(guess.actors, joined, judged.nats, parts.labels);
      guess.leave_out_empty();
      rate = rate_of(guess.actors);
      if (guess.policies == 1) break;
      parts = Labelled(guess.components);
    }
    guess.rate = rate;
    value(guess);
    return guess;
  }

  /// The same from each of several, of which every rank does some. Collective.
  std::vector<Guess> refine_all(
      std::int64_t count,
      const std::function<std::vector<std::int32_t>(std::int64_t i)>& first) const {
    std::vector<Guess> guesses(static_cast<std::size_t>(count));
    const auto at = [&](std::int64_t i) -> Guess& { return guesses[static_cast<std::size_t>(i)]; };
    spread(run_,
           {.pieces = count,
            .work =
                [&](std::int64_t i) {
                  run_.report({.stage = "policies",
                               .fraction = static_cast<double>(i) / static_cast<double>(count),
                               .sizes = {}});
                  at(i) = refine(first(i));
                },
            .pack = [&](std::int64_t i, Packer& to) { pack(at(i), to); },
            .unpack = [&](std::int64_t i, Unpacker& from) { unpack(at(i), from); },
            .in_turn = true});
    return guesses;
  }

  /// The actors by components that are known, and by what they are parts of.
  Found find(std::span<const std::int32_t> components, std::span<const std::int32_t> policy_of,
             double rate) const {
    auto judged = evidence_->judge(components, std::ssize(policy_of));
    auto joined = join_known(*evidence_, judged.nats, components, policy_of);
    if (rate == 0.0) {
      auto who = by_episode(joined.nats);
      return {std::move(joined.nats), std::move(who), rate};
    }
    const double likely = likely_rate({joined.nats, offsets()}, rate, run_);
    auto found = shared({std::move(joined.nats), {}, likely}, rate);
    found.actors = actors(found.nats, found.rate);
    return found;
  }

  /// The components of the steps of more data.
  std::vector<std::int32_t> components_of(const Guess& guess, const Trajectories& all) const {
    const auto judged = evidence_->judge(guess.components, std::ssize(guess.policy_of));
    const auto nats = evidence_->judge_others(judged, guess.components, all);
    return most_likely_actors({nats, all.offsets.span()}, std::max(guess.rate, kFirstRate), run_);
  }

  bool tables() const { return data_.observations.is_interned() && data_.actions.is_discrete(); }
  const StepEvidence& evidence() const { return *evidence_; }

 private:
  /// Tables once more, with everybody's chance at each step instead of one actor, and as certain of
  /// what they have not seen as held-out steps are likeliest under. Whoever takes over unseen is
  /// else counted as the one before, whose table then says that it might do anything.
  Found shared(Found best, double least_rate) const {
    auto chain = fit_chain({best.nats, offsets()}, best.rate, run_);
    double likelihood = chain.log_likelihood;
    const auto places = static_cast<double>(data_.steps() - data_.episodes());
    for (const double prior : kPriors) {
      bool better = false;
      for (int round = 0; round < kSharedRounds; ++round) {
        run_.throw_if_stopped();
        auto nats = evidence_->judge_shared(chain.posteriors, prior);
        if (!nats) return best;
        const double rate = std::max(least_rate, chain.switches / std::max(1.0, places));
        chain = fit_chain({*nats, offsets()}, rate, run_);
        if (chain.log_likelihood < likelihood + kLittleGain) break;
        likelihood = chain.log_likelihood;
        best = {std::move(*nats), {}, rate};
        better = true;
      }
      if (!better) break;
    }
    return best;
  }

  std::span<const std::int64_t> offsets() const { return data_.offsets.span(); }

  void fill(std::int64_t episode, std::int32_t label, std::vector<std::int32_t>& of_steps) const {
    std::fill(of_steps.begin() + data_.offsets[episode],
              of_steps.begin() + data_.offsets[episode + 1], label);
  }

  std::vector<std::int32_t> actors(const Matrix& nats, double rate) const {
    return most_likely_actors({nats, offsets()}, rate, run_);
  }

  double rate_of(std::span<const std::int32_t> labels) const {
    return switch_rate(count_switches(labels, offsets()), data_.steps());
  }

  JoinedPolicies join(const Matrix& nats, std::span<const std::int32_t> labels, double rate) const {
    const JoinRule rule{.fewest = std::max<std::int64_t>(1, options_.k), .most = options_.k};
    return join_alike(*evidence_, nats, labels, offsets(), rate, rule);
  }

  /// The component of each step: its own where that is part of the actor, else the actor's best.
  static std::vector<std::int32_t> within(std::span<const std::int32_t> actors,
                                          const JoinedPolicies& joined, const Matrix& nats,
                                          std::span<const std::int32_t> own) {
    std::vector<std::int32_t> result(own.begin(), own.end());
    for (std::size_t t = 0; t < result.size(); ++t) {
      if (joined.policy_of[static_cast<std::size_t>(own[t])] == actors[t]) continue;
      double best = -std::numeric_limits<double>::infinity();
      for (std::size_t j = 0; j < joined.policy_of.size(); ++j) {
        const double one = nats(static_cast<std::int64_t>(t), static_cast<std::int64_t>(j));
        if (joined.policy_of[j] != actors[t] || one <= best) continue;
        best = one;
        result[t] = static_cast<std::int32_t>(j);
      }
    }
    return result;
  }

  /// Each episode to the policy that explains all of it best.
  std::vector<std::int32_t> by_episode(const Matrix& nats) const {
    std::vector<std::int32_t> result(static_cast<std::size_t>(data_.steps()));
    for (std::int64_t i = 0; i < data_.episodes(); ++i) {
      std::vector<double> sums(static_cast<std::size_t>(nats.columns), 0.0);
      for (auto t = data_.offsets[i]; t < data_.offsets[i + 1]; ++t)
        for (std::int64_t j = 0; j < nats.columns; ++j)
          sums[static_cast<std::size_t>(j)] += nats(t, j);
      fill(i, static_cast<std::int32_t>(std::ranges::max_element(sums) - sums.begin()), result);
    }
    return result;
  }

  /// By one policy for each actor, so that answers from few and from many components compare.
  void value(Guess& guess) const {
    const auto judged = evidence_->judge(guess.actors, guess.policies);
    const double naming = naming_cost(guess.actors, offsets(), guess.policies);
    guess.nats.clear();
    for (std::int64_t i = 0; i < data_.episodes(); ++i) {
      double sum =
          -naming * static_cast<double>(data_.length(i)) / static_cast<double>(data_.steps());
      for (auto t = data_.offsets[i]; t < data_.offsets[i + 1]; ++t)
        sum += judged.usual + judged.nats(t, guess.actors[static_cast<std::size_t>(t)]);
      guess.nats.push_back(sum);
    }
  }

  const Trajectories& data_;
  const SegmentOptions& options_;
  const RunContext& run_;
  std::unique_ptr<const StepEvidence> evidence_;
};

/// Whether the second answer predicts better, beyond what differs from episode to episode.
bool clearly_better(const Guess& first, const Guess& second, double steps) {
  std::vector<double> before, after;
  for (const double nats : first.nats) before.push_back(-nats);
  for (const double nats : second.nats) after.push_back(-nats);
  const auto gain = policy_search::paired_gain(before, after, steps);
  return gain.mean > kClearlyBetter * gain.error;
}

std::vector<std::int64_t> windows_to_try(const Trajectories& data, const SegmentOptions& options,
                                         bool tables) {
  if (options.window > 0) return {options.window};
  if (!tables) return {kFeatureWindow};
  const auto mean = data.steps() / data.episodes();
  std::vector<std::int64_t> windows;
  for (const std::int64_t parts : {2, 4})
    windows.push_back(std::clamp<std::int64_t>(mean / parts, 3, kFeatureWindow));
  return windows;
}

}  // namespace

OptionTable SegmentOptions::describe() {
  return {
      integer_or_auto("k", k, 64, "Policies; auto: to be found."),
      integer("k-max", k_max, 1, 64, "The most policies to look for."),
      integer("window", window, 0, 1'000'000,
              "Steps of the windows that give the first guesses; 0: by the data."),
      integer("seed", seed, 0, std::numeric_limits<std::int64_t>::max(),
              "Names the random streams; the same seed gives the same segments."),
  };
}

std::int64_t Segmentation::switches() const {
  return std::ranges::count_if(segments, [](const Segment& one) { return one.begin > 0; });
}

std::vector<Segment> segments_of(std::span<const std::int32_t> actors,
                                 std::span<const std::int64_t> offsets) {
  std::vector<Segment> segments;
  for (std::size_t e = 0; e + 1 < offsets.size(); ++e)
    for (auto t = offsets[e]; t < offsets[e + 1]; ++t) {
      const auto actor = actors[static_cast<std::size_t>(t)];
      if (t == offsets[e] || segments.back().policy != actor) {
        auto& one = segments.emplace_back();
        one.episode = static_cast<std::int64_t>(e);
        one.begin = one.earliest = one.latest = t - offsets[e];
        one.policy = actor;
      }
      segments.back().end = t + 1 - offsets[e];
    }
  return segments;
}

namespace {

/// The episodes to look for policies in: all, or as many as have enough steps.
std::vector<std::int64_t> episodes_to_look_at(const Trajectories& data) {
  const auto usual = std::max<std::int64_t>(1, data.steps() / data.episodes());
  return policy_search::sample_by_id(data.ids, std::max<std::int64_t>(1, kSearchedSteps / usual),
                                     {});
}

/// First guesses: labels of steps.
std::vector<std::vector<std::int32_t>> first_guesses(const Trajectories& data, const Guess& nobody,
                                                     const SegmentOptions& options, bool tables,
                                                     const RunContext& run) {
  std::vector<std::vector<std::int32_t>> starts;
  if (nobody.policies > 1) starts.push_back(nobody.actors);
  for (const auto window : windows_to_try(data, options, tables)) {
    auto found =
        cluster_windows(data, window, std::max(options.k, options.k_max), options.seed, run);
    std::ranges::move(found, std::back_inserter(starts));
  }
  return starts;
}

/// From the answer on: once more with one component for each policy, and without one of them, as
/// long as that predicts better.
void improve(const Segmenting& segmenting, Guess& best) {
  for (bool better = best.policies > 1; better;) {
    better = false;
    auto guesses = segmenting.refine_all(best.policies == 2 ? 1 : 1 + best.policies,
                                         [&from = best](std::int64_t i) {
                                           auto labels = from.actors;
                                           std::ranges::replace(labels, i - 1, -1);
                                           return labels;
                                         });
    for (auto& guess : guesses) {
      if (guess.total() <= best.total()) continue;
      best = std::move(guess);
      better = true;
    }
  }
}

/// How sure the actors of each step are, and their segments.
void add_certainty(std::span<const std::int64_t> offsets, const Workers& workers,
                   Segmentation& result) {
  const double rate = std::max(result.rate, switch_rate(0, result.nats.rows));
  const auto chance = fit_chain({result.nats, offsets}, rate, workers).posteriors;
  for (std::int64_t t = 0; t < chance.rows; ++t)
    result.chances.push_back(chance(t, result.actors[static_cast<std::size_t>(t)]));
  result.unsure = unsure_stretches(chance, result.actors, offsets);
  result.segments = segments_of(result.actors, offsets);
  for (std::size_t i = 0; i < result.segments.size(); ++i) {
    auto& one = result.segments[i];
    const auto start = offsets[static_cast<std::size_t>(one.episode)];
    const auto from = result.chances.begin() + start;
    one.chance = std::accumulate(from + one.begin, from + one.end, 0.0) /
                 static_cast<double>(one.end - one.begin);
    if (one.begin == 0) continue;
    const auto& before = result.segments[i - 1];
    const auto where = locate(result.nats, start + before.begin, start + one.begin, start + one.end,
                              before.policy, one.policy);
    one.earliest = where.earliest - start;
    one.latest = where.latest - start;
  }
}

}  // namespace

Segmentation segment_known(Matrix nats, std::span<const std::int64_t> offsets, double rate,
                           const Workers& workers) {
  Segmentation result;
  result.policies = nats.columns;
  result.rate = rate;
  result.actors = most_likely_actors({nats, offsets}, rate, workers);
  result.nats = std::move(nats);
  add_certainty(offsets, workers, result);
  return result;
}

Segmentation segment(const Trajectories& data, const SegmentOptions& options, const RunContext& run,
                     std::span<const std::int32_t> known) {
  const auto searched = episodes_to_look_at(data);
  const bool all = std::ssize(searched) == data.episodes();
  const auto part = all ? data : select_episodes(data, searched);
  const auto steps = static_cast<double>(part.steps());
  run.report({.stage = "statistics", .fraction = 0.0, .sizes = {}});
  const Segmenting segmenting(part, options, run);
  const auto one = segmenting.one();
  const auto nobody = known.empty() ? segmenting.nobody() : segmenting.nobody(known, searched);
  std::vector<std::vector<std::int32_t>> starts{nobody.actors};
  if (known.empty()) starts = first_guesses(part, nobody, options, segmenting.tables(), run);
  std::optional<Guess> best;
  for (auto& guess : segmenting.refine_all(
           std::ssize(starts), [&](std::int64_t i) { return starts[static_cast<std::size_t>(i)]; }))
    if (!best || guess.total() > best->total()) best = std::move(guess);
  if (best) improve(segmenting, *best);
  const bool switching = best && best->policies > 1 &&
                         count_switches(best->actors, part.offsets.span()) > 0 &&
                         clearly_better(nobody, *best, steps);
  const Guess& chosen = switching ? *best : nobody;

  run.report({.stage = "all steps", .fraction = 0.0, .sizes = {}});
  Segmentation result;
  result.policies = chosen.policies;
  result.v = chosen.total() / steps;
  result.v_of_nobody = nobody.total() / steps;
  result.v_of_one = one.total() / steps;
  result.searched = std::ssize(searched);
  const double rate = switching ? chosen.rate : 0.0;
  auto found = all ? segmenting.find(chosen.components, chosen.policy_of, rate)
                   : Segmenting(data, options, run)
                         .find(segmenting.components_of(chosen, data), chosen.policy_of, rate);
  result.nats = std::move(found.nats);
  result.actors = std::move(found.actors);
  result.rate = found.rate;
  add_certainty(data.offsets.span(), run, result);
  return result;
}

}  // namespace kindred
