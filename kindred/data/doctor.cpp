#include "kindred/data/doctor.h"

#include <algorithm>
#include <array>

#include "kindred/data/doctor_chart.h"

namespace kindred {
namespace {

constexpr std::array kDoctorChecks = {doctor::check_finite_numbers,
                                      doctor::check_actions_among_observations,
                                      doctor::check_constant_columns,
                                      doctor::check_scales,
                                      doctor::check_precision,
                                      doctor::check_copied_columns,
                                      doctor::check_wrapping,
                                      doctor::check_empty_episodes,
                                      doctor::check_tiny_episodes,
                                      doctor::check_repeated_episodes,
                                      doctor::check_seams,
                                      doctor::check_flags,
                                      doctor::check_rewards,
                                      doctor::check_label_order};

}  // namespace

std::int64_t doctor_checks() { return std::ssize(kDoctorChecks); }

std::vector<Diagnosis> examine(const Trajectories& data) {
  std::vector<Diagnosis> found;
  const doctor::Chart chart(data);
  for (const auto check : kDoctorChecks) check(chart, found);
  return found;
}

nlohmann::ordered_json to_json(std::span<const Diagnosis> found, bool details) {
  auto list = nlohmann::ordered_json::array();
  for (const auto& one : found) {
    list.push_back({{"key", one.key},
                    {"severity", one.severity == Severity::kWarning ? "warning" : "note"},
                    {"evidence", one.evidence},
                    {"advice", one.advice}});
    if (details) list.back()["details"] = one.details;
  }
  return list;
}

std::int64_t count_warnings(std::span<const Diagnosis> found) {
  return std::ranges::count(found, Severity::kWarning, &Diagnosis::severity);
}

}  // namespace kindred
