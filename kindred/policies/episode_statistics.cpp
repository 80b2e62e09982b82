#include "kindred/policies/episode_statistics.h"

#include <algorithm>

#include "kindred/nn/gemm.h"
#include "kindred/policies/device_steps.h"
#include "kindred/policies/error_forms.h"

namespace kindred {
namespace {

constexpr auto kRows = StepProducts::kMostRows;
constexpr std::int64_t kPiece = 200;  // steps, about

void add(std::span<const double> sums, double* to) {
  for (std::size_t p = 0; p < sums.size(); ++p) to[p] += sums[p];
}

/// Adds the sums of steps, a block of rows at a time.
class StepSums {
 public:
  StepSums(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets)
      : data_(data),
        map_(map),
        targets_(targets),
        layout_{map.count(), targets.count()},
        rows_(static_cast<std::size_t>(kRows * map.obs_dim())),
        phi_(static_cast<std::size_t>(kRows * layout_.features)),
        actions_(static_cast<std::size_t>(kRows * layout_.targets)),
        products_(layout_) {}

  void add(std::int64_t begin, std::int64_t end, double* sums) {
    for (auto from = begin; from < end; from += kRows) {
      const auto n = std::min(kRows, end - from);
      data_.observations.copy(from, from + n, rows_.data());
      map_.apply(std::span(rows_).first(static_cast<std::size_t>(n * map_.obs_dim())), phi_);
      targets_.copy(data_.actions, from, from + n, actions_);
      products_.add(n, phi_.data(), actions_.data(), sums);
    }
  }

 private:
  const Trajectories& data_;
  const FeatureMap& map_;
  const ActionTargets& targets_;
  StatisticsLayout layout_;
  std::vector<float> rows_;
  std::vector<double> phi_, actions_;
  StepProducts products_;
};

}  // namespace

StepProducts::StepProducts(const StatisticsLayout& layout)
    : layout_(layout),
      width_(padded(layout.features + layout.targets, kDoubleLane)),
      rows_(static_cast<std::size_t>(kMostRows * width_), 0.0),
      products_(static_cast<std::size_t>(width_ * width_)) {}

void StepProducts::add(std::int64_t n, const double* features, const double* targets,
                       double* sums) {
  std::ranges::fill(products_, 0.0);
  for (std::int64_t begin = 0; begin < n; begin += kMostRows) {
    const auto count = std::min(kMostRows, n - begin);
    for (std::int64_t t = 0; t < count; ++t) {
      double* row = rows_.data() + t * width_;
      row = std::copy_n(features + (begin + t) * layout_.features, layout_.features, row);
      std::copy_n(targets + (begin + t) * layout_.targets, layout_.targets, row);
    }
    add_gram(count, width_, rows_.data(), products_.data());
  }
  const double* row = products_.data();
  double* to = sums;
  for (std::int64_t m = 0; m < layout_.features; ++m, row += width_)
    for (std::int64_t l = 0; l <= m; ++l) *to++ += row[l];
  for (std::int64_t d = 0; d < layout_.targets; ++d, row += width_) {
    for (std::int64_t m = 0; m < layout_.features; ++m) to[m * layout_.targets + d] += row[m];
    sums[layout_.squares() + d] += row[layout_.features + d];
  }
  sums[layout_.steps()] += static_cast<double>(n);
}

std::vector<double> cluster_sums(const Trajectories& data, const FeatureMap& map,
                                 const ActionTargets& targets, std::span<const std::int32_t> labels,
                                 std::int64_t k, const Workers& workers,
                                 const std::string& device) {
  constexpr std::int64_t kParts = 64;  // whatever the threads, so that sums add up the same
  const StatisticsLayout layout{map.count(), targets.count()};
  const auto size = static_cast<std::size_t>(k * layout.size());
  std::vector<double> result(size, 0.0);
  if (device != "cpu") {
    make_device_steps(data, map, targets, device, workers)
        ->sums([&](std::int64_t, std::int64_t episode, std::span<const double> sums) {
          add(sums, result.data() + labels[static_cast<std::size_t>(episode)] * layout.size());
        });
    return result;
  }
  std::vector<std::vector<double>> parts(kParts);
  workers.chunks(kParts, 1, [&](std::int64_t part, std::int64_t) {
    auto& sums = parts[static_cast<std::size_t>(part)];
    sums.assign(size, 0.0);
    StepSums steps(data, map, targets);
    for (auto i = data.episodes() * part / kParts; i < data.episodes() * (part + 1) / kParts; ++i) {
      workers.throw_if_stopped();
      steps.add(data.offsets[i], data.offsets[i + 1],
                sums.data() + labels[static_cast<std::size_t>(i)] * layout.size());
    }
  });
  for (const auto& sums : parts) add(sums, result.data());
  return result;
}

std::vector<double> step_sums(const Trajectories& data, std::int64_t begin, std::int64_t end,
                              const FeatureMap& map, const ActionTargets& targets) {
  std::vector<double> sums(
      static_cast<std::size_t>(StatisticsLayout{map.count(), targets.count()}.size()), 0.0);
  StepSums(data, map, targets).add(begin, end, sums.data());
  return sums;
}

std::vector<std::pair<std::int64_t, std::int64_t>> pieces_of(std::int64_t begin, std::int64_t end) {
  const auto length = end - begin;
  const auto count = std::max<std::int64_t>(1, (length + kPiece / 2) / kPiece);
  std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
  for (std::int64_t p = 0; p < count; ++p)
    pieces.emplace_back(begin + length * p / count, begin + length * (p + 1) / count);
  return pieces;
}

KeptSums::KeptSums(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
                   const Workers& workers, const std::string& device)
    : EpisodeStatistics({map.count(), targets.count()}, workers),
      values_(static_cast<std::size_t>(data.episodes() * layout().size()), 0.0) {
  const auto size = layout().size();
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    for (const auto& [begin, end] : pieces_of(0, data.length(i))) add_piece(end - begin);
    end_episode();
  }
  if (pieces() > episodes()) pieces_.assign(static_cast<std::size_t>(pieces() * size), 0.0);
  if (device != "cpu") {
    make_device_steps(data, map, targets, device, workers)
        ->sums([&](std::int64_t piece, std::int64_t episode, std::span<const double> sums) {
          add(sums, values_.data() + episode * size);
          if (!pieces_.empty()) std::ranges::copy(sums, pieces_.begin() + piece * size);
        });
    return;
  }
  workers.chunks(episodes(), 1, [&](std::int64_t first, std::int64_t last) {
    StepSums steps(data, map, targets);
    for (auto i = first; i < last; ++i) {
      double* whole = values_.data() + i * size;
      if (pieces_.empty()) {
        steps.add(data.offsets[i], data.offsets[i + 1], whole);
        continue;
      }
      double* own = pieces_.data() + first_piece(i) * size;
      for (const auto& [begin, end] : pieces_of(data.offsets[i], data.offsets[i + 1])) {
        steps.add(begin, end, own);
        add({own, static_cast<std::size_t>(size)}, whole);
        own += size;
      }
    }
  });
}

