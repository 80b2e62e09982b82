#include "kindred/latent/dataset_autoencoder.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <numeric>

#include "kindred/cuda/gpu_adam.h"
#include "kindred/cuda/gpu_autoencoder.h"
#include "kindred/latent/batches.h"
#include "kindred/latent/encoder.h"
#include "kindred/latent/model.h"

namespace kindred::latent {
namespace {

constexpr std::int64_t kEvaluatedSteps = 1 << 16;  // at once, on a GPU

std::int64_t trajectories_of(const Trajectories& data, std::int64_t steps) {
  const auto mean_length = std::max<std::int64_t>(1, data.steps() / data.episodes());
  return std::clamp<std::int64_t>(steps / mean_length, 1, 4096);
}

/// Batches are packed on the host, for the fused kernels of a CPU or for LibTorch's operations.
class PackedBatches final : public DatasetAutoencoder {
 public:
  PackedBatches(const Trajectories& data, const NetworkInputs& inputs,
                const AutoencoderArchitecture& architecture, std::int64_t batch,
                const RunContext& run, PartSharing* sharing)
      : source_(data, inputs, architecture.actions),
        run_(run),
        sharing_(sharing),
        pads_(run.device != "cpu") {
    engine_ = pads_ ? make_torch_autoencoder(architecture)
                    : make_cpu_autoencoder(architecture, run, sharing);
    at_once_ = pads_ ? trajectories_of(data, kEvaluatedSteps) : batch;
  }

  void select(std::span<const std::int64_t> episodes) override {
    source_.fill(episodes, pads_ ? std::ssize(episodes) : kPartSize, run_, batch_, sharing_);
    selected_ = batch_.episodes;
  }
  std::int64_t steps() const override { return batch_.steps(); }
  std::int64_t padding() const override { return pads_ ? batch_.padding() : 0; }
  std::int64_t at_once() const override { return at_once_; }

  at::Tensor encode(const at::Tensor& parameters) override {
    return engine_->encode(parameters, batch_.parts);
  }
  at::Tensor log_likelihood(const at::Tensor& parameters, const at::Tensor& features) override {
    return engine_->log_likelihood(parameters, features, batch_.parts);
  }

 private:
  StepSource source_;
  const RunContext& run_;
  PartSharing* sharing_;
  bool pads_;
  std::int64_t at_once_;
  std::unique_ptr<AutoencoderEngine> engine_;
  MiniBatch batch_;
};

using Context = torch::autograd::AutogradContext;
using torch::autograd::variable_list;

cuda::GpuAutoencoder& gpu_of(Context* context) {
  return *reinterpret_cast<cuda::GpuAutoencoder*>(context->saved_data["gpu"].toInt());
}

struct Encode : torch::autograd::Function<Encode> {
  static at::Tensor forward(Context* context, const at::Tensor& parameters, std::int64_t gpu,
                            std::int64_t count, std::int64_t width) {
    context->saved_data["gpu"] = gpu;
    auto features = at::empty({count, width}, parameters.options());
    gpu_of(context).encode(parameters.data_ptr<float>(), features.data_ptr<float>());
    context->save_for_backward({parameters, features});
    return features;
  }
  static variable_list backward(Context* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto d_features = gradients[0].contiguous();
    auto d_parameters = at::zeros_like(saved[0]);
    gpu_of(context).encode_back(saved[0].data_ptr<float>(), saved[1].data_ptr<float>(),
                                d_features.data_ptr<float>(), d_parameters.data_ptr<float>());
    return {d_parameters, {}, {}, {}};
  }
};

struct LogLikelihood : torch::autograd::Function<LogLikelihood> {
  static at::Tensor forward(Context* context, const at::Tensor& parameters,
                            const at::Tensor& features, std::int64_t gpu) {
    context->saved_data["gpu"] = gpu;
    const auto rows = features.contiguous();
    auto sums = at::empty({rows.size(0)}, parameters.options());
    gpu_of(context).log_likelihood(parameters.data_ptr<float>(), rows.data_ptr<float>(),
                                   sums.data_ptr<float>());
    context->save_for_backward({parameters, rows});
    return sums;
  }
  static variable_list backward(Context* context, variable_list gradients) {
    const auto saved = context->get_saved_variables();
    const auto d_sums = gradients[0].contiguous();
    auto d_parameters = at::zeros_like(saved[0]);
    auto d_features = at::zeros_like(saved[1]);
    gpu_of(context).log_likelihood_back(saved[0].data_ptr<float>(), d_sums.data_ptr<float>(),
                                        d_features.data_ptr<float>(),
                                        d_parameters.data_ptr<float>());
    return {d_parameters, d_features, {}};
  }
};

/// All trajectories lie in a GPU's memory, and a minibatch is the numbers of some of them.
class ResidentBatches final : public DatasetAutoencoder {
 public:
  ResidentBatches(const Trajectories& data, const AutoencoderArchitecture& architecture,
                  std::unique_ptr<cuda::GpuAutoencoder> gpu)
      : data_(data), width_(architecture.features()), gpu_(std::move(gpu)) {}

