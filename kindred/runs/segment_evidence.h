// What every step of some episodes says for each policy: evidence.h5 beside the segments. All
// episodes would take more room than the dataset, so it holds those worth a look.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "kindred/segments/segmentation.h"

namespace kindred {

struct SegmentEvidence {
  std::vector<std::int64_t> episodes{};  ///< In order, each once.
  std::vector<std::int64_t> offsets{0};  ///< [episodes + 1], into the rows.
  std::vector<float> nats{};             ///< [rows, policies]: held-out log-likelihoods.
  std::int64_t policies = 0;

  std::int64_t count() const { return std::ssize(episodes); }
  std::int64_t length(std::int64_t i) const {
    return offsets[static_cast<std::size_t>(i) + 1] - offsets[static_cast<std::size_t>(i)];
  }
  /// The log-likelihoods of step t of the i-th of these episodes.
  std::span<const float> at(std::int64_t i, std::int64_t t) const {
    return std::span(nats).subspan(
        static_cast<std::size_t>((offsets[static_cast<std::size_t>(i)] + t) * policies),
        static_cast<std::size_t>(policies));
  }
};

/// Of the episodes with most switches, of those whose actors are least sure, and of some in which
/// nobody switches: `each` of every kind, as far as `most_steps` go.
SegmentEvidence notable_evidence(const Segmentation& found, std::span<const std::int64_t> offsets,
                                 std::int64_t each = 20, std::int64_t most_steps = 500'000);

void save_evidence(const SegmentEvidence& evidence, const std::filesystem::path& path);

/// Throws IoError or DataFormatError when it is damaged or not of so many policies and episodes.
SegmentEvidence load_evidence(const std::filesystem::path& path, std::int64_t policies,
                              std::int64_t episodes);

}  // namespace kindred
