#include "kindred/policies/episode_statistics.h"

#include <algorithm>
#include <array>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/vectorise.h"
#include "kindred/data/select.h"
#include "kindred/nn/gemm.h"
#include "kindred/policies/device_steps.h"
#include "kindred/policies/error_forms.h"

namespace kindred {
namespace {

constexpr auto kRows = StepProducts::kMostRows;
constexpr std::int64_t kPiece = 200;                              // steps, about
constexpr std::int64_t kEpisodesAtOnce = 4, kPoliciesAtOnce = 4;  // by a thread in one buffer
constexpr std::int64_t kNumbersAtOnce = std::int64_t{1} << 20;  // of sums: 8 MiB, which caches hold

KINDRED_VECTORISE
void add_numbers(std::int64_t n, const double* __restrict from, double* __restrict to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += from[i];
}

KINDRED_VECTORISE
void add_numbers(std::int64_t n, const float* __restrict from, double* __restrict to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] += static_cast<double>(from[i]);
}

KINDRED_VECTORISE
void to_floats(std::int64_t n, const double* __restrict from, float* __restrict to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

void add(std::span<const double> sums, double* to) {
  add_numbers(std::ssize(sums), sums.data(), to);
}

}  // namespace

StepProducts::StepProducts(const StatisticsLayout& layout, ProductsAs as)
    : layout_(layout),
      stride_(padded(layout.features + std::max(layout.targets, FeatureMap::kRoom),
                     as == ProductsAs::kFloats ? kLane : kDoubleLane)),
      rows_(static_cast<std::size_t>(kMostRows * stride_), 0.0),
      products_(static_cast<std::size_t>((layout.features + layout.targets) * stride_), 0.0) {
  if (as == ProductsAs::kDoubles) return;
  float_rows_.resize(rows_.size());
  float_products_.resize(products_.size());
}

void StepProducts::add_rows(std::int64_t n) {
  if (!float_rows_.empty()) {
    to_floats(n * stride_, rows_.data(), float_rows_.data());
    return add_float_rows(n);
  }
  gram(n, layout_.features + layout_.targets, stride_, rows_.data(), products_.data(),
       /*accumulate=*/steps_ > 0);
  steps_ += n;
}

void StepProducts::add_float_rows(std::int64_t n) {
  const auto width = layout_.features + layout_.targets;
  gram(n, width, stride_, float_rows_.data(), float_products_.data(), /*accumulate=*/false);
  if (steps_ == 0) std::ranges::fill(products_, 0.0);
  for (std::int64_t m = 0; m < width; ++m)
    add_numbers(m + 1, float_products_.data() + m * stride_, products_.data() + m * stride_);
  steps_ += n;
}

void StepProducts::finish(double* sums, bool accumulate) {
  if (steps_ == 0 && !accumulate) std::fill_n(sums, layout_.size(), 0.0);
  if (steps_ == 0) return;
  const auto give = [=](double number, double& to) { to = accumulate ? to + number : number; };
  const double* row = products_.data();
  double* to = sums;
  for (std::int64_t m = 0; m < layout_.features; to += ++m, row += stride_)
    if (accumulate)
      add_numbers(m + 1, row, to);
    else
      std::copy_n(row, m + 1, to);
  for (std::int64_t d = 0; d < layout_.targets; ++d, row += stride_) {
    for (std::int64_t m = 0; m < layout_.features; ++m) give(row[m], to[m * layout_.targets + d]);
    give(row[layout_.features + d], sums[layout_.squares() + d]);
  }
  give(static_cast<double>(steps_), sums[layout_.steps()]);
  steps_ = 0;
}

void StepProducts::add(std::int64_t n, const double* features, const double* targets,
                       double* sums) {
  for (std::int64_t begin = 0; begin < n; begin += kMostRows) {
    const auto count = std::min(kMostRows, n - begin);
    for (std::int64_t t = 0; t < count; ++t) {
      double* row = rows() + t * stride_;
      row = std::copy_n(features + (begin + t) * layout_.features, layout_.features, row);
      std::copy_n(targets + (begin + t) * layout_.targets, layout_.targets, row);
    }
    add_rows(count);
  }
  finish(sums);
}

StepSums::StepSums(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
                   ProductsAs as)
    : data_(data),
      map_(map),
      targets_(targets),
      seen_(static_cast<std::size_t>(kRows * map.obs_dim())),
      products_({map.count(), targets.count()}, as) {}

void StepSums::add(std::int64_t begin, std::int64_t end, double* sums, bool accumulate) {
  for (auto from = begin; from < end; from += kRows) {
    const auto n = std::min(kRows, end - from);
    data_.observations.copy(from, from + n, seen_.data());
    map_.apply(std::span(seen_).first(static_cast<std::size_t>(n * map_.obs_dim())),
               products_.rows(), products_.stride());
    targets_.copy(data_.actions, from, from + n, products_.targets(), products_.stride());
    products_.add_rows(n);
  }
  products_.finish(sums, accumulate);
}

std::vector<double> cluster_sums(const Trajectories& data, const FeatureMap& map,
                                 const ActionTargets& targets, std::span<const std::int32_t> labels,
                                 std::int64_t k, const Workers& workers, const std::string& device,
                                 Communicator& ranks) {
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
  // In parts that depend on neither threads nor ranks, so that sums add up the same.
  const auto bounds = equal_parts(data.offsets.span(), kEpisodeParts);
  std::vector<Share> shares;
  for (std::int64_t r = 0; r < ranks.size(); ++r) shares.push_back(own_parts(r, ranks.size()));
  const CommonArray<double> parts(ranks, shares, static_cast<std::int64_t>(size));
  const auto& own = shares[static_cast<std::size_t>(ranks.rank())];
  workers.chunks(own.size(), 1, [&](std::int64_t n, std::int64_t) {
    const auto part = static_cast<std::size_t>(own.begin + n);
    StepSums steps(data, map, targets);
    std::fill_n(parts.data() + part * size, size, 0.0);
    for (auto i = bounds[part]; i < bounds[part + 1]; ++i) {
      workers.throw_if_stopped();
      steps.add(data.offsets[i], data.offsets[i + 1],
                parts.data() + part * size +
                    static_cast<std::size_t>(labels[static_cast<std::size_t>(i)] * layout.size()));
    }
  });
  parts.complete(ranks);
  for (std::int64_t part = 0; part < kEpisodeParts; ++part)
    add(parts.span().subspan(static_cast<std::size_t>(part) * size, size), result.data());
  return result;
}

std::vector<double> step_sums(const Trajectories& data, std::int64_t begin, std::int64_t end,
                              const FeatureMap& map, const ActionTargets& targets) {
  std::vector<double> sums(
      static_cast<std::size_t>(StatisticsLayout{map.count(), targets.count()}.size()), 0.0);
  StepSums(data, map, targets).add(begin, end, sums.data());
  return sums;
}

void copy_sums_of_first(const StatisticsLayout& all, const double* sums,
                        const StatisticsLayout& few, double* out) {
  std::copy_n(sums, few.cross(), out);
  std::copy_n(sums + all.cross(), few.squares() - few.cross(), out + few.cross());
  std::copy_n(sums + all.squares(), few.size() - few.squares(), out + few.squares());
}

std::vector<std::pair<std::int64_t, std::int64_t>> pieces_of(std::int64_t begin, std::int64_t end) {
  const auto length = end - begin;
  const auto count = std::max<std::int64_t>(1, (length + kPiece / 2) / kPiece);
  std::vector<std::pair<std::int64_t, std::int64_t>> pieces;
  for (std::int64_t p = 0; p < count; ++p)
    pieces.emplace_back(begin + length * p / count, begin + length * (p + 1) / count);
  return pieces;
}

void EpisodeStatistics::pool(double steps) {
  pooled_steps_ = steps;
  pooled_ = cluster_sums(std::vector<std::int32_t>(static_cast<std::size_t>(episodes()), 0), 1);
  for (auto& sum : pooled_) sum *= steps / total_steps_;
}

KeptSums::KeptSums(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
                   const Workers& workers, const std::string& device, Communicator& ranks)
    : EpisodeStatistics({map.count(), targets.count()}, workers) {
  for (std::int64_t i = 0; i < data.episodes(); ++i) {
    for (const auto& [begin, end] : pieces_of(0, data.length(i))) add_piece(end - begin);
    end_episode();
  }
  if (device != "cpu") {
    make_room(std::array{std::int64_t{0}, episodes()}, *one_process());
    std::fill_n(values_.data(), episodes() * layout().size(), 0.0);
    make_device_steps(data, map, targets, device, workers)
        ->sums([&](std::int64_t piece, std::int64_t episode, std::span<const double> sums) {
          add(sums, row(values_, episode).data());
          if (pieces_) std::ranges::copy(sums, row(pieces_, piece).begin());
        });
    return;
  }
  const auto bounds = equal_parts(data.offsets.span(), ranks.size());
  make_room(bounds, ranks);
  // An episode that is one piece has one row; else the sums of the pieces make that of the whole.
  const auto& rows = pieces_ ? pieces_ : values_;
  const auto first = bounds[static_cast<std::size_t>(ranks.rank())];
  const auto count = bounds[static_cast<std::size_t>(ranks.rank()) + 1] - first;
  workers.chunks(count, kEpisodesAtOnce, [&](std::int64_t begin, std::int64_t end) {
    StepSums steps(data, map, targets);
    for (auto i = first + begin; i < first + end; ++i) {
      auto piece = first_piece(i);
      for (const auto& [from, to] : pieces_of(data.offsets[i], data.offsets[i + 1])) {
        steps.add(from, to, row(rows, piece++).data(), /*accumulate=*/false);
      }
      add_pieces(i);  // while they are in the cache
    }
  });
  // Sums of whole episodes are told too: adding up others' pieces again would take longer.
  CommonArray<double>::complete({&values_, &pieces_}, ranks);
}

void KeptSums::add_pieces(std::int64_t episode) {
  if (!pieces_) return;
  const auto whole = row(values_, episode);
  std::ranges::copy(of_piece(first_piece(episode)), whole.begin());
  for (auto p = first_piece(episode) + 1; p < last_piece(episode); ++p)
    add(of_piece(p), whole.data());
}

void KeptSums::make_room(std::span<const std::int64_t> bounds, Communicator& ranks) {
  std::vector<Share> own_episodes, own_pieces;
  for (std::size_t r = 0; r + 1 < bounds.size(); ++r) {
    own_episodes.push_back({bounds[r], bounds[r + 1]});
    own_pieces.push_back({first_piece(bounds[r]), first_piece(bounds[r + 1])});
  }
  const auto row = layout().size();
  if (pieces() == episodes()) {
    values_ = {ranks, std::move(own_episodes), row};
    return;
  }
  // Asked for at once, since asking takes time.
  const auto bytes_of = [&](std::int64_t rows) {
    return whole_large_pages(sizeof(double) * static_cast<std::size_t>(rows * row));
  };
  const auto memory = ranks.common_memory(bytes_of(episodes()) + bytes_of(pieces()));
  const auto from = [&](std::size_t byte) {
    return memory ? std::shared_ptr<std::byte>(memory, memory.get() + byte) : nullptr;
  };
  values_ = {ranks, std::move(own_episodes), row, from(0)};
  pieces_ = {ranks, std::move(own_pieces), row, from(bytes_of(episodes()))};
}

std::unique_ptr<KeptSums> KeptSums::of_first(std::int64_t features) const {
  auto result = std::unique_ptr<KeptSums>(new KeptSums({features, layout().targets}, workers()));
  for (std::int64_t i = 0; i < episodes(); ++i) {
    for (auto p = first_piece(i); p < last_piece(i); ++p)
      result->add_piece(static_cast<std::int64_t>(piece_steps(p)));
    result->end_episode();
  }
  result->make_room(std::array{std::int64_t{0}, episodes()}, *one_process());
  const auto copy = [&](const CommonArray<double>& from, const CommonArray<double>& to,
                        std::int64_t rows) {
    workers().chunks(rows, 64, [&](std::int64_t begin, std::int64_t end) {
      for (auto n = begin; n < end; ++n)
        copy_sums_of_first(layout(), row(from, n).data(), result->layout(),
                           result->row(to, n).data());
    });
  };
  copy(values_, result->values_, episodes());
  if (pieces_) copy(pieces_, result->pieces_, pieces());
  return result;
}

std::unique_ptr<EpisodeStatistics> KeptSums::subset(std::span<const std::int64_t> episodes) const {
  auto result = std::unique_ptr<KeptSums>(new KeptSums(layout(), workers()));
  for (const auto i : episodes) {
    result->add_piece(static_cast<std::int64_t>(of(i).back()));
    result->end_episode();
    result->chosen_.push_back(chosen_.empty() ? i : chosen_[static_cast<std::size_t>(i)]);
  }
  result->values_ = values_;
  result->pool_like(*this);
  return result;
}

std::vector<double> KeptSums::cluster_sums(std::span<const std::int32_t> labels,
                                           std::int64_t k) const {
  std::vector<double> sums(static_cast<std::size_t>(k * layout().size()), 0.0);
  workers().chunks(k, 1, [&](std::int64_t j, std::int64_t) {
    for (std::int64_t i = 0; i < episodes(); ++i)
      if (labels[static_cast<std::size_t>(i)] == j) add(of(i), sums.data() + j * layout().size());
  });
  return sums;
}

std::vector<std::vector<double>> EpisodeStatistics::sums_by(
    std::span<const Labelling> labellings) const {
  std::vector<std::vector<double>> sums;
  for (const auto& [labels, k] : labellings) sums.push_back(cluster_sums(labels, k));
  return sums;
}

/// An episode's sums are fetched from memory once for all labellings.
std::vector<std::vector<double>> KeptSums::sums_by(std::span<const Labelling> labellings) const {
  std::vector<std::vector<double>> sums;
  for (const auto& [labels, k] : labellings)
    sums.emplace_back(static_cast<std::size_t>(k * layout().size()), 0.0);
  for (std::int64_t i = 0; i < episodes(); ++i)
    for (std::size_t n = 0; n < sums.size(); ++n)
      if (const auto label = labellings[n].labels[static_cast<std::size_t>(i)]; label >= 0)
        add(of(i), sums[n].data() + label * layout().size());
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

std::vector<Matrix> EpisodeStatistics::errors_under(std::span<const PiecesOfPolicy> asked) const {
  std::vector<Matrix> errors(asked.size());
  workers().chunks(std::ssize(asked), 1, [&](std::int64_t n, std::int64_t) {
    const auto at = static_cast<std::size_t>(n);
    errors[at] = piece_errors(asked[at].pieces, asked[at].policy);
  });
  return errors;
}

/// A few pieces at a time under all policies, so that sums are fetched from memory once.
std::vector<Matrix> KeptSums::errors_under(std::span<const PiecesOfPolicy> asked) const {
  std::vector<std::uint8_t> wanted(static_cast<std::size_t>(pieces()), 0);
  for (const auto& [some, policy] : asked)
    for (const auto piece : some) wanted[static_cast<std::size_t>(piece)] = 1;
  const auto at_once = std::max<std::int64_t>(1, kNumbersAtOnce / layout().size());
  std::vector<std::int64_t> bounds{0};  // of pieces, so many of which are wanted
  std::int64_t count = 0;
  for (std::int64_t piece = 0; piece < pieces(); ++piece) {
    if (wanted[static_cast<std::size_t>(piece)] && count++ % at_once == 0 && count > 1)
      bounds.push_back(piece);
  }
  bounds.push_back(pieces());

  const auto policies = std::ssize(asked);
  std::vector<Matrix> errors;
  for (const auto& [some, policy] : asked) errors.emplace_back(std::ssize(some), layout().targets);
  const auto parts = (std::ssize(bounds) - 1) * policies;
  workers().chunks(parts, kPoliciesAtOnce, [&](std::int64_t begin, std::int64_t end) {
    ErrorForms forms(layout());  // in memory that stays in the cache
    std::vector<const double*> rows;
    for (auto n = begin; n < end; ++n) {
      const auto block = static_cast<std::size_t>(n / policies);
      const auto at = static_cast<std::size_t>(n % policies);
      const auto& some = asked[at].pieces;
      const auto first = std::ranges::lower_bound(some, bounds[block]);
      const auto last = std::ranges::lower_bound(some, bounds[block + 1]);
      if (first == last) continue;
      throw_if_stopped();
      rows.clear();
      for (auto piece = first; piece != last; ++piece) rows.push_back(of_piece(*piece).data());
      forms.set_targets(asked[at].policy);
      std::ranges::copy(forms.errors(rows).values,
                        errors[at].values.begin() + (first - some.begin()) * layout().targets);
    }
  });
  return errors;
}

}  // namespace kindred