  void select(std::span<const std::int64_t> episodes) override {
    selected_.assign(episodes.begin(), episodes.end());
    steps_ = 0;
    for (const auto episode : episodes) steps_ += data_.length(episode);
    gpu_->select(episodes);
  }
  std::int64_t steps() const override { return steps_; }
  std::int64_t at_once() const override { return trajectories_of(data_, 4 * kEvaluatedSteps); }
  bool is_on_gpu() const override { return true; }
  AdamKernel adam() const override {
    return [kernels = std::shared_ptr<cuda::GpuAdam>(cuda::make_gpu_adam())](
               std::span<const AdamPiece> pieces, const AdamOptions& options) {
      kernels->step(pieces, options);
    };
  }

  at::Tensor encode(const at::Tensor& parameters) override {
    return Encode::apply(parameters, handle(), std::ssize(selected_), width_);
  }
  at::Tensor log_likelihood(const at::Tensor& parameters, const at::Tensor& features) override {
    return LogLikelihood::apply(parameters, features, handle());
  }

  std::optional<LossGradient> gradient(const at::Tensor& parameters,
                                       const CentroidTerms& terms) override {
    if (terms.codes.size(0) > cuda::kMostCodes) return std::nullopt;
    const auto options = parameters.detach().options();
    const LossGradient result{at::empty({}, options),
                              at::empty({std::ssize(selected_), width_}, options),
                              at::empty({parameters.numel() + terms.codes.numel()}, options)};
    gpu_->centroid_gradient(parameters.data_ptr<float>(),
                            {.codes = terms.codes.data_ptr<float>(),
                             .count = terms.codes.size(0),
                             .alpha = terms.alpha,
                             .lambda = terms.lambda,
                             .mean_over_steps = terms.mean_over_steps},
                            result.loss.data_ptr<float>(), result.features.data_ptr<float>(),
                            result.gradient.data_ptr<float>());
    return result;
  }

 private:
  /// As autograd can keep it.
  std::int64_t handle() const { return reinterpret_cast<std::int64_t>(gpu_.get()); }

  const Trajectories& data_;
  std::int64_t width_, steps_ = 0;
  std::unique_ptr<cuda::GpuAutoencoder> gpu_;
};

/// The observations as the network sees them: a table's rows, or every step's.
std::vector<float> seen_observations(const Observations& observations, const NetworkInputs& inputs,
                                     const Workers& workers) {
  const auto rows = observations.is_interned() ? observations.distinct() : observations.steps();
  std::vector<float> seen(static_cast<std::size_t>(rows * inputs.count()));
  if (observations.is_interned()) {
    inputs.apply(observations.table().span(), seen);
    return seen;
  }
  constexpr std::int64_t kRows = 4096;
  workers.chunks(rows, kRows, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int64_t> steps(static_cast<std::size_t>(end - begin));
    std::iota(steps.begin(), steps.end(), begin);
    inputs.gather(observations, steps,
                  std::span(seen).subspan(static_cast<std::size_t>(begin * inputs.count()),
                                          steps.size() * static_cast<std::size_t>(inputs.count())));
  });
  return seen;
}

}  // namespace

std::unique_ptr<DatasetAutoencoder> make_dataset_autoencoder(
    const Trajectories& data, const NetworkInputs& inputs,
    const AutoencoderArchitecture& architecture, std::int64_t batch, const RunContext& run,
    PartSharing* sharing) {
  if (run.device == "cuda") {
    const auto observations = seen_observations(data.observations, inputs, run);
    cuda::GpuTrajectories seen;
    seen.offsets = data.offsets.span();
    seen.observations = observations;
    if (data.observations.is_interned())
      seen.observation_of_step = data.observations.index().span();
    if (data.actions.is_discrete())
      seen.discrete_actions = data.actions.ints().span();
    else
      seen.continuous_actions = data.actions.floats().span();
    if (auto gpu = cuda::make_gpu_autoencoder(architecture, seen))
      return std::make_unique<ResidentBatches>(data, architecture, std::move(gpu));
  }
  return std::make_unique<PackedBatches>(data, inputs, architecture, batch, run, sharing);
}

}  // namespace kindred::latent
