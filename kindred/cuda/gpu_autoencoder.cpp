#include "kindred/cuda/gpu_autoencoder.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "kindred/cuda/cuda_internal.h"
#include "kindred/cuda/products.h"
#include "kindred/cuda/sequence_kernels.h"
#include "kindred/cuda/training_kernels.h"

namespace kindred::cuda {
namespace {

constexpr std::int64_t kMostChunks = 32;  // of the rows, when gradients of weights are added up
constexpr std::int64_t kChunkRows = 64;   // at least

int narrow(std::int64_t number) { return static_cast<int>(number); }

/// What of a minibatch lies in the GPU's memory, by row.
struct RowBuffers {
  float *pairs, *seen;  // what encoder and decoder see
  float *layer1, *layer2, *gates, *from_past, *states, *previous, *prefixes, *keys_values, *weights;
  float *decoder1, *decoder2, *decoder3, *heads;
  float *d_heads, *d_decoder3, *d_decoder2, *d_decoder1;
  float *d_scores, *d_keys_values, *d_prefixes, *d_states, *d_gates, *d_from_past;
  float *d_layer2, *d_layer1;

  struct Width {
    float* RowBuffers::*buffer;
    std::int64_t numbers;
  };
  static std::vector<Width> widths(const AutoencoderArchitecture& a) {
    using B = RowBuffers;
    const auto heads = (a.discrete ? 1 : 2) * in_fours(a.actions);
    return {{&B::pairs, in_fours(a.inputs + a.actions)},
            {&B::seen, in_fours(a.features() + a.inputs)},
            {&B::layer1, a.hidden},
            {&B::layer2, a.hidden},
            {&B::gates, 3 * a.memory},
            {&B::from_past, a.memory},
            {&B::states, a.memory},
            {&B::previous, a.memory},
            {&B::prefixes, a.hidden},
            {&B::keys_values, 2 * a.features()},
            {&B::weights, a.heads},
            {&B::decoder1, a.decoder1},
            {&B::decoder2, a.decoder2},
            {&B::decoder3, a.decoder3},
            {&B::heads, heads},
            {&B::d_heads, heads},
            {&B::d_decoder3, a.decoder3},
            {&B::d_decoder2, a.decoder2},
            {&B::d_decoder1, a.decoder1},
            {&B::d_scores, a.heads},
            {&B::d_keys_values, 2 * a.features()},
            {&B::d_prefixes, a.hidden},
            {&B::d_states, a.memory},
            {&B::d_gates, 3 * a.memory},
            {&B::d_from_past, a.memory},
            {&B::d_layer2, a.hidden},
            {&B::d_layer1, a.hidden}};
  }
};

template <class T>
void take(std::span<const T> from, DeviceArray<T>& to) {
  if (!from.empty()) to.take(from.data(), from.size());
}

class AutoencoderKernels final : public GpuAutoencoder {
 public:
  AutoencoderKernels(const AutoencoderArchitecture& architecture, const GpuTrajectories& data)
      : a_(architecture),
        layout_(architecture),
        offsets_on_host_(data.offsets.begin(), data.offsets.end()),
        head_stride_((architecture.discrete ? 1 : 2) * in_fours(architecture.actions)),
        widths_(RowBuffers::widths(architecture)) {
    take(data.offsets, offsets_);
    take(data.observations, observations_);
    take(data.observation_of_step, observation_of_step_);
    take(data.discrete_actions, discrete_actions_);
    take(data.continuous_actions, continuous_actions_);
    gradient_parts_.grow(static_cast<std::size_t>(kMostChunks * layout_.size));
  }

  void select(std::span<const std::int64_t> episodes) override {
    const auto count = episodes.size();
    std::vector<std::int32_t> numbers;  // the episodes, then where each begins
    numbers.reserve(2 * count + 1);
    for (const auto episode : episodes) numbers.push_back(static_cast<std::int32_t>(episode));
    rows_ = 0;
    std::int64_t longest = 0;
    numbers.push_back(0);
    for (const auto episode : episodes) {
      const auto i = static_cast<std::size_t>(episode);
      const auto length = offsets_on_host_[i + 1] - offsets_on_host_[i];
      longest = std::max(longest, length);
      rows_ += length;
      numbers.push_back(static_cast<std::int32_t>(rows_));
    }
    make_room(static_cast<std::int64_t>(count));
    // From memory of this kind a copy leaves at once; nothing waits for the GPU.
    check(cudaMemcpyAsync(selection_.get(), numbers.data(), numbers.size() * sizeof(std::int32_t),
                          cudaMemcpyHostToDevice));
    sequences_ = {selection_.get() + count, static_cast<int>(count)};
    gathering_ = {.sequences = sequences_,
                  .episodes = selection_.get(),
                  .longest = narrow(longest),
                  .action = actions_of_rows_.get(),
                  .pairs = b_.pairs,
                  .pair_stride = narrow(in_fours(a_.inputs + a_.actions)),
                  .seen = b_.seen,
                  .seen_stride = narrow(in_fours(a_.features() + a_.inputs)),
                  .features = narrow(a_.features())};
    gather({.offsets = offsets_.get(),
            .observations = observations_.get(),
            .observation_of_step = observation_of_step_.get(),
            .discrete_actions = discrete_actions_.get(),
            .continuous_actions = continuous_actions_.get(),
            .inputs = narrow(a_.inputs),
            .actions = narrow(a_.actions)},
           gathering_);
  }

