#include "kindred/latent/encoder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>

#include "kindred/clustering/over_ranks.h"
#include "kindred/core/error.h"
#include "kindred/latent/batches.h"
#include "kindred/latent/centres.h"
#include "kindred/nn/torch_threads.h"

namespace kindred::latent {

Matrix to_matrix(const at::Tensor& tensor) {
  const auto values = tensor.detach().to(at::kCPU, at::kDouble).contiguous();
  Matrix matrix(values.size(0), values.size(1));
  std::copy_n(values.data_ptr<double>(), values.numel(), matrix.values.begin());
  return matrix;
}

at::Tensor to_tensor(const Matrix& matrix, const at::Tensor& like) {
  return at::from_blob(const_cast<double*>(matrix.values.data()), {matrix.rows, matrix.columns},
                       at::kDouble)
      .to(like.device(), like.scalar_type(), /*non_blocking=*/false, /*copy=*/true);
}

void write_tensor(ArrayFileWriter& file, const std::string& name, const at::Tensor& tensor) {
  const auto values = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  file.write<float>(name, {values.data_ptr<float>(), static_cast<std::size_t>(values.numel())},
                    values.sizes().vec());
}

namespace {

at::Tensor tensor_of(const Array<float>& array) {
  auto tensor = at::empty(array.shape);
  std::memcpy(tensor.data_ptr<float>(), array.values.data(), array.values.size() * sizeof(float));
  return tensor;
}

/// What the widths of an autoencoder can be; beyond it a product of two would not fit a number.
constexpr std::int64_t kLargestWidth = 1 << 20;

AutoencoderArchitecture load_architecture(const ArrayFileReader& file, std::int64_t inputs) {
  const std::string name = "encoder/architecture";
  const auto a = file.read<std::int64_t>(name, {10}).values;
  const AutoencoderArchitecture result{a[0], a[1] != 0, a[2], a[3], a[4],
                                       a[5], a[6],      a[7], a[8], a[9]};
  for (std::size_t i = 0; i < a.size(); ++i)
    if (i != 1 && (a[i] < 1 || a[i] > kLargestWidth))
      file.refuse(name, fmt::format("holds a width of {}, expected 1 to {}", a[i], kLargestWidth));
  for (const auto width :
       {result.hidden, result.memory, result.decoder1, result.decoder2, result.decoder3})
    if (width % 16 != 0)
      file.refuse(name, fmt::format("holds a width of {}, expected a multiple of 16", width));
  if (result.features() % 8 != 0)
    file.refuse(name, fmt::format("has {} features, expected a multiple of 8", result.features()));
  if (result.inputs != inputs)
    file.refuse(name, fmt::format("has {} inputs, but {} columns reach it", result.inputs, inputs));
  return result;
}

}  // namespace

at::Tensor read_tensor(const ArrayFileReader& file, const std::string& name,
                       const std::vector<std::int64_t>& shape) {
  return tensor_of(file.read<float>(name, shape));
}

Matrix Encoder::encode(const Trajectories& data, const Workers& workers) const {
  const c10::NoGradGuard no_grad;
  const TorchOnOneThread one_thread;
  const StepSource source(data, inputs, architecture.actions);
  const auto engine = make_cpu_autoencoder(architecture, workers);
  // Sorted by length, so that the sequences of a part end together.
  std::vector<std::int64_t> order(static_cast<std::size_t>(data.episodes()));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::int64_t i) { return data.length(i); });
  Matrix latents(data.episodes(), architecture.features());
  const auto block = static_cast<std::size_t>(kPartSize * std::max(4, workers.pool->threads()));
  MiniBatch batch;
  for (std::size_t begin = 0; begin < order.size(); begin += block) {
    const auto count = std::min(block, order.size() - begin);
    source.fill(std::span(order).subspan(begin, count), kPartSize, workers, batch);
    auto z = engine->encode(parameters, batch.parts);
    // Row by row: a product of many rows can round each otherwise, by how many there are.
    for (std::int64_t i = 0; weight.defined() && i < z.size(0); ++i) {
      auto row = z.narrow(0, i, 1);
      row.copy_(at::matmul(row, weight) + bias);
    }
    const auto rows = to_matrix(z);
    for (std::size_t i = 0; i < batch.episodes.size(); ++i)
      std::ranges::copy(rows.row(static_cast<std::int64_t>(i)), &latents(batch.episodes[i], 0));
  }
  return latents;
}

