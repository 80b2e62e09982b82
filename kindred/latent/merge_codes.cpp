#include "kindred/latent/merge_codes.h"

#include <limits>

namespace kindred::latent {
namespace {

struct Group {
  double size = 0.0;
  std::vector<double> mean;
};

double added_distance(const Group& a, const Group& b) {
  double distance = 0.0;
  for (std::size_t j = 0; j < a.mean.size(); ++j)
    distance += (a.mean[j] - b.mean[j]) * (a.mean[j] - b.mean[j]);
  return distance * a.size * b.size / (a.size + b.size);
}

std::vector<Group> groups_of(const Matrix& latents, const std::vector<std::int32_t>& code_of_row,
                             std::int64_t codes) {
  std::vector<Group> groups(static_cast<std::size_t>(codes),
                            {0.0, std::vector<double>(static_cast<std::size_t>(latents.columns))});
  for (std::int64_t i = 0; i < latents.rows; ++i) {
    auto& group = groups[static_cast<std::size_t>(code_of_row[static_cast<std::size_t>(i)])];
    group.size += 1.0;
    for (std::size_t j = 0; j < group.mean.size(); ++j)
      group.mean[j] += latents(i, static_cast<std::int64_t>(j));
  }
  for (auto& group : groups)
    if (group.size > 0.0)
      for (auto& x : group.mean) x /= group.size;
  return groups;
}

}  // namespace

MergedCodes merge_codes(const Matrix& latents, const std::vector<std::int32_t>& code_of_row,
                        std::int64_t codes, std::int64_t target, double objective, double weight) {
  auto groups = groups_of(latents, code_of_row, codes);
  std::vector<std::size_t> into(groups.size());  // where each code's members are now
  std::size_t left = 0;
  for (std::size_t c = 0; c < groups.size(); ++c) {
    into[c] = c;
    left += groups[c].size > 0.0;
  }
  MergedCodes result;
  for (; left > static_cast<std::size_t>(target); --left) {
    std::size_t keep = 0, gone = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        if (groups[i].size == 0.0 || groups[j].size == 0.0) continue;
        const double added = added_distance(groups[i], groups[j]);
        if (added < least) least = added, keep = j, gone = i;
      }
    auto& a = groups[keep];
    auto& b = groups[gone];
    for (std::size_t j = 0; j < a.mean.size(); ++j)
      a.mean[j] = (a.mean[j] * a.size + b.mean[j] * b.size) / (a.size + b.size);
    a.size += b.size;
    b.size = 0.0;
    for (auto& c : into)
      if (c == gone) c = keep;
    objective -= weight * least / static_cast<double>(latents.rows);
    result.steps.push_back(
        {static_cast<std::int64_t>(gone), static_cast<std::int64_t>(keep), objective});
  }
  std::vector<std::int32_t> number(groups.size(), -1);
  std::int32_t next = 0;
  for (std::size_t c = 0; c < groups.size(); ++c)
    if (groups[c].size > 0.0) number[c] = next++;
  for (std::size_t c = 0; c < groups.size(); ++c) result.cluster_of_code.push_back(number[into[c]]);
  return result;
}

}  // namespace kindred::latent
