// What a run found, as one record to show to a person: report-ui/src/record.ts says what it holds.
// The report room puts it into a page; nothing there looks at the run or the data again.
#pragma once

#include <nlohmann/json.hpp>
#include <span>

#include "kindred/data/trajectories.h"
#include "kindred/findings/pictures.h"
#include "kindred/runs/run.h"

namespace kindred {

/// Throws InvalidArgument unless `data` is what the run was made from, DataFormatError when the run
/// is damaged. The same run, data and pictures give the same record.
nlohmann::ordered_json report_record(const RunFolder& folder, const Trajectories& data,
                                     const PictureOptions& pictures = {});

/// Several runs side by side.
nlohmann::ordered_json comparison_record(std::span<const RunFolder> folders);

/// One sentence: into how many clusters the trajectories were divided, whether restarts agree on
/// them and, where the true policies are known, how well they match.
std::string conclusion(const RunRecord& record);

}  // namespace kindred
