// Tables of NMI: ours beside the paper's.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "kindred/reproduce/tables.h"

namespace kindred::reproduce {
namespace {

const char* const kNmi = "result/nmi";

bool is_mixture(const Results& results, const Task& task) {
  return std::ranges::any_of(std::array{"mixtures", "harder"}, [&](const char* group) {
    return std::ranges::count(results.declared.groups.at(group), task.name) > 0;
  });
}

/// "1.32", and where that would say nothing "0.004".
std::string minutes_words(double seconds) {
  return fmt::format("{:.{}f}", seconds / 60.0, seconds < 6.0 ? 3 : 2);
}

std::string paper_of(const Json& paper, const std::string& row, const std::string& task) {
  return paper.contains(row) ? paper.at(row).value(task, "") : "";
}

/// The oracle's NMI on a task, over all its records.
std::vector<double> ceilings(const Results& results, const Task& task) {
  std::vector<double> values;
  for (const auto& configuration : results.declared.configurations)
    if (configuration.overview)
      for (const double value :
           numbers(results.records.clusterings(task.name, configuration.name), "result/ceiling"))
        values.push_back(value);
  return values;
}

std::string fixed(const std::vector<double>& values, int digits = 2) {
  return values.empty() ? "" : fmt::format("{:.{}f}", mean(values), digits);
}

/// "found: 5, 5" or "7 → 5"
std::string k_words(const RecordList& records) {
  const auto& options = records[0]->at("options");
  const auto& result = records[0]->at("result");
  if (result.value("k_found", false)) {
    std::vector<std::int64_t> found;
    for (const auto* record : records) found.push_back(record->at("result").at("k"));
    std::ranges::sort(found);
    return fmt::format("found: {}", fmt::join(found, ", "));
  }
  const auto k = options.at("k").get<std::int64_t>();
  const auto merged = options.value("merge-to", std::int64_t{0});
  return merged == 0 || merged == k ? std::to_string(k) : fmt::format("{} → {}", k, merged);
}

/// "124.3 (128.9)": mean, most; of a GPU by itself: "GPU 3.4 (5.9)".
std::string seconds_words(const RecordList& records) {
  std::vector<std::string> parts;
  for (const auto& [device, name] : {std::pair{"cpu", ""}, std::pair{"cuda", "GPU "}}) {
    const auto seconds = numbers(made_on(records, device), "timings/fit");
    if (!seconds.empty())
      parts.push_back(fmt::format("{}{:.1f} ({:.1f})", name, mean(seconds), most(seconds)));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

Row detail_row(const Task& task, const Configuration& configuration, const RecordList& records) {
  const auto nmi = numbers(records, kNmi), ceiling = numbers(records, "result/ceiling");
  std::set<std::int64_t> threads;
  std::string date;
  for (const auto* record : records) {
    threads.insert(record->at("machine").at("threads").get<std::int64_t>());
    date = std::max(date, record->at("started").get<std::string>().substr(0, 10));
  }
  const auto paper = configuration.paper.find(task.name);
  return {task.name,
          configuration.name,
          k_words(records),
          std::to_string(records.size()),
          fmt::format("{:.3f} ({:.3f}…{:.3f})", mean(nmi), least(nmi), most(nmi)),
          ceiling.size() < records.size() ? "-" : fixed(ceiling, 3),
          paper != configuration.paper.end() ? paper->second : "-",
          seconds_words(records),
          fmt::format("{}", fmt::join(threads, "/")),
          fmt::format("{:.0f}", most(numbers(records, "machine/peak_rss_mb"))),
          date};
}

Row titles_of(const std::vector<const Task*>& tasks, Row first) {
  for (const auto* task : tasks) first.push_back(task->title);
  return first;
}

struct Column {
  std::string title;
  std::string configuration;
};

bool is_measured(const Item& item, const Task& task) {
  return std::ranges::any_of(item.measurements, [&](const Measurement& wanted) {
    return std::ranges::count(wanted.tasks, task.name) > 0;
  });
}

/// One row per task of the item, one column per configuration, with the oracle's NMI at the end.
Lines compared(const Results& results, const std::string& item,
               const std::vector<Column>& columns) {
  const auto& declared = results.declared.item(item);
  Row head = {"task"};
  for (const auto& column : columns) head.push_back(column.title);
  head.emplace_back("oracle");
  std::vector<Row> rows;
  for (const auto* task : results.declared.tasks_of("paper")) {
    if (!is_measured(declared, *task)) continue;
    Row row = {task->title};
    bool any = false;
    for (const auto& column : columns) {
      const auto ours = with_deviation(nmi_of(results, *task, column.configuration));
      any = any || !ours.empty();
      row.push_back(beside_paper(ours, paper_of(declared.paper, column.configuration, task->name)));
    }
    row.push_back(fixed(ceilings(results, *task)));
    if (any) rows.push_back(row);
  }
  return rows.empty() ? Lines{} : table_of(head, rows);
}

/// "0.49, 50 % succeed (20)"
std::string single_run_words(const std::vector<double>& nmi, double ceiling) {
  if (nmi.empty()) return "";
  const auto succeed =
      std::ranges::count_if(nmi, [&](double value) { return value >= 0.9 * ceiling; });
  return fmt::format("{:.3f} ± {:.3f}, {:.0f} % succeed ({})", mean(nmi), deviation(nmi),
                     100.0 * static_cast<double>(succeed) / static_cast<double>(nmi.size()),
                     nmi.size());
}

}  // namespace

std::vector<double> nmi_of(const Results& results, const Task& task,
                           const std::string& configuration) {
  return numbers(results.records.clusterings(task.name, configuration), kNmi);
}

std::vector<double> nmi_of_caae(const Results& results, const Task& task, std::int64_t k) {
  const auto name = task.k == k       ? std::string("caae")
                    : task.k + 1 == k ? std::string("caae-plus")
                                      : fmt::format("caae-k{}", k);
  const auto found = nmi_of(results, task, name);
  return found.empty() ? nmi_of(results, task, fmt::format("caae-k{}", k)) : found;
}

std::vector<double> nmi_of_single_runs(const Results& results, const Task& task) {
  std::vector<double> values;
  for (const auto* record : results.records.clusterings(task.name, "pg-kmeans-single"))
    for (const auto& restart : record->at("restarts"))
      if (restart.contains("nmi")) values.push_back(restart["nmi"].get<double>());
  return values;
}

Lines overview(const Results& results) {
  std::vector<const Configuration*> shown;
  for (const auto& one : results.declared.configurations)
    if (one.overview && std::ranges::any_of(results.declared.tasks, [&](const Task& task) {
          return !results.records.clusterings(task.name, one.name).empty();
        }))
      shown.push_back(&one);
  Row head = {"task", "k*", "ceiling"};
  for (const auto* one : shown) head.push_back(one->title);
  std::vector<Row> rows;
  const auto& examples = results.declared.item("examples").measurements[0].tasks;
  for (const auto& task : results.declared.tasks) {
    if (is_mixture(results, task) || std::ranges::count(examples, task.name) > 0) continue;
    Row row = {task.title, std::to_string(task.k), fixed(ceilings(results, task))};
    bool any = false;
    for (const auto* one : shown) {
      const auto ours = fixed(nmi_of(results, task, one->name));
      const auto paper = one->paper.find(task.name);
      any = any || !ours.empty();
      row.push_back(ours.empty() || paper == one->paper.end()
                        ? ours
                        : fmt::format("{} ({})", ours, paper->second));
    }
    if (any) rows.push_back(row);
  }
  return table_of(head, rows);
}

Lines details(const Results& results) {
  std::vector<Row> rows;
  for (const auto& task : results.declared.tasks) {
    if (is_mixture(results, task)) continue;
    for (const auto& configuration : results.declared.configurations)
      if (const auto records = results.records.clusterings(task.name, configuration.name);
          !records.empty())
        rows.push_back(detail_row(task, configuration, records));
  }
  return table_of({"task", "method", "k → k*", "seeds", "NMI", "ceiling", "paper", "seconds",
                   "threads", "MB", "date"},
                  rows);
}

Lines main_table(const Results& results) {
  const auto& paper = results.declared.item("main").paper;
  const auto tasks = results.declared.tasks_of("paper");
  std::vector<Row> rows;
  Row oracle = {"oracle", "ours"};
  for (const auto* task : tasks) oracle.push_back(fixed(ceilings(results, *task)));
  rows.push_back(oracle);
  for (const auto& [title, name] : std::vector<Column>{{"PG-Kmeans, `--preset paper`", "pg-kmeans"},
                                                       {"PG-Kmeans, default, told no k", "exact"},
                                                       {"CAAE", "caae"},
                                                       {"VAE+KMeans", "vae-kmeans"},
                                                       {"Return+KMeans", "return-kmeans"},
                                                       {"DEC", "dec"},
                                                       {"SORL", "sorl"},
                                                       {"SORL, product", "sorl-product"},
                                                       {"VQ-VAE", "vq-vae"}}) {
    Row ours = {title, "ours"}, theirs = {"", "paper"};
    for (const auto* task : tasks) {
      ours.push_back(with_deviation(nmi_of(results, *task, name)));
      theirs.push_back(paper_of(paper, name, task->name));
    }
    rows.push_back(ours);
    if (paper.contains(name)) rows.push_back(theirs);
  }
  return table_of(titles_of(tasks, {"method", ""}), rows);
}

Lines full_table(const Results& results) {
  const auto& paper = results.declared.item("full").paper;
  std::vector<Row> rows;
  for (const auto* task : results.declared.tasks_of("paper")) {
    const auto known = ceilings(results, *task);
    const auto singles = nmi_of_single_runs(results, *task);
    auto dec = nmi_of(results, *task, "dec");
    const auto spread = with_deviation(dec, 3);
    if (dec.size() > 5) dec.resize(5);
    const auto best = dec.empty() ? "" : fmt::format("{:.3f} (best of {})", most(dec), dec.size());
    rows.push_back({task->title,
                    beside_paper(single_run_words(singles, known.empty() ? 1.0 : mean(known)),
                                 paper_of(paper, "pg-kmeans-single", task->name)),
                    beside_paper(with_deviation(nmi_of(results, *task, "pg-kmeans"), 3),
                                 paper_of(paper, "pg-kmeans", task->name)),
                    with_deviation(nmi_of(results, *task, "exact"), 3),
                    beside_paper(spread, paper_of(paper, "dec", task->name)),
                    beside_paper(best, paper_of(paper, "dec, best of 5", task->name)),
                    fixed(known, 3)});
  }
  return table_of({"task", "PG-Kmeans, single runs", "PG-Kmeans, best of 5 by J",
                   "default, told no k", "DEC", "DEC, best by truth*", "oracle"},
                  rows);
}

Lines caae_by_k_table(const Results& results) {
  const auto& paper = results.declared.item("caae-by-k").paper;
  std::vector<Row> rows;
  for (const auto* task : results.declared.tasks_of("paper")) {
    Row row = {task->title};
    for (std::int64_t k = 4; k <= 8; ++k)
      row.push_back(beside_paper(with_deviation(nmi_of_caae(results, *task, k)),
                                 paper.at(task->name).at(static_cast<std::size_t>(k - 4))));
    row.push_back(with_deviation(nmi_of(results, *task, "exact")));
    row.push_back(fixed(ceilings(results, *task)));
    rows.push_back(row);
  }
  return table_of({"task", "k = 4", "k = 5", "k = 6", "k = 7", "k = 8",
                   "PG-Kmeans, default, told no k", "oracle"},
                  rows);
}

Lines caae_ablation_table(const Results& results) {
  return compared(results, "caae-ablation",
                  {{"CAAE", "caae"},
                   {"without regulariser", "caae-unregularised"},
                   {"without refitting", "caae-unrefitted"},
                   {"mean instead of sum", "caae-mean"},
                   {"k* + 1", "caae-plus"},
                   {"k* + 1, without regulariser", "caae-plus-unregularised"},
                   {"k* + 1, mean", "caae-plus-mean"},
                   {"PG-Kmeans, default, told no k", "exact"}});
}

Lines merging_table(const Results& results) {
  return compared(results, "merging",
                  {{"the pair whose merge costs least", "pg-kmeans"},
                   {"the printed rule", "pg-kmeans-printed"},
                   {"default, told no k", "exact"}});
}

Lines floor_table(const Results& results) {
  return compared(results, "floor",
                  {{"a floor of -5", "pg-kmeans"},
                   {"a common share of 5 %", "pg-kmeans-share"},
                   {"neither", "pg-kmeans-no-floor"},
                   {"default, told no k", "exact"}});
}

Lines times_table(const Results& results) {
  const auto& paper = results.declared.item("times").paper;
  const auto tasks = results.declared.tasks_of("paper");
  std::vector<Row> rows;
  for (const auto& [title, name] : std::vector<Column>{{"PG-Kmeans, `--preset paper`", "pg-kmeans"},
                                                       {"PG-Kmeans, default, told no k", "exact"},
                                                       {"CAAE", "caae"}}) {
    std::string first = title;
    for (const auto& [device, where] :
         {std::pair{"cpu", "ours, CPU"}, std::pair{"cuda", "ours, GPU"}}) {
      Row row = {first, where};
      bool any = false;
      for (const auto* task : tasks) {
        const auto seconds = numbers(undisturbed(results, *task, name, device), "timings/fit");
        any = any || !seconds.empty();
        row.push_back(seconds.empty() ? "" : minutes_words(mean(seconds)));
      }
      if (any) rows.push_back(row);
      if (any) first = "";
    }
    Row theirs = {first, "paper"};
    for (const auto* task : tasks) theirs.push_back(paper_of(paper, name, task->name));
    if (paper.contains(name)) rows.push_back(theirs);
  }
  return table_of(titles_of(tasks, {"method", ""}), rows);
}

}  // namespace kindred::reproduce
