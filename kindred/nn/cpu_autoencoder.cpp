#include "kindred/nn/cpu_autoencoder.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <deque>
#include <stdexcept>

#include "kindred/core/error.h"
#include "kindred/nn/elementwise.h"

namespace kindred {

AutoencoderWeights::AutoencoderWeights(const AutoencoderArchitecture& architecture)
    : architecture_(architecture),
      layout_(architecture),
      transposed_(static_cast<std::size_t>(layout_.size)) {
  const auto& a = architecture_;
  const auto& at = layout_;
  for (const auto width :
       {a.hidden, a.memory, a.decoder1, a.decoder2, a.decoder3, 2 * a.features()})
    if (width % kLane != 0)
      throw InvalidArgument("a layer is {} wide; widths must be multiples of {}", width, kLane);
  const auto layer = [](const ParameterBlock& weight, std::int64_t bias = Linear::kNoBias) {
    return Linear{weight.rows, weight.columns, weight.offset, bias};
  };
  layers_ = {.step1 = layer(at.step1, at.step1_bias.offset),
             .step2 = layer(at.step2, at.step2_bias.offset),
             .gru_input = layer(at.gru_input, at.gru_input_bias.offset),
             .gru_recurrent = layer(at.gru_recurrent, at.gru_recurrent_bias.offset),
             .prefix = layer(at.prefix, at.prefix_bias.offset),
             .keys_values = layer(at.keys_values),
             .from_features = layer(at.from_features),
             .from_observation = layer(at.from_observation, at.decoder1_bias.offset),
             .decoder2 = layer(at.decoder2, at.decoder2_bias.offset),
             .decoder3 = layer(at.decoder3, at.decoder3_bias.offset)};
  const auto width = padded(a.actions);
  head_ = {a.decoder3, width, 0, a.decoder3 * width, width - a.actions};
  heads_.push_back({&layout_.mean, &layout_.mean_bias, {}, {}});
  if (!a.discrete) heads_.push_back({&layout_.deviation, &layout_.deviation_bias, {}, {}});
  for (auto& head : heads_) {
    head.parameters.resize(static_cast<std::size_t>((a.decoder3 + 1) * width));
    head.transposed.resize(head.parameters.size());
  }
}

void AutoencoderWeights::refresh(const float* parameters) {
  parameters_ = parameters;
  const auto& l = layers_;
  for (const auto* layer : {&l.step2, &l.gru_input, &l.gru_recurrent, &l.prefix, &l.keys_values,
                            &l.decoder2, &l.decoder3})
    layer->transpose_weight(parameters, transposed_.data());
  const auto actions = architecture_.actions;
  for (auto& head : heads_) {
    for (std::int64_t i = 0; i < head_.inputs; ++i)
      std::copy_n(parameters + head.weight->offset + i * actions, actions,
                  head.parameters.data() + i * head_.outputs);
    std::copy_n(parameters + head.bias->offset, actions, head.parameters.data() + head_.bias);
    head_.transpose_weight(head.parameters.data(), head.transposed.data());
  }
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Everything the fused kernels keep between forward and backward.
class CpuAutoencoder final : public AutoencoderEngine {
 public:
  CpuAutoencoder(const AutoencoderArchitecture& architecture, const Workers& workers,
                 PartSharing* sharing)
      : weights_(architecture), workers_(workers), sharing_(sharing) {}

  at::Tensor encode(const at::Tensor& parameters, std::span<const SequenceBatch> parts) override;
  at::Tensor log_likelihood(const at::Tensor& parameters, const at::Tensor& features,
                            std::span<const SequenceBatch> parts) override;

  at::Tensor encode_forward(const at::Tensor& parameters) {
    weights_.refresh(parameters.data_ptr<float>());
    auto features = at::empty({begins_.back(), width()});
    each_part([&](std::size_t p, Workspace& work) {
      work.encoder.forward(weights_, parts_[p], row(features, p));
    });
    share(features, width());
    return features;
  }

  at::Tensor encode_backward(const at::Tensor& parameters, const at::Tensor& features,
                             const at::Tensor& d_features) {
    weights_.refresh(parameters.data_ptr<float>());
    const auto given = d_features.contiguous();
    const auto encode = [&](std::size_t p, Workspace& work) {
      work.encoder.backward(weights_, parts_[p], row(features, p), row(given, p),
                            work.gradient.data());
    };
    return sum_of_gradients(encode, 0, weights_.layout().encoder_size);
  }

  at::Tensor decode_forward(const at::Tensor& parameters, const at::Tensor& features) {
    weights_.refresh(parameters.data_ptr<float>());
    auto result = at::empty({begins_.back()});
    each_part([&](std::size_t p, Workspace& work) {
      work.decoder.forward(weights_, parts_[p], row(features, p),
                           result.data_ptr<float>() + begins_[p]);
    });
    share(result, 1);
    return result;
  }

  /// Gradients of the parameters and of the features.
  std::pair<at::Tensor, at::Tensor> decode_backward(const at::Tensor& parameters,
                                                    const at::Tensor& features,
                                                    const at::Tensor& d_result) {
    weights_.refresh(parameters.data_ptr<float>());
    const auto given = d_result.contiguous();
    auto d_features = at::empty({begins_.back(), width()});
    const auto decode = [&](std::size_t p, Workspace& work) {
      work.decoder.backward(weights_, parts_[p], row(features, p),
                            given.data_ptr<float>() + begins_[p], row(d_features, p),
                            work.gradient.data());
    };
    const auto& layout = weights_.layout();
    auto gradient = sum_of_gradients(decode, layout.encoder_size, layout.size);
    share(d_features, width());
    return {gradient, d_features};
  }

  std::int64_t encoder_runs = 0;
  std::int64_t decoder_runs = 0;

 private:
  struct Workspace {
    CpuEncoder encoder;
    CpuDecoder decoder;
    std::vector<float> gradient;
  };

  std::int64_t width() const { return weights_.architecture().features(); }
  float* row(const at::Tensor& features, std::size_t part) const {
    return features.data_ptr<float>() + begins_[part] * width();
  }

  void take(std::span<const SequenceBatch> parts) {
    parts_ = parts;
    begins_.assign(1, 0);
    for (const auto& part : parts) begins_.push_back(begins_.back() + part.sequences());
    while (workspaces_.size() < parts.size()) workspaces_.emplace_back();
    own_.clear();
    for (std::size_t p = 0; p < parts.size(); ++p)
      if (!sharing_ ||
          sharing_->is_own(static_cast<std::int64_t>(p), static_cast<std::int64_t>(parts.size())))
        own_.push_back(p);
  }

  template <class Work>
  void each_part(const Work& work) {
    workers_.chunks(static_cast<std::int64_t>(own_.size()), 1,
                    [&](std::int64_t begin, std::int64_t) {
                      const auto p = own_[static_cast<std::size_t>(begin)];
                      work(p, workspaces_[p]);
                    });
  }

  /// To everybody who has a part of the batch: the rows of all sequences.
  void share(const at::Tensor& rows, std::int64_t width) {
    if (sharing_)
      sharing_->exchange({rows.data_ptr<float>(), static_cast<std::size_t>(rows.numel())}, width,
                         begins_);
  }

  /// Each part fills its own gradient, of parameters [begin, end); they are added in the order of
  /// the parts, so the result depends on neither threads nor processes.
  template <class Work>
  at::Tensor sum_of_gradients(const Work& work, std::int64_t begin, std::int64_t end) {
    each_part([&](std::size_t p, Workspace& workspace) {
      workspace.gradient.assign(static_cast<std::size_t>(weights_.layout().size), 0.0F);
      work(p, workspace);
    });
    auto result = at::zeros({weights_.layout().size});
    const std::span sum(result.data_ptr<float>() + begin, static_cast<std::size_t>(end - begin));
    const auto add_own = [&] {
      for (const auto p : own_)
        add(end - begin, workspaces_[p].gradient.data() + begin, sum.data());
    };
    if (sharing_)
      sharing_->add_in_turn(sum, static_cast<std::int64_t>(parts_.size()), add_own);
    else
      add_own();
    return result;
  }

  AutoencoderWeights weights_;
  Workers workers_;
  PartSharing* sharing_;
  std::span<const SequenceBatch> parts_;
  std::vector<std::size_t> own_;      // the parts that are computed here
  std::vector<std::int64_t> begins_;  // first sequence of each part
  std::deque<Workspace> workspaces_;
};

// On the way back the kernels read the parameters again: each function keeps those it was given.

/// The kernels keep one run's intermediate values; another forward run overwrites them.
void require_latest(std::int64_t run, std::int64_t latest) {
  if (run != latest)
    throw std::logic_error("the autoencoder ran again before its gradients were taken");
}

struct Encode : torch::autograd::Function<Encode> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& parameters,
                            CpuAutoencoder* engine) {
    auto features = engine->encode_forward(parameters);
    context->saved_data["engine"] = reinterpret_cast<std::int64_t>(engine);
    context->saved_data["run"] = ++engine->encoder_runs;
    context->save_for_backward({parameters, features});
    return features;
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto* engine = reinterpret_cast<CpuAutoencoder*>(context->saved_data["engine"].toInt());
    require_latest(context->saved_data["run"].toInt(), engine->encoder_runs);
    const auto saved = context->get_saved_variables();
    return {engine->encode_backward(saved[0], saved[1], gradients[0]), at::Tensor()};
  }
};

