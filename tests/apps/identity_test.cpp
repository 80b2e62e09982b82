// Every command that needs a run's dataset refuses another one, in the same words.
#include "kindred/data/formats.h"
#include "program.h"

namespace kindred::program {
namespace {

class OtherData : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    make_diagonal("20");
    ASSERT_EQ(run({"cluster", "d.h5", "-k", "2", "--policy", "tabular", "-o", "run"}).code, 0);
    auto data = kindred::read_trajectories(folder_ / "d.h5");
    std::vector<std::int32_t> actions(data.actions.ints().begin(), data.actions.ints().end());
    std::ranges::reverse(actions);
    data.actions = kindred::Actions::discrete(std::move(actions), data.actions.count());
    kindred::write_trajectories(data, folder_ / "twin.h5", kindred::Format::kKindred);
  }
};

TEST_F(OtherData, OfTheSameShapeIsRefusedByEveryCommand) {
  const std::vector<std::vector<std::string>> commands = {
      {"report", "run", "--data", "twin.h5"},
      {"export", "run", "--data", "twin.h5", "-o", "policies"},
      {"evaluate", "run", "--data", "twin.h5", "--best", "0", "--labelled", "0"},
      {"label", "run", "--into", "twin.h5"},
      {"split", "run", "--data", "twin.h5", "-o", "parts"},
      {"filter", "run", "--data", "twin.h5", "--clusters", "0", "-o", "some.h5"},
      {"render", "twin.h5", "--run", "run", "-o", "picture.svg"},
      {"cluster", "twin.h5", "-k", "2", "--policy", "tabular", "-o", "run", "--resume"},
  };
  for (const auto& command : commands) {
    SCOPED_TRACE(command.front());
    expect_bad_input(command,
                     "'twin.h5' is not the dataset this run was made from: its actions are others; "
                     "give the file the run was made from, read with the same options");
  }
  for (const char* output : {"run/report.html", "policies", "parts", "some.h5", "picture.svg"})
    EXPECT_FALSE(fs::exists(folder_ / output)) << output;
}

TEST_F(OtherData, IsNotComparedEpisodeByEpisode) {
  ASSERT_EQ(run({"cluster", "twin.h5", "-k", "2", "--policy", "tabular", "-o", "other"}).code, 0);
  ASSERT_EQ(
      run({"cluster", "d.h5", "-k", "3", "--policy", "tabular", "--restarts", "1", "-o", "same"})
          .code,
      0);
  const auto nmi_shown = [&](const std::string& with) {
    EXPECT_EQ(run({"compare", "run", with, "-o", "page.html"}).code, 0);
    const auto page = kindred::read_text(folder_ / "page.html");
    return page.find("\"nmi\":null") == std::string::npos;
  };
  EXPECT_TRUE(nmi_shown("same"));
  EXPECT_FALSE(nmi_shown("other"));
}

}  // namespace
}  // namespace kindred::program
