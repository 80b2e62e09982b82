#include "kindred/reproduce/page.h"

#include <fmt/format.h>

#include <functional>

#include "kindred/core/error.h"
#include "kindred/core/files.h"
#include "kindred/reproduce/figures.h"
#include "kindred/reproduce/tables.h"

namespace kindred::reproduce {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = "<!-- results: begin -->\n", kEnd = "<!-- results: end -->";

const Lines kPaperHead = {
    "Made by `kindred reproduce --render` from the records in `docs/results/`; the records by",
    "`kindred reproduce ITEM --scale paper` ([how](reproduce.md)). What stands out is discussed in",
    "[methods compared](methods-compared.md).",
    "The MuJoCo files are in D4RL's layout but not D4RL's, as the paper's are; some defaults were",
    "chosen on them (docs/decisions/0002-pg-kmeans-defaults.md, 0007-autoencoder-methods.md)."};
const Lines kSmallHead = {
    "Made by `kindred reproduce --render --scale small`. Data, training and seeds are cut so that",
    "everything runs in minutes: these numbers say that it runs, and nothing about any method."};

/// A heading, what there is to know beforehand, and a table or figure.
struct Section {
  std::string title;
  std::string item;  ///< That makes its records; empty: none does, and without records it is not
                     ///< shown.
  Lines text;
  std::function<Lines(const Results&)> table{};
  std::string figure{};  ///< Its file's name.
  std::function<std::string(const Results&)> draw{};
};

std::vector<Section> sections() {
  return {
      {"Beside the paper",
       "main",
       {"Mean NMI ± deviation over seeds (how many). PG-Kmeans has a paper's setting",
        "(`--preset paper`, told k*) and Kindred's default, which is told nothing; the other "
        "methods have",
        "one. The MuJoCo columns are not the paper's data: D4RL's own files cannot be had here."},
       main_table},
      {"In detail",
       "",
       {"NMI: mean (least…most) over seeds. Seconds: clustering alone, mean (most), on a machine "
        "that did",
        "other work besides, where it says GPU with other jobs on that; MB: the most resident."},
       details},
      {"Single runs and the best of several",
       "full",
       {"The paper's in square brackets. Single runs are 20 restarts trained together, each scored "
        "by",
        "itself; one succeeds with 0.9 of the oracle's NMI (of 1 where that is unknown). *\\*: "
        "nobody can",
        "choose by the truth*; the paper marks it too."},
       full_table},
      {"CAAE by the number of clusters",
       "caae-by-k",
       {"The paper's in square brackets."},
       caae_by_k_table},
      {"What CAAE's parts add",
       "caae-ablation",
       {"The paper's in square brackets."},
       caae_ablation_table},
      {"Which pair to merge", "merging", {}, merging_table},
      {"What one step can say",
       "floor",
       {"The least a step can say against a policy: a floor under its log-probability, a share of "
        "one",
        "common policy in all, or nothing."},
       floor_table},
      {"Running times",
       "times",
       {"Minutes of one clustering, mean over the seeds that had the machine to themselves among "
        "our jobs: on",
        "the CPUs and threads of the table in detail, which did other work besides (CAAE on Extra "
        "much of it),",
        "so no less than it takes, and on one H200; the paper's on one RTX A6000."},
       times_table},
      {"NMI against the loss",
       "nmi-loss",
       {"The paper finds no relation for CAAE on Extra and PathFollowing."},
       {},
       "nmi-loss.svg",
       nmi_loss_figure},
      {"NMI against k",
       "nmi-k",
       {"Single runs of PG-Kmeans as the paper sets it, with and without merging, and DEC: mean "
        "and",
        "deviation over runs."},
       {},
       "nmi-k.svg",
       nmi_k_figure},
      {"Returns in each cluster",
       "histograms",
       {"Each colour is a cluster, in the order of their returns; clusters stand on each other. "
        "Below them what",
        "Kindred's default found, told no k."},
       {},
       "returns.svg",
       histogram_figure},
      {"The best centre by k",
       "best-centre-by-k",
       {"The highest D4RL-normalised score among k centres as clustering left them, of the best of "
        "ten",
        "runs by J; the paper's, of one run each, in square brackets. The default's policies are "
        "no "
        "networks;",
        "those of the last column are cloned from its clusters."},
       best_centre_table},
      {"The appendix's examples",
       "examples",
       {"Data with several right answers. An episode of Bandit is one step, and together "
        "first-first and",
        "second-second leave the same episodes as first-second and second-first; who fetches ball "
        "i,",
        "wherever it lies, can as well be said to fetch what lies at place j. NMI is with the "
        "experts that",
        "made the data, 0 where another right answer was found; *answers*: how many the search "
        "says explain",
        "the data as well, its own among them, least…most over seeds."},
       examples_table},
      {"How many policies there are",
       "mixtures",
       {"Mixtures of policies of one robot, 20 episodes of each (`kindred generate "
        "hopper-mixture`). NMI: mean",
        "(least). *Closest two*: what telling them apart gains, in nats per step of theirs, by the "
        "last test",
        "made (0.08 is needed at first, 0.048 of 300 cosines; [decision "
        "16](decisions/0016-exact-policies.md))."},
       mixture_tables},
      {"What starts and moves add",
       "",
       {"43 files of development data (seeds below 201), one seed of the search. *V*: files where "
        "V",
        "with k given is at least the default's (higher; not where features are others). *CPU*: "
        "user time, of the",
        "default's, geometric mean, k unknown. The other starts are not in the program",
        "([decision 20](decisions/0020-what-starts-and-moves-add.md))."},
       search_table},
      {"Policies that were not in the run",
       "",
       {"Made by `build/venv/bin/python scripts/unseen --keep`. Of five policies each is left out "
        "in turn: half",
        "the episodes of the others (20 each; Diagonal 200) are clustered with k to be found, then "
        "the other half",
        "and all of the one left out are assigned ([decision "
        "17](decisions/0017-unseen-policies.md)). *AUC* of the",
        "surprise, mean (least); *alike*: episodes of the unseen policy that are step for step "
        "what a known one",
        "would do, which nothing can tell; *false alarms*: known policies' episodes said to fit "
        "none, of which 1 %",
        "are meant to be; *detected*: the unseen policy's. *Beginnings*: labels by the first few "
        "steps of known",
        "policies' episodes, how many are right, how many the posterior says, and the mean "
        "distance of the two in",
        "ten groups."},
       unseen_table},
      {"What the recovered policies can do",
       "returns",
       {"D4RL-normalised scores (returns in brackets), means over seeds of",
        "ten episodes each, of one clustering by PG-Kmeans. *In the data*: the expert's own "
        "episodes. *Expert's",
        "centre*: the policy of the cluster with the higher returns. *Pick*: how often ten "
        "labelled returns led",
        "to it. As-left: centres as clustering left them; drawn: actions drawn instead of taking "
        "the mean;",
        "told no k: cloned from the clusters that Kindred's default found",
        "([decision 11](decisions/0011-evaluating-centres.md)). The paper's scores are for D4RL's "
        "files; it also",
        "gives single runs of PG-Kmeans (56.5, 76.3, 44.3, 42.5), AWAC and CQL, which Kindred does "
        "not have."},
       returns_table},
      {"What the best cluster is good for",
       "downstream",
       {"Ten random returns are known. The cluster whose labelled episodes return most is cloned, "
        "beside",
        "behaviour cloning of all episodes, of the best 10 % (for which every return must be "
        "known), and of all",
        "weighted by the posterior of that cluster. D4RL-normalised scores of ten episodes, mean ± "
        "95 % interval",
        "(Student's t) over seeds of data, clustering and training; clustered by Kindred's "
        "default."},
       downstream_table},
      {"How fast environments step",
       "",
       {"Made by `scripts/bench environments`: steps per second with random actions, observing and "
        "restarting",
        "included; MuJoCo's per core, beside MuJoCo alone doing the same simulation steps in the "
        "same run."},
       environment_speed_table},
      {"CAAE against a plain PyTorch loop",
       "",
       {"Measured before `make bench` ([performance](performance.md)) had a stronger peer: "
        "milliseconds of",
        "one training step (64 trajectories of Takeball), medians of three turns each in one run; "
        "above 1",
        "the ratio is in Kindred's favour. Kindred uses every core. What else differs is said in "
        "decision 7."},
       caae_speed_table},
      {"On a GPU",
       "",
       {"One H200, `--device cuda`: seconds of clustering alone. Beside it the same seed on a CPU, "
        "with its",
        "threads in brackets, on a machine that did other work besides "
        "([policies](decisions/0024-gpu-kernels.md), "
        "[autoencoders](decisions/0032-autoencoders-on-gpus.md))."},
       gpu_table},
  };
}

void append(Lines& page, const Lines& lines) {
  page.insert(page.end(), lines.begin(), lines.end());
}

std::string joined(const Lines& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return text;
}

/// "12 of 40 records are there; …", or nothing where all are.
Lines missing_words(const Results& results, const std::string& item) {
  std::int64_t stored = 0, all = 0;
  for (const auto& job : jobs_of(results.declared, {item}))
    for (const auto& output : job.outputs) {
      ++all;
      stored += results.records.find(output.record) ? 1 : 0;
    }
  if (stored == all) return {};
  const auto command =
      fmt::format("`kindred reproduce {} --scale {}`", item, name_of(results.declared.scale));
  if (stored == 0) return {"", fmt::format("Not run yet: {}.", command)};
  return {"", fmt::format("{} of {} records are there; the others: {}.", stored, all, command)};
}

class Page {
 public:
  Page(const Results& results, const Store& store) : results_(results), store_(store) {}