Matrix encode_in_shares(const Encoder& encoder, const Trajectories& data, const RunContext& run) {
  return score_in_shares(
      data, encoder.architecture.features(), run,
      [&](const Trajectories& part, const EpisodeRange&) { return encoder.encode(part, run); });
}

void Encoder::save(ArrayFileWriter& file) const {
  inputs.save(file);
  const auto& a = architecture;
  file.write<std::int64_t>(
      "encoder/architecture",
      std::vector<std::int64_t>{a.inputs, a.discrete, a.actions, a.hidden, a.memory, a.heads,
                                a.head_size, a.decoder1, a.decoder2, a.decoder3});
  write_tensor(file, "encoder/parameters", parameters);
  if (!weight.defined()) return;
  write_tensor(file, "encoder/weight", weight);
  write_tensor(file, "encoder/bias", bias);
}

Encoder Encoder::load(const ArrayFileReader& file) {
  Encoder encoder;
  encoder.inputs = NetworkInputs::load(file);
  encoder.architecture = load_architecture(file, encoder.inputs.count());
  const auto size = AutoencoderLayout(encoder.architecture).size;
  encoder.parameters = tensor_of(file.read_finite<float>("encoder/parameters", {size}));
  if (file.contains("encoder/weight")) {
    const auto features = encoder.architecture.features();
    encoder.weight = tensor_of(file.read_finite<float>("encoder/weight", {features, features}));
    encoder.bias = tensor_of(file.read_finite<float>("encoder/bias", {1, features}));
  }
  return encoder;
}

LatentCentres::LatentCentres(Encoder encoder, Matrix codes,
                             std::vector<std::int32_t> cluster_of_code)
    : encoder_(std::move(encoder)),
      codes_(std::move(codes)),
      cluster_of_code_(std::move(cluster_of_code)),
      count_(1 + *std::ranges::max_element(cluster_of_code_)) {}

Matrix LatentCentres::score(const Trajectories& data, const RunContext& run) const {
  const auto& a = encoder_.architecture;
  require_same_dimensions(data, encoder_.inputs.obs_dim, a.discrete, a.actions);
  return score_latents(encoder_.encode(data, run));
}

Matrix LatentCentres::score_latents(const Matrix& latents) const {
  Matrix scores(latents.rows, count_, -std::numeric_limits<double>::infinity());
  for (std::int64_t i = 0; i < latents.rows; ++i)
    for (std::int64_t c = 0; c < codes_.rows; ++c) {
      double distance = 0.0;
      for (std::int64_t j = 0; j < codes_.columns; ++j) {
        const double d = latents(i, j) - codes_(c, j);
        distance += d * d;
      }
      auto& best = scores(i, cluster_of_code_[static_cast<std::size_t>(c)]);
      best = std::max(best, -distance);
    }
  return scores;
}

void LatentCentres::save(ArrayFileWriter& file) const {
  encoder_.save(file);
  file.write<double>("codes", codes_.values, {codes_.rows, codes_.columns});
  file.write<std::int32_t>("cluster_of_code", cluster_of_code_);
}

namespace {

std::shared_ptr<const Centres> load_by_torch(const ArrayFileReader& file) {
  auto encoder = Encoder::load(file);
  auto stored = file.read_finite<double>("codes", {kAnyExtent, encoder.architecture.features()});
  Matrix codes(stored.shape[0], stored.shape[1]);
  codes.values = std::move(stored.values);
  auto clusters = file.read<std::int32_t>("cluster_of_code", {codes.rows}).values;
  const std::set<std::int32_t> used(clusters.begin(), clusters.end());
  if (*used.begin() != 0 || *used.rbegin() != static_cast<std::int64_t>(used.size()) - 1)
    file.refuse("cluster_of_code", fmt::format("names clusters {} to {}, expected 0 to {}",
                                               *used.begin(), *used.rbegin(), used.size() - 1));
  return std::make_shared<LatentCentres>(std::move(encoder), std::move(codes), std::move(clusters));
}
const LateFunctionIs is_load_centres(load_centres, &load_by_torch);

}  // namespace
}  // namespace kindred::latent