struct Decode : torch::autograd::Function<Decode> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& parameters,
                            const at::Tensor& features, CpuAutoencoder* engine) {
    const auto dense = features.contiguous();
    context->saved_data["engine"] = reinterpret_cast<std::int64_t>(engine);
    context->saved_data["run"] = ++engine->decoder_runs;
    context->save_for_backward({parameters, dense});
    return engine->decode_forward(parameters, dense);
  }
  static variable_list backward(AutogradContext* context, variable_list gradients) {
    auto* engine = reinterpret_cast<CpuAutoencoder*>(context->saved_data["engine"].toInt());
    require_latest(context->saved_data["run"].toInt(), engine->decoder_runs);
    const auto saved = context->get_saved_variables();
    auto [d_parameters, d_features] = engine->decode_backward(saved[0], saved[1], gradients[0]);
    return {d_parameters, d_features, at::Tensor()};
  }
};

at::Tensor CpuAutoencoder::encode(const at::Tensor& parameters,
                                  std::span<const SequenceBatch> parts) {
  take(parts);
  return Encode::apply(parameters, this);
}

at::Tensor CpuAutoencoder::log_likelihood(const at::Tensor& parameters, const at::Tensor& features,
                                          std::span<const SequenceBatch> parts) {
  take(parts);
  return Decode::apply(parameters, features, this);
}

}  // namespace

std::unique_ptr<AutoencoderEngine> make_cpu_autoencoder(const AutoencoderArchitecture& architecture,
                                                        const Workers& workers,
                                                        PartSharing* sharing) {
  return std::make_unique<CpuAutoencoder>(architecture, workers, sharing);
}

}  // namespace kindred
