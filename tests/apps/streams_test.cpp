// Standard streams that are closed, full or gone.
#include "kindred/data/fingerprint.h"
#include "kindred/data/formats.h"
#include "program.h"

namespace kindred::program {
namespace {

class Streams : public Program {
 protected:
  /// Runs `line` in a shell, with $kindred standing for the program, and returns its exit code.
  int shell(const std::string& line) const {
    const std::string command =
        "cd '" + folder_.string() + "' && kindred='" KINDRED_PROGRAM "' && " + "{ " + line + "; }";
    const int status = std::system(("bash -c \"" + command + "\"").c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string text(const std::string& file) const { return kindred::read_text(folder_ / file); }
};

TEST_F(Streams, MessagesThatCannotBeWrittenDoNoHarm) {
  for (const char* where : {"2>/dev/full", "2>&-", "2>&- >&- <&-"}) {
    SCOPED_TRACE(where);
    EXPECT_EQ(shell(std::string("\\$kindred generate bandit --per-expert 5 -o b.h5 ") + where), 0);
    EXPECT_EQ(
        shell(std::string("\\$kindred cluster b.h5 -k 2 --policy tabular --force -o run ") + where),
        0);
    EXPECT_EQ(run({"score", "run"}).code, 0);
    EXPECT_EQ(shell(std::string("\\$kindred info missing.h5 ") + where), 2);
  }
}

TEST_F(Streams, ALostResultIsAnError) {
  ASSERT_EQ(run({"generate", "bandit", "--per-expert", "5", "-o", "b.h5"}).code, 0);
  EXPECT_EQ(shell("\\$kindred info b.h5 --json >/dev/full 2>err.txt"), 2);
  EXPECT_EQ(text("err.txt").substr(text("err.txt").rfind("kindred:")),
            "kindred: cannot write to standard output: No space left on device\n");
  EXPECT_EQ(shell("\\$kindred info b.h5 --json >&- 2>err.txt"), 2);
  EXPECT_THAT(text("err.txt"), HasSubstr("cannot write to standard output: it is closed"));
  EXPECT_EQ(shell("\\$kindred --help >/dev/full 2>err.txt"), 2);
  EXPECT_EQ(shell("\\$kindred methods >/dev/full 2>err.txt"), 2);
  EXPECT_EQ(shell("\\$kindred info b.h5 >&- 2>err.txt"), 0) << "nothing was to be written there";
}

TEST_F(Streams, AClosedStreamIsNotMistakenForAFile) {
  ASSERT_EQ(run({"generate", "bandit", "--per-expert", "5", "-o", "b.h5"}).code, 0);
  const auto before = kindred::fingerprint_of(kindred::read_trajectories(folder_ / "b.h5"));
  EXPECT_EQ(shell("\\$kindred generate bandit --per-expert 5 -o b.h5 <&- >&- 2>&-"), 0);
  EXPECT_EQ(kindred::fingerprint_of(kindred::read_trajectories(folder_ / "b.h5")), before);
}

TEST_F(Streams, AReaderThatHasReadEnoughIsNotAProblem) {
  EXPECT_EQ(shell("\\$kindred methods 2>err.txt | true"), 0);
  EXPECT_EQ(text("err.txt"), "");
}

}  // namespace
}  // namespace kindred::program
