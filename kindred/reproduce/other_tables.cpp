// Tables of what Kindred measures beside the paper, and of the records themselves.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "kindred/core/words.h"
#include "kindred/reproduce/tables.h"

namespace kindred::reproduce {
namespace {

/// By the names in the order in which they first occur.
template <class Value>
Value& entry(std::vector<std::pair<std::string, Value>>& all, const std::string& name) {
  for (auto& [known, value] : all)
    if (known == name) return value;
  return all.emplace_back(name, Value{}).second;
}

/// The rows of one variant of the search, by task: with k unknown, and with k given.
struct SearchRows {
  std::map<std::string, const Json*> found, given;
};

RecordList values_of(const std::map<std::string, const Json*>& rows) {
  RecordList list;
  for (const auto& [task, row] : rows) list.push_back(row);
  return list;
}

std::string percent(double share, int digits) {
  return fmt::format("{:.{}f}%", 100.0 * share, digits);
}

double weighted_mean(const RecordList& rows, const std::string& value, const std::string& weight) {
  double sum = 0.0, all = 0.0;
  for (const auto* row : rows) {
    const auto w = row->at(weight).get<double>();
    sum += w * row->at(value).get<double>();
    all += w;
  }
  return sum / all;
}

/// Clusterings by seed that were made on a GPU beside those that have the seed's name.
std::vector<std::pair<std::string, const Json*>> measured_again(const Results& results,
                                                                const Task& task,
                                                                const std::string& configuration) {
  constexpr std::string_view kMark = "-cuda";
  const auto begin = task.name + "-" + configuration + "-";
  std::vector<std::pair<std::string, const Json*>> found;
  for (const auto& name : results.records.named(begin, std::string(kMark))) {
    auto seed = name.substr(begin.size(), name.size() - begin.size() - kMark.size());
    if (is_number(seed)) found.emplace_back(std::move(seed), results.records.find(name));
  }
  return found;
}

/// "AMD EPYC (2 cores)" or "NVIDIA H200 beside AMD EPYC (2 cores)"; empty where it does not say.
std::string machine_words(const Json& machine) {
  if (!machine.contains("processor")) return "";
  const auto processor = fmt::format("{} ({} cores)", machine["processor"].get<std::string>(),
                                     machine["cores"].get<std::int64_t>());
  return machine.at("device") == "cpu"
             ? processor
             : fmt::format("{} beside {}", machine.value("gpu", "GPU"), processor);
}

}  // namespace

Lines table_of(const Row& head, const std::vector<Row>& rows) {
  Lines lines = {fmt::format("| {} |", fmt::join(head, " | "))};
  std::string rule;
  for (std::size_t i = 0; i < head.size(); ++i) rule += "|---";
  lines.push_back(rule + "|");
  for (const auto& row : rows) lines.push_back(fmt::format("| {} |", fmt::join(row, " | ")));
  return lines;
}

std::string with_deviation(const std::vector<double>& values, int digits) {
  if (values.empty()) return "";
  if (values.size() == 1) return fmt::format("{:.{}f} (1)", values[0], digits);
  return fmt::format("{:.{}f} ± {:.{}f} ({})", mean(values), digits, deviation(values), digits,
                     values.size());
}

std::string beside_paper(const std::string& ours, const std::string& paper) {
  if (paper.empty()) return ours;
  return ours.empty() ? fmt::format("[{}]", paper) : fmt::format("{} [{}]", ours, paper);
}

Lines search_table(const Results& results) {
  const auto* record = results.records.find("ablation");
  if (!record) return {};
  std::vector<std::pair<std::string, SearchRows>> searches;
  for (const auto& row : *record) {
    auto& rows = entry(searches, row.at("search"));
    (row.at("given").get<bool>() ? rows.given : rows.found)[row.at("task")] = &row;
  }
  const SearchRows& usual = searches.front().second;
  std::vector<Row> lines;
  for (const auto& [search, rows] : searches) {
    std::int64_t right = 0, at_least = 0, higher = 0;
    double ratio = 0.0;
    for (const auto& [task, row] : rows.found) {
      right += row->at("k") == row->at("policies") ? 1 : 0;
      ratio +=
          std::log(row->at("cpu").get<double>() / usual.found.at(task)->at("cpu").get<double>());
    }
    for (const auto& [task, row] : rows.given) {
      const double gain = row->at("v").get<double>() - usual.given.at(task)->at("v").get<double>();
      at_least += gain > -1e-9 ? 1 : 0;
      higher += gain > 1e-9 ? 1 : 0;
    }
    const bool compares =
        !rows.given.empty() && &rows != &usual && search.find("features") == std::string::npos;
    const auto nmi = numbers(values_of(rows.found), "nmi"),
               given = numbers(values_of(rows.given), "nmi");
    lines.push_back(
        {search, std::to_string(right), fmt::format("{:.3f} ({:.3f})", mean(nmi), least(nmi)),
         given.empty() ? "" : fmt::format("{:.3f}", mean(given)),
         compares ? fmt::format("{} ({})", at_least, higher) : "",
         fmt::format("{:.2f}", std::exp(ratio / static_cast<double>(rows.found.size())))});
  }
  return table_of({"search", "k right", "NMI (least)", "NMI, k given", "V", "CPU"}, lines);
}

Lines unseen_table(const Results& results) {
  const auto* record = results.records.find("unseen");
  if (!record) return {};
  std::vector<std::pair<std::string, RecordList>> tasks;
  for (const auto& row : *record) entry(tasks, row.at("task")).push_back(&row);
  std::vector<Row> lines;
  for (const auto& [task, rows] : tasks) {
    std::set<std::int64_t> seeds;
    for (const auto* row : rows) seeds.insert(row->at("seed").get<std::int64_t>());
    const auto auc = numbers(rows, "auc");
    const auto average = [&](const char* name) {
      return fmt::format("{:.3f}", mean(numbers(rows, name)));
    };
    lines.push_back({task, fmt::format("{}", fmt::join(seeds, ", ")), std::to_string(rows.size()),
                     fmt::format("{:.4f} ({:.4f})", mean(auc), least(auc)),
                     percent(mean(numbers(rows, "same_as_known")), 1),
                     percent(weighted_mean(rows, "false_alarms", "known"), 2),
                     percent(weighted_mean(rows, "detected", "unseen"), 1),
                     std::to_string(rows[0]->at("steps_of_beginnings").get<std::int64_t>()),
                     average("right_by_beginning"), average("posterior_by_beginning"),
                     average("reliability")});
  }
  return table_of({"task", "seeds", "left out", "AUC", "alike", "false alarms", "detected",
                   "beginnings, steps", "right", "said", "apart"},
                  lines);
}

Lines environment_speed_table(const Results& results) {
  const auto* record = results.records.find("throughput");
  if (!record) return {};
  std::vector<Row> rows;
  for (const auto& row : *record) {
    auto name = row.at("name").get<std::string>();
    name = name.substr(name.find('/') + 1);
    name = name.substr(0, name.find('/'));
    std::ranges::replace(name, '_', '-');
    const double rate = row.contains("items_per_second") ? row["items_per_second"] : row["steps/s"];
    rows.push_back(
        {name, std::to_string(row.at("threads").get<std::int64_t>()), grouped(std::llrint(rate)),
         row.contains("of_bare") ? fmt::format("{:.2f}", row["of_bare"].get<double>()) : ""});
  }
  return table_of({"environment", "threads", "steps/s", "share of bare MuJoCo"}, rows);
}

Lines caae_speed_table(const Results& results) {
  std::vector<Row> rows;
  for (const auto& name : results.records.named("speed-", "")) {
    const auto& record = *results.records.find(name);
    const auto milliseconds = [&](const char* key) {
      return fmt::format("{:.2f}", 1e3 * median(record.at(key).get<std::vector<double>>()));
    };
    rows.push_back({record.at("device"), record.at("torch"),
                    std::to_string(record.at("torch_threads").get<std::int64_t>()),
                    milliseconds("kindred_seconds_per_update"),
                    milliseconds("pytorch_seconds_per_update"),
                    fmt::format("{:.2f}", record.at("ratio").get<double>())});
  }
  if (rows.empty()) return {};
  return table_of({"device", "PyTorch", "its threads", "Kindred, ms", "PyTorch, ms", "ratio"},
                  rows);
}

Lines gpu_table(const Results& results) {
  const auto nmi = [](const Json& record) {
    return fmt::format("{:.4f}", record.at("result").at("nmi").get<double>());
  };
  const auto seconds = [](const Json& record) {
    return fmt::format("{:.1f}", record.at("timings").at("fit").get<double>());
  };
  std::vector<Row> rows;
  for (const auto& configuration : results.declared.configurations)
    for (const auto& task : results.declared.tasks)
      for (const auto& [seed, record] : measured_again(results, task, configuration.name)) {
        Row row = {task.title, configuration.title, seed, seconds(*record), nmi(*record), "", ""};
        const auto* first =
            results.records.find(fmt::format("{}-{}-{}", task.name, configuration.name, seed));
        if (first && first->at("machine").at("device") == "cpu") {
          row[5] = nmi(*first);
          row[6] = fmt::format("{} ({})", seconds(*first),
                               first->at("machine").at("threads").get<std::int64_t>());
        }
        rows.push_back(std::move(row));
      }
  if (rows.empty()) return {};
  return table_of({"task", "method", "seed", "seconds", "NMI", "NMI on a CPU", "its seconds"},
                  rows);
}

RecordList undisturbed(const Results& results, const Task& task, const std::string& configuration,
                       const std::string& device) {
  auto records = results.records.clusterings(task.name, configuration);
  for (const auto& [seed, record] : measured_again(results, task, configuration))
    records.push_back(record);
  records = made_on(records, device);
  std::erase_if(records, [](const Json* record) {
    return record->at("machine").value("jobs_at_once", 1) > 1;
  });
  return records;
}

Lines gpu_minutes(const Results& results, const std::string& item) {
  double sum = 0.0, share = 0.0;
  std::int64_t count = 0, all = 0;
  for (const auto& job : jobs_of(results.declared, {item})) {
    const auto* record = results.records.find(job.name());
    if (!record) continue;
    ++all;
    if (record->at("machine").at("device") == "cpu") continue;
    ++count;
    const double seconds = record->at("timings").at("fit").get<double>();
    sum += seconds;
    share += seconds / record->at("machine").value("jobs_on_device", 1.0);
  }
  if (count == 0) return {};
  return {"",
          fmt::format("GPU: {} of these {} clusterings were made on one, in {:.0f} minutes of its "
                      "time: {:.0f} minutes",
                      count, all, share / 60.0, sum / 60.0),
          "of clustering, while several jobs shared it."};
}

Lines examples_table(const Results& results) {
  std::vector<Row> rows;
  for (const char* name : {"bandit", "takeball-permuted"})
    for (const char* configuration : {"pg-kmeans", "exact-k", "exact"}) {
      const auto records = results.records.clusterings(name, configuration);
      if (records.empty()) continue;
      std::vector<std::int64_t> found;
      std::vector<double> answers;
      for (const auto* record : records) {
        const auto& result = record->at("result");
        found.push_back(result.at("k"));
        if (result.contains("alternatives"))
          answers.push_back(1.0 + static_cast<double>(result["alternatives"].size()));
      }
      std::ranges::sort(found);
      const auto ceiling = numbers(records, "result/ceiling");
      rows.push_back(
          {results.declared.task(name).title, results.declared.configuration(configuration).title,
           fmt::format("{}", fmt::join(found, ", ")),
           with_deviation(numbers(records, "result/nmi")),
           answers.empty() ? "-" : fmt::format("{:.0f}…{:.0f}", least(answers), most(answers)),
           ceiling.empty() ? "" : fmt::format("{:.2f}", mean(ceiling))});
    }
  return rows.empty()
             ? Lines{}
             : table_of({"example", "method", "k", "NMI with the experts", "answers", "oracle"},
                        rows);
}

Lines made_by(const Results& results) {
  std::set<std::string> versions, dates;
  std::map<std::string, std::int64_t> machines;
  std::int64_t count = 0;
  for (const auto& name : results.records.named("", "")) {
    const auto& record = *results.records.find(name);
    if (!record.is_object() || !record.contains("started")) continue;
    ++count;
    if (record.contains("version")) versions.insert(record["version"].get<std::string>());
    dates.insert(record["started"].get<std::string>().substr(0, 10));
    ++machines[machine_words(record.value("machine", Json::object()))];
  }
  if (count == 0) return {};
  Lines lines = {
      fmt::format("{} records of clusterings and evaluations, made by Kindred {} from {} to {}.",
                  grouped(count), fmt::join(versions, ", "), *dates.begin(), *dates.rbegin())};
  for (const auto& [machine, made] : machines)
    lines.push_back(machine.empty()
                        ? fmt::format("- {} before records named the processor", grouped(made))
                        : fmt::format("- {} on {}", grouped(made), machine));
  if (lines.size() > 1) lines.insert(lines.begin() + 1, "");
  return lines;
}

Lines completeness(const Results& results) {
  std::vector<Row> rows;
  for (const auto& item : results.declared.items) {
    std::int64_t stored = 0, all = 0;
    for (const auto& job : jobs_of(results.declared, {item.name}))
      for (const auto& output : job.outputs) {
        ++all;
        stored += results.records.find(output.record) ? 1 : 0;
      }
    rows.push_back(
        {fmt::format("`{}`", item.name), item.title, std::to_string(stored), std::to_string(all)});
  }
  return table_of({"item", "what", "records", "declared"}, rows);
}

}  // namespace kindred::reproduce