  void encode(const float* p, float* features) override {
    layer(pairs(), p, layout_.step1, &layout_.step1_bias, b_.layer1, /*rectify=*/true);
    layer({b_.layer1, a_.hidden}, p, layout_.step2, &layout_.step2_bias, b_.layer2,
          /*rectify=*/true);
    layer({b_.layer2, a_.hidden}, p, layout_.gru_input, &layout_.gru_input_bias, b_.gates);
    run(narrow(a_.memory), recurrence(p));
    layer({b_.states, a_.memory}, p, layout_.prefix, &layout_.prefix_bias, b_.prefixes,
          /*rectify=*/true);
    layer({b_.prefixes, a_.hidden}, p, layout_.keys_values, nullptr, b_.keys_values);
    attend(attention(p, features));
  }

  void encode_back(const float* p, const float* features, const float* d_features,
                   float* d_parameters) override {
    attend_back({.forward = attention(p, const_cast<float*>(features)),
                 .d_features = d_features,
                 .d_scores = b_.d_scores,
                 .d_keys_values = b_.d_keys_values,
                 .d_queries = query_parts_.get()});
    const auto hidden = a_.hidden, memory = a_.memory;
    const Columns d_keys_values(b_.d_keys_values, 2 * a_.features()),
        d_prefixes(b_.d_prefixes, hidden);
    const Columns d_gates(b_.d_gates, 3 * memory), d_layer2(b_.d_layer2, hidden);
    const Columns previous(b_.previous, memory);
    back(d_keys_values, p, layout_.keys_values, b_.d_prefixes, b_.prefixes);
    side_.fork();  // the recurrence leaves most of the GPU to others
    find_gradients({gradient({b_.prefixes, hidden}, d_keys_values, layout_.keys_values, false),
                    gradient({b_.states, memory}, d_prefixes, layout_.prefix)},
                   side_.get());
    back(d_prefixes, p, layout_.prefix, b_.d_states, nullptr);
    run_back(narrow(memory), {.forward = recurrence(p),
                              .d_states = b_.d_states,
                              .d_gates = b_.d_gates,
                              .d_from_past = b_.d_from_past});
    back(d_gates, p, layout_.gru_input, b_.d_layer2, b_.layer2);
    back(d_layer2, p, layout_.step2, b_.d_layer1, b_.layer1);
    // Through the recurrent weights the candidate sees the past times the reset gate.
    const Columns d_two_gates(b_.d_gates, 2 * memory, 3 * memory);
    auto of_candidate = gradient(previous, {b_.d_from_past, memory}, layout_.gru_recurrent);
    of_candidate.out += 2 * memory;
    find_gradients({gradient(previous, d_two_gates, layout_.gru_recurrent), of_candidate,
                    gradient({b_.layer2, hidden}, d_gates, layout_.gru_input),
                    gradient({b_.layer1, hidden}, d_layer2, layout_.step2),
                    gradient(pairs(), {b_.d_layer1, hidden}, layout_.step1)},
                   nullptr);
    side_.join();
    add_up(0, layout_.queries.offset, d_parameters);
    add_parts(query_parts_.get(), sequences_.count, a_.features(), a_.features(),
              d_parameters + layout_.queries.offset);
  }

  void log_likelihood(const float* p, const float* features, float* sums) override {
    spread(gathering_, features);
    layer(seen(), p, layout_.from_features, &layout_.decoder1_bias, b_.decoder1, /*rectify=*/true);
    layer({b_.decoder1, a_.decoder1}, p, layout_.decoder2, &layout_.decoder2_bias, b_.decoder2,
          /*rectify=*/true);
    layer({b_.decoder2, a_.decoder2}, p, layout_.decoder3, &layout_.decoder3_bias, b_.decoder3,
          /*rectify=*/true);
    for (const auto& head : heads())
      apply({.inputs = {b_.decoder3, a_.decoder3},
             .count = rows_,
             .weight = p + head.weight->offset,
             .bias = p + head.bias->offset,
             .outputs = narrow(a_.actions),
             .out = b_.heads + head.column,
             .stride = narrow(head_stride_)});
    auto task = likelihood();
    task.sums = sums;
    find_likelihood(task);
  }

