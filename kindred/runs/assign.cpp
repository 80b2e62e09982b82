#include "kindred/runs/assign.h"

#include <fmt/format.h>

#include <algorithm>

#include "kindred/core/files.h"
#include "kindred/data/csv.h"

namespace kindred {

std::int64_t Assignment::misfits() const { return std::ranges::count(fits, std::uint8_t{0}); }

Assignment assign(const LoadedRun& fitted, const Trajectories& data, const RunContext& context) {
  const Matrix scores = fitted.centres->score(data, context);
  Assignment result;
  result.labels = best_columns(scores);
  result.margins = margins(scores, result.labels);
  result.sizes.assign(static_cast<std::size_t>(scores.columns), 0);
  for (std::int64_t i = 0; i < scores.rows; ++i) {
    const auto label = result.labels[static_cast<std::size_t>(i)];
    const double per =
        fitted.centres->sums_over_steps() ? static_cast<double>(data.length(i)) : 1.0;
    result.fits.push_back(scores(i, label) / per >=
                          fitted.misfit_below[static_cast<std::size_t>(label)]);
    ++result.sizes[static_cast<std::size_t>(label)];
  }
  return result;
}

void write_assignment(const std::filesystem::path& path, const Trajectories& data,
                      const Assignment& assignment) {
  std::string csv = "episode,label,margin,fits\n";
  for (std::size_t i = 0; i < assignment.labels.size(); ++i)
    csv += fmt::format("{},{},{},{}\n", csv_field(data.ids[i]), assignment.labels[i],
                       assignment.margins[i], assignment.fits[i] != 0 ? "yes" : "no");
  write_text(path, csv);
}

}  // namespace kindred
