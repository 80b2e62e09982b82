// Times one part of Kindred, or the machine itself: the rows of docs/performance.md that are
// Kindred's. scripts/bench runs it beside the peers.
#include <CLI/CLI.hpp>
#include <map>

#include "kindred/core/error.h"
#include "rows.h"

int main(int argc, char** argv) {
  using namespace bench;
  const std::map<std::string, void (*)(const Settings&)> rows = {
      {"sgemm", time_sgemm},
      {"dgemm", time_dgemm},
      {"copy", time_copy},
      {"bytes", [](const Settings& s) { time_bytes(s, /*cold=*/false); }},
      {"disk", [](const Settings& s) { time_bytes(s, /*cold=*/true); }},
      {"make-file", make_file},
      {"hdf5", time_hdf5},
      {"read", time_read},
      {"phases", time_phases},
      {"products", time_products},
      {"statistics", time_statistics},
      {"m-step", time_m_step},
      {"e-step", time_e_step},
      {"labels", time_labels},
      {"search", time_search},
      {"encoder", time_encoder},
      {"caae", time_caae}};
  Settings s;
  std::string row;
  CLI::App app("Times one part of Kindred, or the machine itself; prints lines of JSON.");
  app.add_option("row", row, "What to time")->required()->check(CLI::IsMember(rows));
  app.add_option("--repeat", s.turns.repeat, "Turns, when nobody says when");
  app.add_flag("--wait", s.turns.wait, "Take a turn for every line of standard input");
  app.add_option("--device", s.device, "Of m-step, e-step, encoder and caae")
      ->check(CLI::IsMember({"cpu", "cuda"}));
  app.add_option("--threads", s.threads, "0: every core");
  const auto positive = CLI::PositiveNumber;
  app.add_option("--policies", s.problem.policies, "Policies")->check(positive);
  app.add_option("--steps", s.problem.steps, "Steps of the dataset")->check(positive);
  app.add_option("--length", s.problem.length, "Steps of an episode")->check(positive);
  app.add_option("--batch", s.problem.batch, "Steps of a policy in a training step")
      ->check(positive);
  app.add_option("--updates", s.problem.updates, "Training steps of a turn")->check(positive);
  app.add_option("--count", s.sequences.count, "Episodes of the autoencoder's dataset")
      ->check(positive);
  app.add_option("--longest", s.sequences.longest, "Steps of the longest")->check(positive);
  app.add_option("--sequences", s.sequences.batch, "Episodes of an update")->check(positive);
  app.add_option("--cosines", s.cosines, "Of the features")->check(CLI::NonNegativeNumber);
  app.add_option("--starts", s.starts, "Of the search")->check(positive);
  app.add_option("--file", s.file, "The dataset that is read, or made");
  app.add_option("--folder", s.folder, "For what is written");
  app.add_option("--from", s.from, "A dataset whose numbers are those of the file that is made");
  app.add_flag("--gzip", s.gzip, "Compress the file that is made");
  try {
    app.parse(argc, argv);
    s.sequences.updates = s.problem.updates;
    s.problem.steps = s.problem.episodes() * s.problem.length;
    rows.at(row)(s);
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ruler: %s\n", error.what());
    return 2;
  }
}
