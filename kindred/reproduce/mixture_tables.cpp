// How many policies were found in mixtures, and what the two closest of them differ by.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kindred/reproduce/tables.h"

namespace kindred::reproduce {
namespace {

// Defaults of the search were chosen on seeds below 201; those from here on are reported.
constexpr std::int64_t kFirstReported = 301;

RecordList half(const RecordList& records, bool reported) {
  RecordList kept;
  for (const auto* record : records)
    if ((record->at("options").at("seed").get<std::int64_t>() >= kFirstReported) == reported)
      kept.push_back(record);
  return kept;
}

/// Of the answers with k policies that were considered: "0.10…0.16".
std::string separation(const RecordList& records, std::int64_t k) {
  std::vector<double> values;
  for (const auto* record : records)
    for (const auto& one : record->at("result").at("considered"))
      if (one.at("k") == k) values.push_back(one.at("separation").get<double>());
  return values.empty() || k < 2 ? "" : fmt::format("{:.2f}…{:.2f}", least(values), most(values));
}

/// "0.985 (0.939)"
std::string mean_and_least(const std::vector<double>& values) {
  return values.empty() ? "" : fmt::format("{:.3f} ({:.3f})", mean(values), least(values));
}

Lines mixtures_table(const Results& results, const std::string& group, bool reported) {
  std::vector<Row> rows;
  std::int64_t right = 0, off = 0;
  std::vector<double> all, all_given;
  for (const auto* task : results.declared.tasks_of(group)) {
    const auto records = half(results.records.clusterings(task->name, "exact"), reported);
    const auto given = half(results.records.clusterings(task->name, "exact-k"), reported);
    if (records.empty()) continue;
    std::vector<std::int64_t> found;
    for (const auto* record : records) found.push_back(record->at("result").at("k"));
    std::ranges::sort(found);
    for (const auto k : found) {
      right += k == task->k ? 1 : 0;
      off = std::max(off, std::abs(k - task->k));
    }
    const auto nmi = numbers(records, "result/nmi"), nmi_given = numbers(given, "result/nmi");
    all.insert(all.end(), nmi.begin(), nmi.end());
    all_given.insert(all_given.end(), nmi_given.begin(), nmi_given.end());
    rows.push_back({task->title, fmt::format("{}", fmt::join(found, ", ")), mean_and_least(nmi),
                    mean_and_least(nmi_given), separation(records, task->k),
                    separation(records, task->k + 1),
                    fmt::format("{:.1f}", mean(numbers(records, "timings/fit")))});
  }
  if (rows.empty()) return {};
  rows.push_back({"all", fmt::format("{} of {} right, at most {} off", right, all.size(), off),
                  mean_and_least(all), mean_and_least(all_given), "", "", ""});
  return table_of({"mixture", "k found", "NMI, k found", "NMI, k given", "closest two at k*",
                   "closest two at k* + 1", "seconds"},
                  rows);
}

}  // namespace

Lines mixture_tables(const Results& results) {
  Lines lines;
  const auto add = [&](const std::string& sentence, const Lines& table) {
    if (table.empty()) return;
    if (!lines.empty()) lines.emplace_back("");
    lines.push_back(sentence);
    lines.emplace_back("");
    lines.insert(lines.end(), table.begin(), table.end());
  };
  add(fmt::format("Seeds from {} on, not looked at while defaults were chosen:", kFirstReported),
      mixtures_table(results, "mixtures", true));
  add("The same seeds where something makes it harder, five policies each:",
      mixtures_table(results, "harder", true));
  add("Seeds on which defaults were chosen:", mixtures_table(results, "mixtures", false));
  return lines;
}

}  // namespace kindred::reproduce
