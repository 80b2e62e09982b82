#include "kindred/methods/policy_search/partitions/moves.h"

#include <algorithm>
#include <map>

#include "kindred/core/random.h"
#include "kindred/dist/spread.h"
#include "kindred/methods/policy_search/partitions/packed_answers.h"

namespace kindred::policy_search {
namespace {

constexpr std::int64_t kSplitStarts = 4;
constexpr std::int64_t kVotes = 5;  // one piece in so many predicted better elsewhere

/// Moves that may raise V, by policies that have not seen the episode: every episode to the
/// cluster that predicts it best; and from one cluster to another those episodes together of
/// which some pieces are predicted better there. Episodes that went astray support each other
/// wherever they are, so only together do they find back.
std::vector<std::vector<std::int32_t>> moves(const SearchContext& search, const Evidence& evidence,
                                             const Answer& answer) {
  const auto& labels = answer.fit.labels;
  const auto k = answer.fit.k;
  const auto costs = evidence.costs_everywhere(labels, k, answer.held_out);
  auto all = labels;
  std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::int32_t>> groups;
  for (std::int64_t i = 0; i < evidence.episodes(); ++i) {
    const auto own = labels[static_cast<std::size_t>(i)];
    std::vector<double> sums(static_cast<std::size_t>(k), 0.0);
    std::vector<std::int64_t> votes(static_cast<std::size_t>(k), 0);
    for (auto p = evidence.first_piece(i); p < evidence.first_piece(i + 1); ++p) {
      for (std::int64_t j = 0; j < k; ++j) sums[static_cast<std::size_t>(j)] += costs(p, j);
      const auto row = costs.row(p);
      ++votes[static_cast<std::size_t>(std::ranges::min_element(row) - row.begin())];
    }
    all[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(std::ranges::min_element(sums) - sums.begin());
    const auto pieces = evidence.first_piece(i + 1) - evidence.first_piece(i);
    for (std::int32_t j = 0; j < k; ++j)
      if (j != own && kVotes * votes[static_cast<std::size_t>(j)] >= pieces)
        groups.try_emplace({own, j}, labels).first->second[static_cast<std::size_t>(i)] = j;
  }
  std::vector<std::vector<std::int32_t>> result{std::move(all)};
  for (auto& [move, moved] : groups) result.push_back(std::move(moved));
  std::erase_if(result, [&](const auto& moved) {
    return moved == labels || 1 + *std::ranges::max_element(moved) < k ||
           consecutive_labels(moved) != moved ||  // a cluster would be empty
           !search.links_for(k).kept(moved);
  });
  return result;
}

}  // namespace

std::vector<std::int32_t> split_cluster(const SearchContext& search, const Evidence& evidence,
                                        const Answer& answer, std::int32_t cluster) {
  std::vector<std::int64_t> members;
  for (std::int64_t i = 0; i < evidence.episodes(); ++i)
    if (answer.fit.labels[static_cast<std::size_t>(i)] == cluster) members.push_back(i);
  auto result = answer.fit.labels;
  if (members.size() < 2) return result;
  const auto own = evidence.subset(members);
  ExactFit best;
  for (std::int64_t start = 0; start < kSplitStarts; ++start) {
    auto fit = own->fit(random_partition(std::ssize(members), 2,
                                         Random(static_cast<std::uint64_t>(search.options.seed),
                                                "split", static_cast<std::uint64_t>(start))),
                        {});
    if (best.rounds.empty() || fit.objective() > best.objective()) best = std::move(fit);
  }
  for (std::size_t i = 0; i < members.size(); ++i)
    if (best.labels[i] == 1)
      result[static_cast<std::size_t>(members[i])] = static_cast<std::int32_t>(answer.fit.k);
  search.options.links.enforce(result, answer.fit.k + 1);
  return result;
}

void improve(const SearchContext& search, const Evidence& evidence, Answer& answer) {
  for (bool rose = true; rose;) {
    rose = false;
    auto tried = moves(search, evidence, answer);
    std::vector<HeldOutScore> scores(tried.size());
    spread(search.run, scores, [&](std::int64_t i) {
      const auto at = static_cast<std::size_t>(i);
      scores[at] = evidence.score(tried[at], answer.fit.k);
    });
    for (std::size_t i = 0; i < tried.size(); ++i) {
      if (scores[i].v <= answer.held_out.v) continue;
      answer.held_out = scores[i];
      answer.fit.labels = tried[i];
      rose = true;
    }
  }
}

}  // namespace kindred::policy_search
