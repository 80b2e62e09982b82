#include "kindred/data/doctor.h"

#include <algorithm>
#include <array>
#include <iterator>

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

std::vector<Diagnosis> examine(const Trajectories& data, ThreadPool* pool) {
  const doctor::Chart chart(data);
  std::array<std::vector<Diagnosis>, kDoctorChecks.size()> found_by;
  // From the last on: those of episodes take longest, and a thread that is late keeps all waiting.
  const auto make_checks = [&](std::int64_t begin, std::int64_t end) {
    for (auto n = begin; n < end; ++n) {
      const auto i = static_cast<std::size_t>(doctor_checks() - 1 - n);
      kDoctorChecks[i](chart, found_by[i]);
    }
  };
  if (pool)
    pool->chunks(doctor_checks(), 1, make_checks);
  else
    make_checks(0, doctor_checks());
  std::vector<Diagnosis> found;
  for (auto& some : found_by) std::ranges::move(some, std::back_inserter(found));
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
