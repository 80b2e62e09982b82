#include "kindred/methods/policy_search/proposals.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "kindred/dist/spread.h"
#include "kindred/methods/policy_search/partitions/moves.h"
#include "kindred/methods/policy_search/partitions/packed_answers.h"
#include "kindred/methods/policy_search/partitions/ward.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kSpare = 4;             // clusters more than wanted, to begin with
constexpr std::int64_t kFewStarts = 4;         // where others were tried before
constexpr std::size_t kTriedPerK = 2;          // partitions of each sort of start
constexpr std::int64_t kFewestInACluster = 3;  // episodes, for more clusters to be looked for

const Answer& best_among(const std::vector<Answer>& answers, std::int64_t k) {
  const auto wanted =
      std::ranges::find_if(answers, [&](const Answer& answer) { return answer.fit.k == k; });
  return wanted != answers.end() ? *wanted
                                 : *std::ranges::max_element(answers, {}, [](const Answer& answer) {
                                     return answer.held_out.v;
                                   });
}

std::vector<Descent> paths_on(const SearchContext& search, const FeatureEvidence& evidence,
                              std::int64_t starts) {
  auto paths = descend(search, evidence, starts, search.most() + kSpare);
  paths.push_back(descend_by_ward(search, evidence, search.most()));
  return paths;
}

/// As starts of another search: [1].
std::vector<Descent> as_paths(const Proposals& proposals) {
  Descent result;
  for (const auto& answer : proposals.answers) {
    result.fits[answer.fit.k] = answer.fit;
    result.v[answer.fit.k] = answer.held_out.v;
  }
  return {result};
}

/// For each k the partition with the highest V after rounds in this evidence. V of several sorts
/// of starts cannot be compared, so the best of each are tried.
std::vector<Answer> best_of(const SearchContext& search, const Evidence& evidence,
                            const std::vector<std::vector<Descent>>& sorts) {
  std::vector<Answer> tried;
  std::int64_t first = 0;
  for (const auto& descents : sorts) {
    for (std::int64_t k = 1; k <= search.most(); ++k)
      for (const auto start : distinct_starts(descents, k, kTriedPerK)) {
        auto& answer = tried.emplace_back();
        answer.start = first + start;
        answer.fit.labels = descents[static_cast<std::size_t>(start)].fits.at(k).labels;
        answer.fit.k = k;
      }
    first += std::ssize(descents);
  }
  spread(search.run, tried, [&](std::int64_t i) {
    auto& answer = tried[static_cast<std::size_t>(i)];
    answer.fit = evidence.fit(std::move(answer.fit.labels), search.links_for(answer.fit.k));
    answer.held_out.v = evidence.quick_score(answer.fit.labels, answer.fit.k);
  });
  std::map<std::int64_t, Answer> best;
  for (auto& answer : tried) {
    const auto found = best.find(answer.fit.k);
    if (found == best.end() || answer.held_out.v > found->second.held_out.v)
      best[answer.fit.k] = std::move(answer);
  }
  std::vector<Answer> answers;
  for (auto& [k, answer] : best) answers.push_back(std::move(answer));
  spread(search.run, answers, [&](std::int64_t i) {
    auto& answer = answers[static_cast<std::size_t>(i)];
    answer.held_out = evidence.score(answer.fit.labels, answer.fit.k);
  });
  return answers;
}

/// Takes the answers on these features where they predict better than those before.
void choose_features(std::shared_ptr<const FeatureEvidence> by, std::vector<Answer> answers,
                     std::int64_t k, Proposals& to) {
  if (to.by && best_among(answers, k).held_out.v <= to.best(k).held_out.v) return;
  to.by = std::move(by);
  to.policies = to.by;
  to.answers = std::move(answers);
}

void note_agreement(Proposals& proposals, std::size_t i) {
  auto& answer = proposals.answers[i];
  answer.is_learned = proposals.is_learned;
  if (i > 0)
    answer.gain = proposals.policies->gain(proposals.answers[i - 1].held_out, answer.held_out);
  const auto others = agreements(proposals.descents, answer);
  if (!others.empty())
    answer.agreement =
        std::accumulate(others.begin(), others.end(), 0.0) / static_cast<double>(others.size());
}

}  // namespace

const Answer& Proposals::best(std::int64_t k) const { return best_among(answers, k); }

bool Proposals::predicts_better(std::size_t answer, const Rules& rules) const {
  if (answer == 0) return true;
  const auto fewer = std::span(answers).first(answer);
  const auto& next =
      *std::ranges::max_element(fewer, {}, [](const Answer& one) { return one.held_out.v; });
  const double gain = answers[answer].held_out.v - next.held_out.v;
  if (next.fit.k == 1) return gain > 0.0;
  const double usual =
      (next.held_out.v - answers.front().held_out.v) / static_cast<double>(next.fit.k - 1);
  return gain > rules.usual_gain * usual;
}

double Proposals::v_of(const Answer& answer, std::span<const std::uint8_t> marked) const {
  const auto& score = answer.held_out;
  return comparable(marked.empty() ? score.v : by->v_of(score, marked), score.noise);
}

void propose(const SearchContext& search, std::span<const Proposals> before, Proposals& to) {
  const auto& options = search.options;
  const auto most_possible = search.data.episodes() / kFewestInACluster;
  for (auto most = std::max(options.k, options.k_max);; most *= 2) {
    auto upto = options;
    upto.k = 0;
    upto.k_max = most;
    const SearchContext context{search.data, upto, search.run};
    std::vector<std::vector<Descent>> paths;
    to.by = nullptr;
    if (to.linear) {
      paths.push_back(paths_on(context, *to.linear, options.starts));
      choose_features(to.linear, best_of(context, *to.linear, paths), options.k, to);
    }
    if (to.features) {
      paths.push_back(paths_on(context, *to.features, kFewStarts));
      for (const auto& other : before) paths.push_back(as_paths(other));
      choose_features(to.features, best_of(context, *to.features, paths), options.k, to);
    } else {
      paths.push_back(descend(context, *to.policies, options.starts, most + kSpare));
      to.answers = best_of(context, *to.policies, paths);
    }
    to.descents.clear();
    for (auto& some : paths) std::ranges::move(some, std::back_inserter(to.descents));
    if (options.k > 0 || to.best(0).fit.k + 1 < most || most >= most_possible) break;
  }
  if (options.k > 0)
    std::erase_if(to.answers, [&](const Answer& answer) { return answer.fit.k > options.k; });
  for (std::size_t i = 0; i < to.answers.size(); ++i) note_agreement(to, i);
}

bool split_for_more(const SearchContext& search, std::size_t answer, Proposals& to) {
  const auto& from = to.answers[answer];
  std::vector<Answer> tried(static_cast<std::size_t>(from.fit.k));
  spread(search.run, tried, [&](std::int64_t j) {
    auto& halved = tried[static_cast<std::size_t>(j)];
    halved.start = from.start;
    halved.fit =
        to.policies->fit(split_cluster(search, *to.policies, from, static_cast<std::int32_t>(j)),
                         search.options.links);
    if (halved.fit.k == from.fit.k + 1)
      halved.held_out = to.policies->score(halved.fit.labels, halved.fit.k);
  });
  std::erase_if(tried, [&](const Answer& halved) { return halved.fit.k != from.fit.k + 1; });
  if (tried.empty()) return false;
  to.answers.push_back(
      *std::ranges::max_element(tried, {}, [](const Answer& halved) { return halved.held_out.v; }));
  note_agreement(to, to.answers.size() - 1);
  return true;
}

}  // namespace kindred::policy_search
