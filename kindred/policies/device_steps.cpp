#include "kindred/policies/device_steps.h"

#include <torch/types.h>

#include <algorithm>
#include <numbers>
#include <vector>

#include "kindred/policies/episode_statistics.h"

namespace kindred {
namespace {

constexpr std::int64_t kNumbersInBlock = std::int64_t{1} << 27;  // of features: a GiB on the device

/// [rows, columns] of float64, in this machine's memory.
torch::Tensor fetch(const torch::Tensor& rows) { return rows.to(torch::kCPU).contiguous(); }

std::span<const double> row_of(const torch::Tensor& rows, std::int64_t r) {
  const auto columns = rows.size(1);
  return {rows.data_ptr<double>() + r * columns, static_cast<std::size_t>(columns)};
}

/// FeatureMap::apply of any number of rows on any device, as float64; equal but for rounding.
torch::Tensor features_of(const FeatureMap& map, const torch::Tensor& rows) {
  const auto on_device = [&](const auto& values, torch::IntArrayRef shape, torch::Dtype type) {
    return torch::tensor(values, type).reshape(shape).to(rows.device());
  };
  const auto& inputs = map.inputs();
  const auto count = inputs.count();
  const auto columns = on_device(inputs.columns, {count}, torch::kInt64);
  const auto mean = on_device(inputs.mean, {count}, torch::kFloat32);
  const auto scale = on_device(inputs.scale, {count}, torch::kFloat32);
  const auto numbers = ((rows.index_select(-1, columns) - mean) * scale)
                           .to(torch::kFloat64)
                           .clamp(-FeatureMap::kFarthest, FeatureMap::kFarthest);
  const auto directions = on_device(map.directions(), {count, map.cosines()}, torch::kFloat64);
  const auto phases = on_device(map.phases(), {map.cosines()}, torch::kFloat64);
  return torch::cat({torch::ones_like(rows.narrow(-1, 0, 1), torch::kFloat64), numbers,
                     std::numbers::sqrt2 * torch::cos(torch::matmul(numbers, directions) + phases)},
                    -1);
}

class TorchSteps final : public DeviceSteps {
 public:
  TorchSteps(const Trajectories& data, const FeatureMap& map, const ActionTargets& targets,
             const std::string& device, const Workers& workers);

  void sums(const UseSums& use) const override;
  Matrix errors(std::span<const double> weights) const override;

 private:
  /// Features [pieces, steps, features] and actions [pieces, steps, targets]; nothing but zeros
  /// after a piece's last step.
  struct Block {
    std::int64_t first;
    torch::Tensor features, actions;
  };
  void blocks(const std::function<void(const Block&)>& use) const;

  const Trajectories& data_;
  const FeatureMap& map_;
  const ActionTargets& targets_;
  torch::Device device_;
  Workers workers_;
  struct Piece {
    std::int64_t begin, end, episode;
  };
  std::vector<Piece> pieces_;
};

TorchSteps::TorchSteps(const Trajectories& data, const FeatureMap& map,
                       const ActionTargets& targets, const std::string& device,
                       const Workers& workers)
    : data_(data), map_(map), targets_(targets), device_(device), workers_(workers) {
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    for (const auto& [begin, end] : pieces_of(data.offsets[i], data.offsets[i + 1]))
      pieces_.push_back({begin, end, i});
}

void TorchSteps::blocks(const std::function<void(const Block&)>& use) const {
  std::int64_t longest = 1;
  for (const auto& piece : pieces_) longest = std::max(longest, piece.end - piece.begin);
  const auto width = map_.count() + targets_.count();
  const auto at_once = std::max<std::int64_t>(1, kNumbersInBlock / (longest * width));
  const auto count = std::ssize(pieces_);
  for (std::int64_t first = 0; first < count; first += at_once) {
    const auto n = std::min(at_once, count - first);
    auto rows = torch::zeros({n, longest, map_.obs_dim()}, torch::kFloat32);
    auto actions = torch::zeros({n, longest, targets_.count()}, torch::kFloat64);
    auto lengths = torch::zeros({n, 1}, torch::kInt64);
    auto* const row = rows.data_ptr<float>();
    auto* const action = actions.data_ptr<double>();
    auto* const length = lengths.data_ptr<std::int64_t>();
    workers_.chunks(n, 16, [&](std::int64_t from, std::int64_t to) {
      for (auto p = from; p < to; ++p) {
        const auto [begin, end, episode] = pieces_[static_cast<std::size_t>(first + p)];
        length[p] = end - begin;
        data_.observations.copy(begin, end, row + p * longest * map_.obs_dim());
        targets_.copy(data_.actions, begin, end,
                      {action + p * longest * targets_.count(),
                       static_cast<std::size_t>((end - begin) * targets_.count())});
      }
    });
    const auto within =
        torch::arange(longest, torch::TensorOptions(device_).dtype(torch::kInt64)).unsqueeze(0) <
        lengths.to(device_);
    use({first, features_of(map_, rows.to(device_)) * within.unsqueeze(2), actions.to(device_)});
  }
}

void TorchSteps::sums(const UseSums& use) const {
  const auto features = map_.count();
  const auto triangle = torch::tril_indices(features, features, 0,
                                            torch::TensorOptions(device_).dtype(torch::kInt64));
  const auto place = triangle[0] * features + triangle[1];
  blocks([&](const Block& block) {
    const auto transposed = block.features.transpose(1, 2);
    const auto n = block.features.size(0);
    // The first feature is 1 at every step, so that its square counts them.
    const auto gram = torch::bmm(transposed, block.features).reshape({n, -1});
    const auto rows = fetch(torch::cat(
        {gram.index_select(1, place), torch::bmm(transposed, block.actions).reshape({n, -1}),
         block.actions.square().sum(1), gram.narrow(1, 0, 1)},
        1));
    for (std::int64_t p = 0; p < n; ++p) {
      const auto piece = block.first + p;
      use(piece, pieces_[static_cast<std::size_t>(piece)].episode, row_of(rows, p));
    }
  });
}

Matrix TorchSteps::errors(std::span<const double> weights) const {
  const auto columns = std::ssize(weights) / map_.count();
  const auto policies = torch::from_blob(const_cast<double*>(weights.data()),
                                         {map_.count(), columns}, torch::kFloat64)
                            .to(device_);
  Matrix result(std::ssize(pieces_), columns);
  blocks([&](const Block& block) {
    const auto missed = torch::matmul(block.features, policies) -
                        block.actions.repeat({1, 1, columns / targets_.count()});
    const auto rows = fetch(missed.square().sum(1));
    for (std::int64_t p = 0; p < rows.size(0); ++p)
      std::ranges::copy(row_of(rows, p), result.values.begin() + (block.first + p) * columns);
  });
  return result;
}

std::unique_ptr<DeviceSteps> torch_steps(const Trajectories& data, const FeatureMap& map,
                                         const ActionTargets& targets, const std::string& device,
                                         const Workers& workers) {
  return std::make_unique<TorchSteps>(data, map, targets, device, workers);
}
const LateFunctionIs is_device_steps(make_device_steps, &torch_steps);

}  // namespace
}  // namespace kindred