  RenderedFiles files() {
    lines_ = head();
    for (const auto& section : sections()) add(section);
    add_end();
    auto path = store_.folder();
    if (!path.has_filename()) path = path.parent_path();
    files_[fs::path(path).concat(".md")] = joined(lines_);
    return std::move(files_);
  }

 private:
  Lines head() const {
    const bool paper = results_.declared.scale == Scale::kPaper;
    Lines lines = {paper ? "# Results" : "# Results at small scale", ""};
    append(lines, paper ? kPaperHead : kSmallHead);
    lines.emplace_back("");
    append(lines, made_by(results_));
    append(
        lines,
        {"",
         "Mean NMI over seeds, with the paper's in brackets. Ceiling: the oracle's NMI, that of "
         "somebody who",
         "knows the true policies and assigns each trajectory to its most likely one; not a bound.",
         ""});
    append(lines, overview(results_));
    return lines;
  }

  void add(const Section& section) {
    Lines body;
    if (section.table) body = section.table(results_);
    if (section.draw) {
      if (const auto svg = section.draw(results_); !svg.empty()) {
        files_[store_.folder() / "figures" / section.figure] = svg;
        body = {fmt::format("![{}]({}/figures/{})", section.title,
                            store_.folder().filename().string(), section.figure)};
      }
    }
    if (body.empty() && section.item.empty()) return;
    append(lines_, {"", "## " + section.title});
    if (!section.text.empty()) lines_.emplace_back("");
    append(lines_, section.text);
    if (!body.empty()) lines_.emplace_back("");
    append(lines_, body);
    if (section.item == "main") append(lines_, gpu_minutes(results_, section.item));
    if (!section.item.empty()) append(lines_, missing_words(results_, section.item));
  }

