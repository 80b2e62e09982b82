// Golden playthroughs: a few episodes of each environment as text. A change of behaviour changes
// them. Environments whose states cannot be numbered are left out: theirs would be long rows of
// numbers whose last digits differ between machines. After an intended change, run with
// KINDRED_REGENERATE=1 and read the difference.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "kindred/core/files.h"
#include "kindred/envs/registry.h"
#include "tests/envs/playing.h"

namespace kindred {
namespace {

constexpr const char* kEndingNames[] = {"", "  terminal", "  timeout"};

/// The numbers of an observation that differ from those of the one before, as " index:value".
std::string changes(const std::vector<float>& before, const std::vector<float>& now) {
  std::string text;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (now[i] != (before.empty() ? 0.0f : before[i])) text += fmt::format(" {}:{:.5g}", i, now[i]);
  return text;
}

std::string action_text(const EnvironmentSpec& spec, const std::vector<float>& action) {
  if (spec.is_discrete()) return spec.action_names[static_cast<std::size_t>(action[0])];
  return fmt::format("{:.5g}", fmt::join(action, " "));
}

std::string playthrough(const Environment& environment) {
  const auto& spec = environment.spec();
  std::string text = fmt::format(
      "environment {}\noptions {}\nobservations {}\nactions {}\nhorizon {}\nstates {}\n", spec.name,
      environment.options().dump(), nlohmann::json(spec.observation_shape).dump(),
      nlohmann::json(spec.action_names).dump(), spec.horizon, spec.states);
  int number = 0;
  for (const auto& episode : play(environment, 2506, 0, 3)) {
    text += fmt::format("\nepisode {}\n", number++);
    std::vector<float> before;
    for (const auto& step : episode.steps) {
      text += fmt::format("state {} see{}\n  {} reward {}{}\n", step.state,
                          changes(before, step.observation), action_text(spec, step.action),
                          step.reward, kEndingNames[static_cast<int>(step.ending)]);
      before = step.observation;
    }
    text += fmt::format("state {} see{}\n", episode.last.state,
                        changes(before, episode.last.observation));
  }
  return text;
}

class Playthrough : public ::testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& info : available_environments())
    if (make_environment(info.name)->spec().has_states()) all.push_back(info.name);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Golden, Playthrough, ::testing::ValuesIn(names()),
                         [](const auto& tested) { return test_name(tested.param); });

TEST_P(Playthrough, IsUnchanged) {
  const auto path = std::filesystem::path(KINDRED_PLAYTHROUGHS) / (GetParam() + ".txt");
  const auto found = playthrough(*make_environment(GetParam()));
  if (std::getenv("KINDRED_REGENERATE")) write_text(path, found);
  ASSERT_TRUE(std::filesystem::exists(path)) << "run once with KINDRED_REGENERATE=1";
  EXPECT_EQ(read_text(path), found);
}

}  // namespace
}  // namespace kindred
