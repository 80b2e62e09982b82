#include "commands.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "kindred/data/parquet_table.h"
#include "place.h"

namespace kindred::faults {
namespace {

using Words = std::vector<std::string>;

Words generate(const std::string& format, const std::string& file) {
  return {"generate", "diagonal", "--per-expert", "2",  "--seed", "1",
          "--format", format,     "--json",       "-o", file};
}

Words cluster(const std::string& data, const std::string& run) {
  return {"cluster",      data, "-k",       "3",   "--restarts", "2",
          "--max-rounds", "3",  "--policy", "mlp", "--choose",   "objective",
          "--threads",    "1",  "--json",   "-o",  run};
}

void require(const fs::path& folder, const Words& arguments) {
  const auto outcome = run(folder, arguments);
  if (outcome.code != 0)
    throw std::runtime_error(fmt::format("the scene cannot be made: kindred {} ended with {}: {}",
                                         fmt::join(arguments, " "), outcome.code, outcome.err));
}

}  // namespace

void make_scene(const fs::path& scene) {
  fs::create_directories(scene / "labelled");
  require(scene, generate("kindred", "kindred.h5"));
  require(scene, generate("d4rl", "d4rl.hdf5"));
  require(scene, generate("minari", "minari"));
  if (has_parquet()) {
    fs::copy(fs::path(KINDRED_FIXTURES) / "lerobot" / "v3", scene / "lerobot",
             fs::copy_options::recursive);
    require(scene, cluster("lerobot", "run-lerobot"));
    fs::copy(fs::path(KINDRED_FIXTURES) / "minari" / "arrow", scene / "tables",
             fs::copy_options::recursive);
    require(scene, cluster("tables", "run-tables"));
  }
  require(scene, cluster("kindred.h5", "run"));
  require(scene, cluster("d4rl.hdf5", "run-d4rl"));
  require(scene, cluster("minari", "run-minari"));
  require(scene, cluster("kindred.h5", "run-again"));
  require(scene, {"reproduce", "main", "--scale", "small", "--tasks", "diagonal",
                  "--configurations", "exact", "--store", "store"});
  fs::copy_file(scene / "d4rl.hdf5", scene / "labelled" / "d4rl.hdf5");
  require(scene / "labelled",
          {"label", "../run-d4rl", "--into", "d4rl.hdf5", "--key", "found", "--json"});
}

std::vector<Command> writing_commands(const fs::path& scene) {
  const auto in = [&](const std::string& name) { return (scene / name).string(); };
  std::vector<Command> commands;
  for (const char* format : {"kindred", "d4rl", "minari", "robomimic", "npz"})
    commands.push_back({fmt::format("generate {}", format), generate(format, "new"), {}});
  commands.push_back(
      {"cluster", cluster(in("kindred.h5"), "run"), {}, false, /*may_leave_some=*/true});
  commands.push_back(
      {"assign", {"assign", in("run"), in("kindred.h5"), "--json", "-o", "labels.csv"}, {}});
  commands.push_back({"convert", {"convert", in("d4rl.hdf5"), "--json", "-o", "new.h5"}, {}});
  commands.push_back(
      {"conflicts", {"conflicts", in("kindred.h5"), "--json", "-o", "conflicts"}, {}});
  commands.push_back({"colouring", {"colouring", "petersen", "--json", "-o", "new"}, {}});
  std::vector<std::pair<std::string, std::string>> labelled{
      {"kindred.h5", "run"}, {"d4rl.hdf5", "run-d4rl"}, {"minari", "run-minari"}};
  if (has_parquet()) {
    labelled.emplace_back("lerobot", "run-lerobot");
    labelled.emplace_back("tables", "run-tables");
  }
  for (const auto& [file, made_from] : labelled)
    commands.push_back({fmt::format("label {}", file),
                        {"label", in(made_from), "--into", file, "--key", "found", "--json"},
                        {file},
                        true});
  commands.push_back({"label --undo",
                      {"label", in("run-d4rl"), "--into", "labelled/d4rl.hdf5", "--undo", "--json"},
                      {"labelled"},
                      true});
  commands.push_back({"split", {"split", in("run-d4rl"), "--json", "-o", "parts"}, {}});
  commands.push_back({"split minari", {"split", in("run-minari"), "--json", "-o", "parts"}, {}});
  if (has_parquet())
    for (const std::string name : {"lerobot", "tables"})
      commands.push_back(
          {"split " + name, {"split", in("run-" + name), "--json", "-o", "parts"}, {}});
  commands.push_back(
      {"filter", {"filter", in("run"), "--clusters", "0", "--json", "-o", "part.h5"}, {}});
  commands.push_back({"export", {"export", in("run"), "--json", "-o", "policies"}, {}});
  commands.push_back({"report", {"report", in("run"), "--json", "-o", "page.html"}, {}});
  commands.push_back(
      {"compare", {"compare", in("run"), in("run-again"), "--json", "-o", "page.html"}, {}});
  commands.push_back({"evaluate",
                      {"evaluate", "run", "--episodes", "1", "--continue", "0", "--best", "0",
                       "--rounds", "1", "--labelled", "0", "--threads", "1", "--json"},
                      {"run"},
                      false,
                      true});
  commands.push_back(
      {"render", {"render", in("kindred.h5"), "--episode", "0", "--json", "-o", "walk.svg"}, {}});
  commands.push_back({"reproduce --render",
                      {"reproduce", "--render", "--scale", "small", "--store", "store", "--json"},
                      {"store"}});
  commands.push_back({"experts train",
                      {"experts", "train", "path-following", "--expert", "free", "--steps", "2048",
                       "--epochs", "1", "--threads", "1", "--json", "-o", "experts"},
                      {},
                      false,
                      true});
  return commands;
}

}  // namespace kindred::faults
