#include "kindred/runs/assign.h"

#include <fmt/format.h>

#include <algorithm>

#include "kindred/core/files.h"
#include "kindred/data/csv.h"

namespace kindred {
namespace {

void judge_by_thresholds(const LoadedRun& fitted, const Trajectories& data, const Matrix& scores,
                         Assignment& result) {
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    const auto label = result.labels[static_cast<std::size_t>(i)];
    const double per =
        fitted.centres->sums_over_steps() ? static_cast<double>(data.length(i)) : 1.0;
    result.fits.push_back(scores(i, label) / per >=
                          fitted.misfit_below[static_cast<std::size_t>(label)]);
  }
}

void judge_by_calibration(const LoadedRun& fitted, const Trajectories& data, const Matrix& scores,
                          double false_alarms, const RunContext& context, Assignment& result) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(scores.columns), 0);
  for (const auto label : fitted.labels) ++sizes[static_cast<std::size_t>(label)];
  result.posteriors = fitted.calibration->posteriors(scores, sizes);
  result.surprises =
      fitted.calibration->surprises_of(*fitted.centres, scores, result.labels, data, context);
  for (const double surprise : result.surprises) {
    result.misfit.push_back(fitted.calibration->misfit(surprise));
    result.fits.push_back(result.misfit.back() >= false_alarms);
  }
}

}  // namespace

std::int64_t Assignment::misfits() const { return std::ranges::count(fits, std::uint8_t{0}); }

Assignment assign(const LoadedRun& fitted, const Trajectories& data, double false_alarms,
                  const RunContext& context) {
  const Matrix scores = fitted.centres->score(data, context);
  Assignment result;
  result.labels = best_columns(scores);
  result.margins = margins(scores, result.labels);
  result.sizes.assign(static_cast<std::size_t>(scores.columns), 0);
  for (const auto label : result.labels) ++result.sizes[static_cast<std::size_t>(label)];
  if (fitted.calibration)
    judge_by_calibration(fitted, data, scores, false_alarms, context, result);
  else
    judge_by_thresholds(fitted, data, scores, result);
  return result;
}

void write_assignment(const std::filesystem::path& path, const Trajectories& data,
                      const Assignment& assignment) {
  const bool calibrated = !assignment.misfit.empty();
  std::string csv = "episode,label,margin,fits";
  if (calibrated) {
    csv += ",posterior,surprise,misfit";
    for (std::int64_t c = 0; c < assignment.posteriors.columns; ++c) csv += fmt::format(",p{}", c);
  }
  csv += "\n";
  for (std::size_t i = 0; i < assignment.labels.size(); ++i) {
    const auto label = assignment.labels[i];
    csv += fmt::format("{},{},{},{}", csv_field(data.ids[i]), label, assignment.margins[i],
                       assignment.fits[i] != 0 ? "yes" : "no");
    if (calibrated) {
      const auto posteriors = assignment.posteriors.row(static_cast<std::int64_t>(i));
      csv += fmt::format(",{:.6g},{:.6g},{:.6g}", posteriors[static_cast<std::size_t>(label)],
                         assignment.surprises[i], assignment.misfit[i]);
      for (const double posterior : posteriors) csv += fmt::format(",{:.6g}", posterior);
    }
    csv += "\n";
  }
  write_text(path, csv);
}

}  // namespace kindred
