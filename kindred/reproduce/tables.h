// The tables of the page of results, each made from records alone.
#pragma once

#include <string>
#include <vector>

#include "kindred/reproduce/declarations.h"
#include "kindred/reproduce/records.h"

namespace kindred::reproduce {

using Lines = std::vector<std::string>;
using Row = std::vector<std::string>;

struct Results {
  const Declarations& declared;
  const Records& records;
};

/// A table in Markdown.
Lines table_of(const Row& head, const std::vector<Row>& rows);

/// "0.93 ± 0.01 (10)": mean, deviation, how many. Empty where there are none.
std::string with_deviation(const std::vector<double>& values, int digits = 2);
/// "0.93 (0.92)": ours, the paper's. Without ours, or without theirs, the other is left out.
std::string beside_paper(const std::string& ours, const std::string& paper);

// What several of them look up.
std::vector<double> nmi_of(const Results& results, const Task& task,
                           const std::string& configuration);
/// Of CAAE with k clusters, under whichever name the records are.
std::vector<double> nmi_of_caae(const Results& results, const Task& task, std::int64_t k);
/// Of each restart of each record: what single runs would have found.
std::vector<double> nmi_of_single_runs(const Results& results, const Task& task);
/// Scores of the policy of the cluster with the higher returns, trained on.
std::vector<double> expert_scores(const Results& results, const Task& task);
/// The highest score among k centres as clustering left them, of each record.
std::vector<double> best_centre_scores(const Results& results, const Task& task, std::int64_t k);
/// Of those that had the machine to themselves, on a device.
RecordList undisturbed(const Results& results, const Task& task, const std::string& configuration,
                       const std::string& device);

/// One row per task, one column per method: our mean, the paper's in brackets. README's.
Lines overview(const Results& results);
/// Every task and configuration with spreads, seconds and memory.
Lines details(const Results& results);

// The paper's, by item.
Lines main_table(const Results& results);
Lines full_table(const Results& results);
Lines caae_by_k_table(const Results& results);
Lines caae_ablation_table(const Results& results);
Lines merging_table(const Results& results);
Lines floor_table(const Results& results);
Lines times_table(const Results& results);
Lines returns_table(const Results& results);
Lines best_centre_table(const Results& results);
Lines examples_table(const Results& results);
Lines downstream_table(const Results& results);

// Kindred's own.
Lines mixture_tables(const Results& results);
Lines search_table(const Results& results);
Lines unseen_table(const Results& results);
Lines environment_speed_table(const Results& results);
Lines caae_speed_table(const Results& results);
Lines gpu_table(const Results& results);

/// Means of ours that lie below the paper's, by how much, and why.
Lines shortfalls(const Results& results);
/// How long a GPU was needed for the records of an item; empty where none was used.
Lines gpu_minutes(const Results& results, const std::string& item);
/// When, by which version and on what the records were made.
Lines made_by(const Results& results);
/// How many records each item has of those it is declared to have.
Lines completeness(const Results& results);

}  // namespace kindred::reproduce
