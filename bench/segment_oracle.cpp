// What can be seen of takeovers by somebody who knows the true policies and how often they take
// turns: the same chain as that of 'kindred segment', with the experts' own likelihoods.
//
//   segment_oracle FILE    FILE is from 'kindred generate … --switch …'; prints a JSON object with
//                          the keys of "truth" in segments.json
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <exception>

#include "kindred/data/formats.h"
#include "kindred/envs/registry.h"
#include "kindred/experts/experts.h"
#include "kindred/experts/oracle.h"
#include "kindred/runs/segment_scores.h"
#include "kindred/segments/sticky_chain.h"

namespace {

using namespace kindred;

constexpr double kNever = 50.0;  // nats: for what a policy would never do

nlohmann::ordered_json judge(const std::string& path) {
  const auto data = read_trajectories(path);
  const auto environment = make_environment(data.provenance.at("environment").get<std::string>(),
                                            data.provenance.at("options"));
  const auto experts =
      make_experts(*environment, fmt::format("{}", fmt::join(data.label_names, ",")));
  Matrix nats(data.steps(), std::ssize(experts));
  nats.values = step_log_likelihoods(data, *environment, experts);
  for (std::int64_t t = 0; t < nats.rows; ++t) {
    const double best = *std::ranges::max_element(nats.row(t));
    for (std::int64_t j = 0; j < nats.columns; ++j)
      nats(t, j) = std::max(nats(t, j), best - kNever);
  }
  const auto offsets = data.offsets.span();
  const double rate = switch_rate(count_switches(true_actors(data), offsets), data.steps());
  return score_segments(data, segment_known(std::move(nats), offsets, rate, Workers{}));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    fmt::print(stderr, "segment_oracle FILE\n");
    return 2;
  }
  try {
    fmt::print("{}\n", judge(arguments[1]).dump());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