  void add_end() {
    if (results_.declared.scale == Scale::kPaper) {
      append(lines_, {"", "## What falls short of the paper, and why", "",
                      "Every mean below the paper's, with what we know of the reason; more in",
                      "[methods compared](methods-compared.md). Not measured at all: AWAC and CQL, "
                      "which are no",
                      "clustering; D4RL's own files, which cannot be had here.", ""});
      append(lines_, shortfalls(results_));
    }
    append(lines_, {"", "## What is measured", ""});
    append(lines_, completeness(results_));
  }

  const Results& results_;
  const Store& store_;
  Lines lines_;
  RenderedFiles files_;
};

std::string with_table(const std::string& text, const std::string& table, const fs::path& readme) {
  const auto begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == text.npos || end == text.npos || end < begin)
    throw InvalidArgument("'{}' has no '{}' and '{}' to put the table between", readme.string(),
                          kBegin.substr(0, kBegin.size() - 1), kEnd);
  return text.substr(0, begin + kBegin.size()) + table + text.substr(end);
}

}  // namespace

RenderedFiles render_results(const Declarations& declared, const Store& store,
                             const fs::path& readme) {
  const Records records(store);
  const Results results{declared, records};
  try {
    auto files = Page(results, store).files();
    if (!readme.empty())
      files[readme] = with_table(read_text(readme), joined(overview(results)), readme);
    return files;
  } catch (const Json::exception& error) {
    throw DataFormatError("a record in '{}' does not hold what its table needs: {}",
                          store.folder().string(), error.what());
  }
}

}  // namespace kindred::reproduce
