// Where our means lie below the paper's, and why as far as declarations know.
#include <fmt/format.h>

#include "kindred/reproduce/tables.h"

namespace kindred::reproduce {
namespace {

/// One number of the paper and what we have beside it.
struct Cell {
  std::string row, column;  ///< As the item's numbers are declared.
  std::string words;        ///< "CAAE on Extra"
  std::vector<double> ours;
  std::string paper;  ///< "0.43 ± 0.22"; empty: the paper has none.
};

/// What counts as below: less would be a matter of digits.
constexpr double kNmiNoticed = 0.005, kScoreNoticed = 1.0;

class Shortfalls {
 public:
  explicit Shortfalls(const Results& results) : results_(results) {}

  void look(const std::string& item, double noticed, const Cell& cell) {
    if (cell.ours.empty() || cell.paper.empty()) return;
    const double ours = mean(cell.ours), theirs = std::stod(cell.paper);
    if (ours > theirs - noticed) return;
    const int digits = noticed < 0.1 ? 2 : 0;
    lines_.push_back(fmt::format("- {}: {:.{}f} instead of {:.{}f}. {}", cell.words, ours, digits,
                                 theirs, digits, why(results_.declared.item(item), cell)));
  }

  Lines lines() && { return std::move(lines_); }

 private:
  static std::string why(const Item& item, const Cell& cell) {
    for (const auto& key : {cell.row + "/" + cell.column, cell.row})
      if (const auto found = item.why.find(key); found != item.why.end()) return found->second;
    return "We do not know why.";
  }

  const Results& results_;
  Lines lines_;
};

void look_at_methods(const Results& results, Shortfalls& found) {
  for (const auto& [name, row] : results.declared.item("main").paper.items())
    for (const auto* task : results.declared.tasks_of("paper"))
      found.look("main", kNmiNoticed,
                 {name, task->name,
                  fmt::format("{} on {}", results.declared.configuration(name).title, task->title),
                  nmi_of(results, *task, name), row.value(task->name, "")});
}

void look_at_single_runs(const Results& results, Shortfalls& found) {
  const auto& paper = results.declared.item("full").paper.at("pg-kmeans-single");
  for (const auto* task : results.declared.tasks_of("paper"))
    found.look(
        "full", kNmiNoticed,
        {"pg-kmeans-single", task->name, fmt::format("Single runs of PG-Kmeans on {}", task->title),
         nmi_of_single_runs(results, *task), paper.value(task->name, "")});
}

void look_at_caae(const Results& results, Shortfalls& found) {
  const auto& paper = results.declared.item("caae-by-k").paper;
  for (const auto* task : results.declared.tasks_of("paper"))
    for (std::int64_t k = 4; k <= 8; ++k)
      found.look("caae-by-k", kNmiNoticed,
                 {task->name, std::to_string(k), fmt::format("CAAE, k = {}, on {}", k, task->title),
                  nmi_of_caae(results, *task, k),
                  paper.at(task->name).at(static_cast<std::size_t>(k - 4))});
  const auto& without = results.declared.item("caae-ablation").paper.at("caae-unregularised");
  for (const auto* task : results.declared.tasks_of("paper"))
    found.look("caae-ablation", kNmiNoticed,
               {"caae-unregularised", task->name,
                fmt::format("CAAE without regulariser on {}", task->title),
                nmi_of(results, *task, "caae-unregularised"), without.value(task->name, "")});
}

void look_at_policies(const Results& results, Shortfalls& found) {
  const std::vector<std::int64_t> ks = {3, 4, 5, 6, 7, 8, 10, 12, 15};
  const auto& returns = results.declared.item("returns").paper;
  const auto& best = results.declared.item("best-centre-by-k").paper;
  for (const auto* task : results.declared.tasks_of("shared")) {
    found.look("returns", kScoreNoticed,
               {task->name, "pg-kmeans", fmt::format("The expert's centre on {}", task->title),
                expert_scores(results, *task), returns.at(task->name).at(1)});
    for (std::size_t i = 0; i < ks.size(); ++i)
      found.look("best-centre-by-k", kScoreNoticed,
                 {task->name, std::to_string(ks[i]),
                  fmt::format("The best of {} centres on {}", ks[i], task->title),
                  best_centre_scores(results, *task, ks[i]), best.at(task->name).at(i)});
  }
}

}  // namespace

Lines shortfalls(const Results& results) {
  Shortfalls found(results);
  look_at_methods(results, found);
  look_at_single_runs(results, found);
  look_at_caae(results, found);
  look_at_policies(results, found);
  return std::move(found).lines();
}

}  // namespace kindred::reproduce