  void log_likelihood_back(const float* p, const float* d_sums, float* d_features,
                           float* d_parameters) override {
    decode_back(p, d_sums, d_features);
    side_.join();
    add_up(layout_.encoder_size, layout_.size, d_parameters);
  }

  void centroid_gradient(const float* p, const CentroidLoss& terms, float* loss, float* features,
                         float* gradient) override {
    encode(p, features);
    log_likelihood(p, features, sums_.get());
    find_centroid_terms({.sequences = sequences_,
                         .features = narrow(a_.features()),
                         .centroids = narrow(terms.count),
                         .latents = features,
                         .codes = terms.codes,
                         .sums = sums_.get(),
                         .mean_over_steps = terms.mean_over_steps,
                         .alpha = static_cast<float>(terms.alpha),
                         .lambda = static_cast<float>(terms.lambda),
                         .nearest = nearest_.get(),
                         .loss = loss,
                         .d_sums = d_sums_.get(),
                         .d_latents = d_features_.get(),
                         .d_codes = gradient + layout_.size});
    decode_back(p, d_sums_.get(), d_features_.get());
    encode_back(p, features, d_features_.get(), gradient);
    add_up(layout_.encoder_size, layout_.size, gradient);
  }

 private:
  struct Head {
    const ParameterBlock *weight, *bias;
    std::int64_t column;  // its first
  };

  /// The gradients of the decoder's weights are left to the side stream.
  void decode_back(const float* p, const float* d_sums, float* d_features) {
    auto task = likelihood();
    task.d_sums = d_sums;
    find_likelihood_back(task);
    const Columns d_decoder3(b_.d_decoder3, a_.decoder3), d_decoder2(b_.d_decoder2, a_.decoder2);
    std::vector<WeightGradient> gradients{
        gradient({b_.decoder2, a_.decoder2}, d_decoder3, layout_.decoder3),
        gradient({b_.decoder1, a_.decoder1}, d_decoder2, layout_.decoder2),
        gradient(seen(), {b_.d_decoder1, a_.decoder1}, layout_.from_features)};
    for (const auto& head : heads()) {
      const Columns deltas(b_.d_heads + head.column, a_.actions, head_stride_);
      const bool last = head.column + in_fours(a_.actions) == head_stride_;
      back(deltas, p, *head.weight, b_.d_decoder3, last ? b_.decoder3 : nullptr,
           /*add=*/head.column > 0);
      gradients.push_back(gradient({b_.decoder3, a_.decoder3}, deltas, *head.weight));
    }
    back(d_decoder3, p, layout_.decoder3, b_.d_decoder2, b_.decoder2);
    back(d_decoder2, p, layout_.decoder2, b_.d_decoder1, b_.decoder1);
    side_.fork();
    find_gradients(gradients, side_.get());
    find_feature_gradient({.sequences = sequences_,
                           .features = narrow(a_.features()),
                           .outputs = narrow(a_.decoder1),
                           .weight = p + layout_.from_features.offset,
                           .deltas = b_.d_decoder1,
                           .d_features = d_features});
  }

  std::vector<Head> heads() const {
    if (a_.discrete) return {{&layout_.mean, &layout_.mean_bias, 0}};
    return {{&layout_.mean, &layout_.mean_bias, 0},
            {&layout_.deviation, &layout_.deviation_bias, in_fours(a_.actions)}};
  }

  Columns pairs() const { return {b_.pairs, a_.inputs + a_.actions, gathering_.pair_stride}; }
  Columns seen() const { return {b_.seen, a_.features() + a_.inputs, gathering_.seen_stride}; }

  Recurrence recurrence(const float* p) const {
    return {.sequences = sequences_,
            .weight = p + layout_.gru_recurrent.offset,
            .bias = p + layout_.gru_recurrent_bias.offset,
            .gates = b_.gates,
            .from_past = b_.from_past,
            .states = b_.states,
            .previous = b_.previous};
  }
  Attention attention(const float* p, float* features) const {
    return {.sequences = sequences_,
            .heads = narrow(a_.heads),
            .head_size = narrow(a_.head_size),
            .keys_values = b_.keys_values,
            .queries = p + layout_.queries.offset,
            .weights = b_.weights,
            .features = features};
  }
  Likelihood likelihood() const {
    return {.sequences = sequences_,
            .discrete = a_.discrete,
            .actions = narrow(a_.actions),
            .discrete_actions = actions_of_rows_.get(),
            .continuous_actions = b_.pairs + a_.inputs,
            .action_stride = gathering_.pair_stride,
            .heads = b_.heads,
            .stride = narrow(head_stride_),
            .deviations = narrow(in_fours(a_.actions)),
            .sums = nullptr,
            .d_sums = nullptr,
            .d_heads = b_.d_heads};
  }