std::unique_ptr<const EpisodeStatistics> KeptSums::subset(
    std::span<const std::int64_t> episodes) const {
  auto result = std::unique_ptr<KeptSums>(new KeptSums(layout(), workers()));
  for (const auto i : episodes) {
    const auto whole = of(i);
    result->values_.insert(result->values_.end(), whole.begin(), whole.end());
    for (auto p = first_piece(i); p < last_piece(i); ++p)
      result->add_piece(static_cast<std::int64_t>(piece_steps(p)));
    result->end_episode();
  }
  if (result->pieces() == result->episodes()) return result;
  for (const auto i : episodes)
    for (auto p = first_piece(i); p < last_piece(i); ++p) {
      const auto own = of_piece(p);
      result->pieces_.insert(result->pieces_.end(), own.begin(), own.end());
    }
  return result;
}

std::vector<double> KeptSums::cluster_sums(std::span<const std::int32_t> labels,
                                           std::int64_t k) const {
  std::vector<double> sums(static_cast<std::size_t>(k * layout().size()), 0.0);
  for (std::int64_t i = 0; i < episodes(); ++i) {
    const auto label = labels[static_cast<std::size_t>(i)];
    if (label < 0) continue;
    add(of(i), sums.data() + label * layout().size());
  }
  return sums;
}

Matrix KeptSums::episode_costs(std::span<const double> weights, std::int64_t k,
                               std::span<const double> noise) const {
  throw_if_stopped();
  std::vector<const double*> rows;
  for (std::int64_t i = 0; i < episodes(); ++i) rows.push_back(of(i).data());
  return ErrorForms::of_policies(layout(), weights, k, noise).errors(rows);
}

Matrix KeptSums::piece_errors(std::span<const std::int64_t> pieces,
                              std::span<const double> policy) const {
  throw_if_stopped();
  std::vector<const double*> rows;
  for (const auto piece : pieces) rows.push_back(of_piece(piece).data());
  return ErrorForms::of_targets(layout(), policy).errors(rows);
}

}  // namespace kindred
