// The doctor's checks of where episodes begin and end: one cut in two goes on in the next; two
// glued together leap in between. Both need a notion of which state can follow another.
#include <fmt/format.h>

#include <algorithm>

#include "kindred/core/random.h"
#include "kindred/core/words.h"
#include "kindred/data/doctor_chart.h"
#include "kindred/data/doctor_motion.h"
#include "kindred/data/mind_memory.h"

namespace kindred::doctor {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kRandomPairs = 10'000;
constexpr double kBeyondChance = 20.0;     // times as many seams as among random episodes
constexpr std::int64_t kMostKept = 1'000;  // leaps, of data that leaps all the time

/// How many seams would look as if an episode went on if the order of the file meant nothing.
double expected_by_chance(const Trajectories& data, const Motion& motion) {
  Random random(0, "doctor's pairs");
  std::int64_t tried = 0, gone_on = 0;
  for (std::int64_t i = 0; i < kRandomPairs; ++i) {
    const auto pick = [&] {
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(data.episodes())));
    };
    mind_memory();
    const auto a = pick(), b = pick();
    if (b == a || b == a + 1) continue;
    ++tried;
    const auto last = data.offsets[a + 1] - 1, first = data.offsets[b];
    expect_steps(data, std::max(last - 1, data.offsets[a]), last + 1);
    expect_steps(data, first, first + 1);
    gone_on += motion.goes_on(last, first);
  }
  return tried == 0
             ? 0.0
             : static_cast<double>(gone_on * (data.episodes() - 1)) / static_cast<double>(tried);
}

/// Seams that a terminal flag made are told apart: the flag is at fault, not the cutting.
void add_cuts(const Chart& chart, const std::vector<std::int64_t>& seams, bool terminal,
              Found& found) {
  const auto& data = chart.data;
  std::vector<std::string> words;
  Json rows = Json::array();
  for (const auto i : seams) {
    const auto last = data.offsets[i + 1] - 1;
    if ((!data.terminals.empty() && data.terminals[last]) != terminal) continue;
    words.push_back(
        fmt::format("{} in {} (row {})", chart.episode(i), chart.episode(i + 1), last + 1));
    rows.push_back({{"episode", data.ids[static_cast<std::size_t>(i)]},
                    {"next", data.ids[static_cast<std::size_t>(i + 1)]},
                    {"row", last + 1}});
  }
  if (words.empty()) return;
  const bool one = words.size() == 1;
  found.push_back(
      {.key = terminal ? "terminal-ends-nothing" : "cut-episode",
       .evidence = fmt::format("{} {} on in the next{}: {}", counted(std::ssize(words), "episode"),
                               one ? "goes" : "go",
                               terminal ? ", though a terminal flag is set" : "", listed(words, 3)),
       .advice = terminal ? "clear the flag there, so that the parts are one episode again"
                          : "join the parts, or raise --episode-cap if that cut them",
       .details = {{"seams", rows}}});
}

void find_cuts(const Chart& chart, const Motion& motion, Found& found) {
  const auto& data = chart.data;
  std::vector<std::int64_t> seams;
  for (std::int64_t i = 0; i + 1 < data.episodes(); ++i) {
    mind_memory();
    if (motion.goes_on(data.offsets[i + 1] - 1, data.offsets[i + 1])) seams.push_back(i);
  }
  if (seams.empty() ||
      static_cast<double>(seams.size()) < kBeyondChance * expected_by_chance(data, motion))
    return;
  add_cuts(chart, seams, true, found);
  add_cuts(chart, seams, false, found);
}

void find_glue(const Chart& chart, const Motion& motion, Found& found) {
  const auto& data = chart.data;
  std::int64_t leaps = 0;
  std::vector<std::string> words;
  Json rows = Json::array();
  std::vector<std::int64_t> steps;
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    mind_memory();
    steps.clear();
    motion.find_new_beginnings(data.offsets[i], data.offsets[i + 1], steps);
    for (const auto step : steps) {
      if (++leaps > kMostKept) continue;
      const auto inside = step + 1 - data.offsets[i];
      words.push_back(
          fmt::format("{} before its step {} (row {})", chart.episode(i), inside, step + 1));
      rows.push_back({{"episode", data.ids[static_cast<std::size_t>(i)]},
                      {"step", inside},
                      {"row", step + 1}});
    }
  }
  if (words.empty()) return;
  found.push_back(
      {.key = "glued-episodes",
       .evidence = fmt::format("The state leaps as between two episodes {}: {}",
                               leaps == 1 ? std::string("once") : grouped(leaps) + " times",
                               listed(words, 3)),
       .advice = "mark an end (a timeout) there, or leave these episodes out",
       .details = {{"leaps", rows}}});
}

}  // namespace

void check_seams(const Chart& chart, Found& found) {
  const auto motion = motion_of(chart);
  if (!motion) return;
  find_cuts(chart, *motion, found);
  find_glue(chart, *motion, found);
}

}  // namespace kindred::doctor