  void layer(const Columns& inputs, const float* p, const ParameterBlock& weight,
             const ParameterBlock* bias, float* out, bool rectify = false) const {
    apply({.inputs = inputs,
           .count = rows_,
           .weight = p + weight.offset,
           .bias = bias ? p + bias->offset : nullptr,
           .outputs = narrow(weight.columns),
           .out = out,
           .stride = narrow(weight.columns),
           .rectify = rectify});
  }

  /// Deltas of a layer's inputs from those of its outputs; where `active` is not positive, none.
  void back(const Columns& deltas, const float* p, const ParameterBlock& weight, float* out,
            const float* active, bool add = false) const {
    apply({.inputs = deltas,
           .count = rows_,
           .weight = p + weight.offset,
           .outputs = narrow(weight.rows),
           .out = out,
           .stride = narrow(weight.rows),
           .transposed = true,
           .add = add,
           .active = active});
  }

  /// A bias lies behind its weight.
  WeightGradient gradient(const Columns& inputs, const Columns& deltas,
                          const ParameterBlock& weight, bool bias = true) {
    return {.inputs = inputs,
            .deltas = deltas,
            .out = gradient_parts_.get() + weight.offset,
            .stride = narrow(weight.columns),
            .bias = bias};
  }
  void find_gradients(const std::vector<WeightGradient>& gradients, cudaStream_t stream) const {
    find(gradients, rows_, chunks(), layout_.size, stream);
  }
  int chunks() const {
    return narrow(std::clamp<std::int64_t>(rows_ / kChunkRows, 1, kMostChunks));
  }
  void add_up(std::int64_t begin, std::int64_t end, float* d_parameters) const {
    add_parts(gradient_parts_.get() + begin, chunks(), layout_.size, end - begin,
              d_parameters + begin);
  }

  void make_room(std::int64_t sequences) {
    selection_.grow(static_cast<std::size_t>(2 * sequences + 1));
    query_parts_.grow(static_cast<std::size_t>(sequences * a_.features()));
    for (auto* array : {&sums_, &d_sums_}) array->grow(static_cast<std::size_t>(sequences));
    d_features_.grow(static_cast<std::size_t>(sequences * a_.features()));
    nearest_.grow(static_cast<std::size_t>(sequences));
    if (rows_ <= room_) return;
    room_ = in_fours(rows_ + rows_ / 4);  // a little more needs no other piece of memory then
    std::int64_t numbers = 0;
    for (const auto& width : widths_) numbers += width.numbers;
    buffers_.grow(static_cast<std::size_t>(numbers * room_));
    float* next = buffers_.get();
    for (const auto& width : widths_) {
      b_.*width.buffer = next;
      next += width.numbers * room_;
    }
    actions_of_rows_.grow(static_cast<std::size_t>(room_));
  }

  AutoencoderArchitecture a_;
  AutoencoderLayout layout_;
  std::vector<std::int64_t> offsets_on_host_;
  std::int64_t head_stride_;
  std::vector<RowBuffers::Width> widths_;
  DeviceArray<std::int64_t> offsets_;
  DeviceArray<float> observations_, continuous_actions_;
  DeviceArray<std::int32_t> observation_of_step_, discrete_actions_;

  DeviceArray<std::int32_t> selection_, actions_of_rows_, nearest_;
  DeviceArray<float> buffers_, gradient_parts_, query_parts_, sums_, d_sums_, d_features_;
  SideStream side_;
  Sequences sequences_;
  Gathering gathering_;
  RowBuffers b_{};
  std::int64_t rows_ = 0, room_ = 0;
};

}  // namespace

std::unique_ptr<GpuAutoencoder> make_gpu_autoencoder(const AutoencoderArchitecture& a,
                                                     const GpuTrajectories& data) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kWidest = 1 << 14;  // products of two such widths fit an int
  const auto widest = std::max({a.inputs + std::max(a.actions, a.features()), a.hidden,
                                3 * a.memory, a.decoder1, a.decoder2, a.decoder3, 2 * a.actions});
  if (!gpu_runs_kernels() || !has_recurrence(narrow(a.memory)) || a.features() > kMostFeatures ||
      a.decoder1 > kMostOutputs || widest > kWidest || data.offsets.back() > kMost)
    return nullptr;
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  // Half of it is left to minibatches and to LibTorch.
  if (data.observations.size_bytes() + data.continuous_actions.size_bytes() +
          data.observation_of_step.size_bytes() + data.discrete_actions.size_bytes() >
      free / 2)
    return nullptr;
  return std::make_unique<AutoencoderKernels>(a, data);
}

}  // namespace kindred::cuda
