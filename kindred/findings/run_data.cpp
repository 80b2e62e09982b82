#include "kindred/findings/run_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kindred/core/error.h"

namespace kindred::findings {
namespace {

Matrix read_matrix(const ArrayFileReader& file, const std::string& name, std::int64_t rows) {
  auto array = file.read<double>(name);
  if (array.shape.size() != 2 || array.shape[0] != rows)
    throw DataFormatError("the run's '{}' do not have a row for each of the {} episodes", name,
                          rows);
  Matrix matrix;
  matrix.rows = array.shape[0];
  matrix.columns = array.shape[1];
  matrix.values = std::move(array.values);
  return matrix;
}

std::vector<double> own_scores(const RunData& found) {
  const bool sums = found.run.centres->sums_over_steps();
  std::vector<double> fit;
  for (std::int64_t i = 0; i < found.data.episodes(); ++i)
    fit.push_back(found.scores(i, found.label(i)) /
                  (sums ? static_cast<double>(found.data.length(i)) : 1.0));
  return fit;
}

Members members_of(const std::vector<std::int32_t>& labels, std::int64_t k) {
  Members members(static_cast<std::size_t>(k));
  for (std::size_t i = 0; i < labels.size(); ++i)
    members[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::int64_t>(i));
  return members;
}

/// Of every restart.
std::vector<std::vector<std::int32_t>> read_restart_labels(const RunFolder& folder,
                                                           std::int64_t episodes) {
  const ArrayFileReader file(folder.scores());
  std::vector<std::vector<std::int32_t>> labels;
  while (file.contains(fmt::format("restart_labels/{}", labels.size())))
    labels.push_back(
        file.read<std::int32_t>(fmt::format("restart_labels/{}", labels.size()), {episodes})
            .values);
  return labels;
}

/// An episode's own policy fits it better than it would have predicted it, so margins from scores
/// are too sure.
void use_held_out_margins(const ArrayFileReader& file, RunData& found) {
  if (!file.contains("held_out_margins") || found.run.record.k() < 2) return;
  const auto margins = file.read<double>("held_out_margins", {found.data.episodes()}).values;
  for (std::size_t i = 0; i < margins.size(); ++i)
    if (!std::isnan(margins[i])) {
      found.margin[i] = margins[i];
      ++found.held_out;
    }
}

}  // namespace

RunData load_run_data(const RunFolder& folder, const Trajectories& data) {
  RunData found{.run = load_run(folder), .data = data};
  const auto& record = found.run.record;
  require_same_data(record.fingerprint(), fingerprint_of(data), record.dataset.at("path"));
  const ArrayFileReader file(folder.scores());
  found.scores = read_matrix(file, "scores", data.episodes());
  if (found.scores.columns != record.k())
    throw DataFormatError("the run's 'scores' have {} columns, but it has {} clusters",
                          found.scores.columns, record.k());
  if (file.contains("latents")) found.latents = read_matrix(file, "latents", data.episodes());
  found.score_meaning = file.read_text("meaning");
  found.restart_labels = read_restart_labels(folder, data.episodes());
  found.members = members_of(found.run.labels, record.k());
  found.margin = margins(found.scores, found.run.labels);
  use_held_out_margins(file, found);
  found.fit = own_scores(found);
  found.policies = std::dynamic_pointer_cast<const PolicyCentres>(found.run.centres);
  return found;
}

RunData other_answer(const RunData& found, const RunFolder& folder, std::int64_t number) {
  RunData other{.run = with_alternative(found.run, folder, number), .data = found.data};
  const auto& labels = other.run.labels;
  if (consecutive_labels(labels) != labels)
    throw DataFormatError("the labels of alternative {} in '{}' leave out a cluster", number,
                          folder.scores().string());
  other.members = members_of(labels, 1 + *std::ranges::max_element(labels));
  return other;
}

std::vector<std::int64_t> spread(const std::vector<std::int64_t>& from, std::int64_t count) {
  const auto size = static_cast<std::int64_t>(from.size());
  if (size <= count) return from;
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < count; ++i)
    chosen.push_back(from[static_cast<std::size_t>(i * size / count)]);
  return chosen;
}

std::int64_t stride_for(std::int64_t length, std::int64_t count) {
  return (length + count - 1) / count;
}

}  // namespace kindred::findings
