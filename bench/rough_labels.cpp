// Whether rough scores give the labels that exact ones give, and how long both take: rounds of
// PG-Kmeans with networks, each scored both ways; the next round goes on from the exact labels.
//
//   rough_labels FILE [seed=0] [rounds=12] [k=4] [restarts=2]
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "kindred/core/error.h"
#include "kindred/core/random.h"
#include "kindred/core/stopwatch.h"
#include "kindred/methods/pg_kmeans/learners.h"
#include "kindred/runs/dataset.h"

namespace kindred::pg_kmeans {
namespace {

/// The best policy of each restart for every trajectory: [restarts][episodes].
std::vector<std::vector<std::int32_t>> labels_by(const Matrix& scores, const Options& options) {
  std::vector<std::vector<std::int32_t>> labels(static_cast<std::size_t>(options.restarts));
  for (std::int64_t r = 0; r < options.restarts; ++r)
    for (std::int64_t i = 0; i < scores.rows; ++i) {
      std::int64_t best = r * options.k;
      for (auto p = best; p < (r + 1) * options.k; ++p)
        if (scores(i, p) > scores(i, best)) best = p;
      labels[static_cast<std::size_t>(r)].push_back(static_cast<std::int32_t>(best % options.k));
    }
  return labels;
}

int compare(const std::string& file, Options options, std::int64_t rounds) {
  DatasetOptions reading;
  reading.files = {file};
  const auto data = reading.load().data;
  options.choose = Choose::kObjective;
  options.policy = PolicyKind::kMlp;
  options = resolve(options, data);
  const auto learner = make_network_learner(data, options, RunContext{});
  std::vector<std::int64_t> slots;
  std::vector<std::vector<std::int32_t>> labels(static_cast<std::size_t>(options.restarts));
  for (std::int64_t r = 0; r < options.restarts; ++r) {
    for (std::int64_t i = 0; i < data.episodes(); ++i)
      labels[static_cast<std::size_t>(r)].push_back(static_cast<std::int32_t>(i % options.k));
    Random random(static_cast<std::uint64_t>(options.seed), "init", static_cast<std::uint64_t>(r));
    random.shuffle(std::span(labels[static_cast<std::size_t>(r)]));
    for (std::int64_t c = 0; c < options.k; ++c) slots.push_back(r * options.k + c);
  }
  std::int64_t compared = 0, different = 0, in_floats = 0;
  double exact_seconds = 0.0, rough_seconds = 0.0;
  for (std::int64_t round = 1; round <= rounds; ++round) {
    std::vector<std::int64_t> with_members;
    for (const auto slot : slots)
      if (std::ranges::count(labels[static_cast<std::size_t>(slot / options.k)],
                             static_cast<std::int32_t>(slot % options.k)) > 0)
        with_members.push_back(slot);
    learner->fit(
        with_members,
        [&](std::int64_t r) {
          return std::span<const std::int32_t>(labels[static_cast<std::size_t>(r)]);
        },
        round);
    const Stopwatch exactly;
    labels = labels_by(learner->score(slots), options);
    exact_seconds += exactly.seconds();
    const Stopwatch roughly;
    const auto rough = learner->score_roughly(slots);
    rough_seconds += roughly.seconds();
    if (!rough) {
      ++in_floats;
      continue;
    }
    const auto found = labels_by(*rough, options);
    for (std::size_t r = 0; r < labels.size(); ++r)
      for (std::size_t i = 0; i < labels[r].size(); ++i) {
        ++compared;
        different += found[r][i] != labels[r][i];
      }
  }
  fmt::print(
      "{}: seed {}, {} rounds, {} of them in floats; {} labels compared, {} different; exact "
      "{:.2f} s, rough {:.2f} s\n",
      file, options.seed, rounds, in_floats, compared, different, exact_seconds, rough_seconds);
  return different == 0 ? 0 : 1;
}

}  // namespace
}  // namespace kindred::pg_kmeans

int main(int argc, char** argv) {
  const auto number = [&](int i, std::int64_t otherwise) {
    return i < argc ? std::strtoll(argv[i], nullptr, 10) : otherwise;
  };
  if (argc < 2) {
    fmt::print(stderr, "rough_labels FILE [seed=0] [rounds=12] [k=4] [restarts=2]\n");
    return 2;
  }
  kindred::pg_kmeans::Options options;
  options.seed = number(2, 0);
  options.k = number(4, 4);
  options.restarts = number(5, 2);
  try {
    return kindred::pg_kmeans::compare(argv[1], options, number(3, 12));
  } catch (const kindred::Error& error) {
    fmt::print(stderr, "rough_labels: {}\n", error.what());
    return 2;
  }
}
