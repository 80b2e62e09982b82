// Tables of what policies behind clusters can do.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kindred/reproduce/tables.h"

namespace kindred::reproduce {
namespace {

/// One policy of each record.
using Policies = std::vector<const Json*>;

/// "35.8 (4165)": mean score, mean return.
std::string score_and_return(const Policies& policies) {
  return fmt::format("{:.1f} ({:.0f})", mean(numbers(policies, "score")),
                     mean(numbers(policies, "return")));
}

/// The number of the cluster whose episodes have the lowest returns in the data, or the highest.
std::size_t cluster_by_return(const Json& record, bool highest) {
  const auto& clusters = record.at("clusters");
  std::size_t found = 0;
  for (std::size_t c = 1; c < clusters.size(); ++c) {
    const double here = clusters[c].at("data_return"), there = clusters[found].at("data_return");
    if (highest ? here >= there : here < there) found = c;
  }
  return found;
}

Policies clusters_of(const RecordList& records, bool highest) {
  Policies policies;
  for (const auto* record : records)
    policies.push_back(&record->at("clusters").at(cluster_by_return(*record, highest)));
  return policies;
}

Policies references_of(const RecordList& records, const std::string& name) {
  Policies policies;
  for (const auto* record : records)
    for (const auto& reference : record->at("references"))
      if (reference.at("name") == name) policies.push_back(&reference);
  return policies;
}

/// The task's name without "own-" or "strong-": the paper knows no own ones.
std::string paper_name(const std::string& task) {
  for (const std::string_view ours : {"own-", "strong-"})
    if (task.starts_with(ours)) return task.substr(ours.size());
  return task;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

Row returns_row(const Results& results, const Task& task, const std::string& variant,
                const RecordList& records) {
  const auto expert = clusters_of(records, true);
  std::int64_t right = 0;
  for (const auto* record : records)
    right += record->at("pick").at("cluster") == cluster_by_return(*record, true) ? 1 : 0;
  // Clones beside centres as they were left would hardly be trained.
  const bool clones = variant != "as-left";
  const auto& paper = results.declared.item("returns").paper.at(paper_name(task.name));
  return {task.title,
          variant,
          std::to_string(records.size()),
          fmt::format("({:.0f})", mean(numbers(expert, "data_return"))),
          score_and_return(expert),
          score_and_return(clusters_of(records, false)),
          clones ? score_and_return(references_of(records, "all episodes")) : "-",
          clones ? score_and_return(references_of(records, "best 10%")) : "-",
          fmt::format("{} of {}", right, records.size()),
          variant == "default"
              ? fmt::format("{}, {}, {}", or_dash(paper[1]), or_dash(paper[2]), or_dash(paper[3]))
              : ""};
}

/// Half the width of a 95 % interval of the mean, by Student's t.
double interval(const std::vector<double>& values) {
  // 0.975 quantiles for 1, 2, … degrees of freedom.
  constexpr std::array kQuantiles = {12.706, 4.303, 3.182, 2.776, 2.571,
                                     2.447,  2.365, 2.306, 2.262};
  if (values.size() < 2) return 0.0;
  const double t = kQuantiles[std::min(values.size() - 2, kQuantiles.size() - 1)];
  return t * deviation(values) / std::sqrt(static_cast<double>(values.size()));
}

std::string with_interval(const std::vector<double>& values) {
  if (values.empty()) return "";
  if (values.size() < 2) return fmt::format("{:.1f}", values[0]);
  return fmt::format("{:.1f} ± {:.1f}", mean(values), interval(values));
}

Row downstream_row(const Task& task, const RecordList& records) {
  RecordList picks;
  std::int64_t right = 0;
  for (const auto* record : records) {
    picks.push_back(&record->at("pick"));
    right += record->at("pick").at("cluster") == cluster_by_return(*record, true) ? 1 : 0;
  }
  return {task.title,
          std::to_string(records.size()),
          with_interval(numbers(picks, "score")),
          with_interval(numbers(references_of(records, "weighted"), "score")),
          with_interval(numbers(references_of(records, "all episodes"), "score")),
          with_interval(numbers(references_of(records, "best 10%"), "score")),
          fmt::format("{} of {}", right, records.size())};
}

/// The highest score among the policies of each record.
std::vector<double> best_scores(const RecordList& records) {
  std::vector<double> best;
  for (const auto* record : records) {
    RecordList clusters;
    for (const auto& cluster : record->at("clusters")) clusters.push_back(&cluster);
    best.push_back(most(numbers(clusters, "score")));
  }
  return best;
}

}  // namespace

std::vector<double> expert_scores(const Results& results, const Task& task) {
  return numbers(clusters_of(results.records.evaluations(task.name, "pg-kmeans", "default"), true),
                 "score");
}

std::vector<double> best_centre_scores(const Results& results, const Task& task, std::int64_t k) {
  return best_scores(
      results.records.evaluations(task.name, fmt::format("pg-kmeans-k{}", k), "as-left"));
}

Lines returns_table(const Results& results) {
  std::vector<Row> rows;
  for (const auto& task : results.declared.tasks)
    for (const char* variant : {"default", "as-left", "drawn"})
      if (const auto records = results.records.evaluations(task.name, "pg-kmeans", variant);
          !records.empty())
        rows.push_back(returns_row(results, task, variant, records));
  for (const auto& task : results.declared.tasks)
    if (const auto records = results.records.evaluations(task.name, "exact", "default");
        !records.empty())
      rows.push_back(returns_row(results, task, "default, told no k", records));
  return rows.empty() ? Lines{}
                      : table_of({"task", "policies", "seeds", "in the data", "expert's centre",
                                  "medium's centre", "BC on all", "BC on best 10%", "pick",
                                  "paper: PG-Kmeans, BC, 10%-BC"},
                                 rows);
}

Lines best_centre_table(const Results& results) {
  const std::vector<std::int64_t> ks = {3, 4, 5, 6, 7, 8, 10, 12, 15};
  const auto& paper = results.declared.item("best-centre-by-k").paper;
  Row head = {"task"};
  for (const auto k : ks) head.push_back(fmt::format("k = {}", k));
  head.emplace_back("default, told no k");
  std::vector<Row> rows;
  bool any = false;
  for (const auto* task : results.declared.tasks_of("shared")) {
    Row row = {task->title};
    for (std::size_t i = 0; i < ks.size(); ++i) {
      const auto best = best_centre_scores(results, *task, ks[i]);
      any = any || !best.empty();
      row.push_back(beside_paper(best.empty() ? "" : fmt::format("{:.0f}", mean(best)),
                                 paper.at(task->name).at(i)));
    }
    const auto told_nothing =
        best_scores(results.records.evaluations(task->name, "exact", "default"));
    row.push_back(told_nothing.empty() ? "" : fmt::format("{:.0f}", mean(told_nothing)));
    rows.push_back(row);
  }
  return any ? table_of(head, rows) : Lines{};
}

Lines downstream_table(const Results& results) {
  std::vector<Row> rows;
  for (const char* group : {"own", "strong"})
    for (const auto* task : results.declared.tasks_of(group))
      if (const auto records = results.records.evaluations(task->name, "exact", "downstream");
          !records.empty())
        rows.push_back(downstream_row(*task, records));
  return rows.empty()
             ? Lines{}
             : table_of({"task", "seeds", "picked cluster, cloned", "BC weighted by posterior",
                         "BC", "10 % BC", "pick is the expert"},
                        rows);
}

}  // namespace kindred::reproduce
