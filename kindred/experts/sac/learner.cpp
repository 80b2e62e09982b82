#include "kindred/experts/sac/learner.h"

#include <algorithm>
#include <cmath>

#include "kindred/core/error.h"
#include "kindred/experts/sac/squashed.h"
#include "kindred/nn/elementwise.h"

namespace kindred::sac {
namespace {

constexpr std::int64_t kChunk = 128;      // rows whose gradient one thread computes at a time
constexpr double kActorOutputGain = 0.1;  // at first every action is about as likely
constexpr float kLimit = 1000.0F;         // of an observed number: they are learned as they come
constexpr double kNoLimit = 1e30;         // of a gradient's norm

InputView view_of(const EnvironmentSpec& spec) {
  if (spec.is_discrete())
    throw InvalidArgument("SAC trains policies of continuous actions, and those of '{}' are not",
                          spec.name);
  auto view = InputView::of(spec);
  view.limit = kLimit;
  return view;
}

Mlp make_network(std::int64_t inputs, std::int64_t outputs, const SacOptions& options,
                 const char* stream, std::uint64_t index, double output_gain) {
  Mlp network({.inputs = inputs,
               .hidden = {options.hidden, options.hidden},
               .outputs = outputs,
               .activation = Activation::kRelu});
  network.initialise(Random(static_cast<std::uint64_t>(options.seed), stream, index), output_gain);
  return network;
}

AdamOptions adam(double learning_rate) {
  return {.learning_rate = learning_rate, .max_gradient_norm = kNoLimit};
}

}  // namespace

Minibatch draw_minibatch(const Replay& replay, std::int64_t rows, std::int64_t action_width,
                         Random& random) {
  Minibatch batch;
  batch.rows.resize(static_cast<std::size_t>(rows));
  for (auto& row : batch.rows)
    row = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(replay.size())));
  for (auto* noise : {&batch.next_noise, &batch.noise}) {
    noise->resize(static_cast<std::size_t>(rows * action_width));
    for (float& number : *noise) number = static_cast<float>(random.normal());
  }
  return batch;
}

/// Some rows of a minibatch: what they add, and room to compute it in.
struct Learner::Chunk {
  std::vector<float> critics, actor;  // gradients
  double sum = 0.0;                   // of what the mean is asked for
  std::vector<float> raw, inputs;     // observations, and as networks see them
  std::vector<float> actions, pairs;  // pairs: [rows, inputs and action]
  std::vector<float> log_densities, targets, delta, d_value, d_outputs;
  Mlp::Pass actor_pass;
  std::array<Mlp::Pass, 2> critic_passes;
};

Learner::Learner(const EnvironmentSpec& spec, const SacOptions& options)
    : options_(options),
      action_width_(spec.action_width),
      view_(view_of(spec)),
      actor_(make_network(view_.inputs(), 2 * action_width_, options, "sac-actor", 0,
                          kActorOutputGain)),
      critics_{make_network(view_.inputs() + action_width_, 1, options, "sac-critic", 0, 1.0),
               make_network(view_.inputs() + action_width_, 1, options, "sac-critic", 1, 1.0)},
      targets_(critics_),
      log_temperature_{static_cast<float>(std::log(options.temperature))},
      actor_adam_(actor_.parameters().size()),
      temperature_adam_(1),
      critic_adams_{Adam(critics_[0].parameters().size()), Adam(critics_[1].parameters().size())} {
  for (std::int64_t first = 0; first < options.minibatch; first += kChunk)
    chunks_.push_back(std::make_unique<Chunk>());
}

Learner::~Learner() = default;

double Learner::temperature() const { return std::exp(static_cast<double>(log_temperature_[0])); }

double Learner::over_chunks(const Replay& replay, const Minibatch& batch, Part part,
                            std::vector<float> Chunk::*gradient) {
  const auto rows = std::ssize(batch.rows);
  options_.workers.chunks(rows, kChunk, [&](std::int64_t begin, std::int64_t end) {
    (this->*part)(replay, batch, begin, end - begin,
                  *chunks_[static_cast<std::size_t>(begin / kChunk)]);
  });
  auto& first = *chunks_.front();
  double sum = first.sum;
  for (std::int64_t i = 1; i * kChunk < rows; ++i) {
    const auto& other = *chunks_[static_cast<std::size_t>(i)];
    add(std::ssize(other.*gradient), (other.*gradient).data(), (first.*gradient).data());
    sum += other.sum;
  }
  return sum / static_cast<double>(rows);
}

double Learner::critic_gradient(const Replay& replay, const Minibatch& batch) {
  return over_chunks(replay, batch, &Learner::critics_part, &Chunk::critics) / 2.0;
}

double Learner::actor_gradient(const Replay& replay, const Minibatch& batch) {
  return -over_chunks(replay, batch, &Learner::actor_part, &Chunk::actor);
}

std::span<const float> Learner::critics_gradient() const { return chunks_.front()->critics; }
std::span<const float> Learner::actors_gradient() const { return chunks_.front()->actor; }

/// pairs = inputs beside actions.
void Learner::join_pairs(std::int64_t count, Chunk& chunk) const {
  const auto inputs = view_.inputs(), width = inputs + action_width_;
  chunk.pairs.resize(static_cast<std::size_t>(count * width));
  for (std::int64_t i = 0; i < count; ++i) {
    std::copy_n(chunk.inputs.begin() + i * inputs, inputs, chunk.pairs.begin() + i * width);
    std::copy_n(chunk.actions.begin() + i * action_width_, action_width_,
                chunk.pairs.begin() + i * width + inputs);
  }
}

/// What the critics should say: the reward, and what the target critics and the actor's entropy
/// promise of the next step.
void Learner::set_targets(const Replay& replay, const Minibatch& batch, std::int64_t begin,
                          std::int64_t count, Chunk& chunk) const {
  look(replay, batch, begin, count, &Step::next, chunk);
  act(count, std::span(batch.next_noise).subspan(static_cast<std::size_t>(begin * action_width_)),
      chunk);
  join_pairs(count, chunk);
  std::array<std::span<const float>, 2> values;
  for (std::size_t c = 0; c < 2; ++c)
    values[c] = targets_[c].forward(count, chunk.pairs.data(), chunk.critic_passes[c]);
  const auto stride = static_cast<std::size_t>(targets_[0].output_stride());
  const auto discount = static_cast<float>(options_.discount);
  const auto worth = static_cast<float>(temperature());
  chunk.targets.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < chunk.targets.size(); ++i) {
    const auto step = replay[batch.rows[static_cast<std::size_t>(begin) + i]];
    const float following =
        std::min(values[0][i * stride], values[1][i * stride]) - worth * chunk.log_densities[i];
    chunk.targets[i] = step.reward + (step.terminal ? 0.0F : discount * following);
  }
}

void Learner::critics_part(const Replay& replay, const Minibatch& batch, std::int64_t begin,
                           std::int64_t count, Chunk& chunk) const {
  set_targets(replay, batch, begin, count, chunk);
  look(replay, batch, begin, count, &Step::observation, chunk);
  for (std::int64_t i = 0; i < count; ++i)
    std::ranges::copy(replay[batch.rows[static_cast<std::size_t>(begin + i)]].action,
                      chunk.actions.begin() + i * action_width_);
  join_pairs(count, chunk);
  const auto stride = static_cast<std::size_t>(critics_[0].output_stride());
  const auto size = critics_[0].parameters().size();
  const float weight = 1.0F / static_cast<float>(batch.rows.size());
  chunk.critics.resize(2 * size);
  chunk.delta.assign(static_cast<std::size_t>(count) * stride, 0.0F);
  chunk.sum = 0.0;
  for (std::size_t c = 0; c < 2; ++c) {
    auto& pass = chunk.critic_passes[c];
    const auto values = critics_[c].forward(count, chunk.pairs.data(), pass);
    for (std::size_t i = 0; i < chunk.targets.size(); ++i) {
      const float error = values[i * stride] - chunk.targets[i];
      chunk.delta[i * stride] = error * weight;
      chunk.sum += static_cast<double>(error * error);
    }
    critics_[c].backward(count, chunk.pairs.data(), chunk.delta, pass,
                         std::span(chunk.critics).subspan(c * size, size), /*add=*/false);
  }
}

void Learner::actor_part(const Replay& replay, const Minibatch& batch, std::int64_t begin,
                         std::int64_t count, Chunk& chunk) const {
  const auto noise =
      std::span(batch.noise).subspan(static_cast<std::size_t>(begin * action_width_));
  look(replay, batch, begin, count, &Step::observation, chunk);
  const auto outputs = act(count, noise, chunk);
  join_pairs(count, chunk);
  std::array<std::span<const float>, 2> values;
  for (std::size_t c = 0; c < 2; ++c)
    values[c] = critics_[c].forward(count, chunk.pairs.data(), chunk.critic_passes[c]);

  // Of each row the lower critic alone counts.
  const auto rows = static_cast<std::size_t>(count);
  const auto stride = static_cast<std::size_t>(critics_[0].output_stride());
  const auto dim = static_cast<std::size_t>(action_width_),
             padded_dim = static_cast<std::size_t>(padded(action_width_));
  chunk.d_value.assign(rows * padded_dim, 0.0F);
  for (std::size_t c = 0; c < 2; ++c) {
    chunk.delta.assign(rows * stride, 0.0F);
    for (std::size_t i = 0; i < rows; ++i) {
      const bool second_is_lower = values[1][i * stride] < values[0][i * stride];
      chunk.delta[i * stride] = (c == 1) == second_is_lower ? 1.0F : 0.0F;
    }
    const auto slopes = critics_[c].input_gradient(count, chunk.delta, view_.inputs(),
                                                   action_width_, chunk.critic_passes[c]);
    add(std::ssize(slopes), slopes.data(), chunk.d_value.data());
  }

  const auto width = static_cast<std::size_t>(actor_.output_stride());
  const float weight = 1.0F / static_cast<float>(batch.rows.size());
  const auto worth = static_cast<float>(temperature());
  chunk.d_outputs.assign(rows * width, 0.0F);
  chunk.sum = 0.0;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto d_outputs = std::span(chunk.d_outputs).subspan(i * width, 2 * dim);
    sac::actor_gradient(outputs.subspan(i * width, 2 * dim), noise.subspan(i * dim, dim),
                        std::span(chunk.actions).subspan(i * dim, dim),
                        std::span(chunk.d_value).subspan(i * padded_dim, dim), worth, d_outputs);
    for (float& slope : d_outputs) slope *= weight;
    chunk.sum += static_cast<double>(chunk.log_densities[i]);
  }
  chunk.actor.resize(actor_.parameters().size());
  actor_.backward(count, chunk.inputs.data(), chunk.d_outputs, chunk.actor_pass, chunk.actor,
                  /*add=*/false);
}

/// Shows the networks one side of the steps.
void Learner::look(const Replay& replay, const Minibatch& batch, std::int64_t begin,
                   std::int64_t count, std::span<const float> Step::*side, Chunk& chunk) const {
  const auto observed = view_.observed();
  chunk.raw.resize(static_cast<std::size_t>(count * observed));
  chunk.inputs.resize(static_cast<std::size_t>(count * view_.inputs()));
  for (std::int64_t i = 0; i < count; ++i)
    std::ranges::copy(replay[batch.rows[static_cast<std::size_t>(begin + i)]].*side,
                      chunk.raw.begin() + i * observed);
  view_.apply(count, chunk.raw.data(), chunk.inputs.data());
}

/// The actor's actions for what it sees, with their log-densities. Returns its outputs.
std::span<const float> Learner::act(std::int64_t count, std::span<const float> noise,
                                    Chunk& chunk) const {
  const auto outputs = actor_.forward(count, chunk.inputs.data(), chunk.actor_pass);
  const auto stride = static_cast<std::size_t>(actor_.output_stride());
  const auto dim = static_cast<std::size_t>(action_width_);
  chunk.actions.resize(static_cast<std::size_t>(count) * dim);
  chunk.log_densities.resize(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < chunk.log_densities.size(); ++i)
    chunk.log_densities[i] = draw(outputs.subspan(i * stride, 2 * dim), noise.subspan(i * dim, dim),
                                  std::span(chunk.actions).subspan(i * dim, dim));
  return outputs;
}

void Learner::critic_step(double learning_rate) {
  const auto follow = static_cast<float>(options_.follow);
  const auto size = critics_[0].parameters().size();
  for (std::size_t c = 0; c < 2; ++c) {
    critics_[c].change_parameters([&](std::span<float> parameters) {
      critic_adams_[c].update(critics_gradient().subspan(c * size, size), adam(learning_rate),
                              parameters);
    });
    targets_[c].change_parameters([&](std::span<float> parameters) {
      const auto towards = critics_[c].parameters();
      for (std::size_t i = 0; i < size; ++i) parameters[i] += follow * (towards[i] - parameters[i]);
    });
  }
}

void Learner::actor_step(double learning_rate, double entropy) {
  actor_.change_parameters([&](std::span<float> parameters) {
    actor_adam_.update(actors_gradient(), adam(learning_rate), parameters);
  });
  const double wanted = options_.target_entropy * static_cast<double>(action_width_);
  const auto slope = static_cast<float>(entropy - wanted);
  temperature_adam_.update(std::span(&slope, 1), adam(learning_rate), log_temperature_);
}

std::vector<float> Learner::save() const {
  std::vector<float> all;
  const auto put = [&](std::span<const float> values) {
    all.insert(all.end(), values.begin(), values.end());
  };
  put(actor_.parameters());
  for (std::size_t c = 0; c < 2; ++c) {
    put(critics_[c].parameters());
    put(targets_[c].parameters());
  }
  put(log_temperature_);
  for (const auto* adam :
       {&actor_adam_, &critic_adams_[0], &critic_adams_[1], &temperature_adam_}) {
    put(adam->state().first);
    put(adam->state().second);
    put(std::vector{static_cast<float>(adam->state().steps[0])});
  }
  return all;
}

void Learner::restore(std::span<const float> saved) {
  if (saved.size() != save().size())
    throw DataFormatError("the checkpoint holds networks of another shape");
  const auto take = [&](std::size_t count) {
    const auto part = saved.first(count);
    saved = saved.subspan(count);
    return part;
  };
  const auto into = [&](std::vector<float>& values) {
    std::ranges::copy(take(values.size()), values.begin());
  };
  actor_.set_parameters(take(actor_.parameters().size()));
  for (std::size_t c = 0; c < 2; ++c) {
    critics_[c].set_parameters(take(critics_[c].parameters().size()));
    targets_[c].set_parameters(take(targets_[c].parameters().size()));
  }
  into(log_temperature_);
  for (auto* adam : {&actor_adam_, &critic_adams_[0], &critic_adams_[1], &temperature_adam_}) {
    auto state = adam->state();
    into(state.first);
    into(state.second);
    const float steps = take(1)[0];
    if (!(steps >= 0.0F && steps < 1e9F))
      throw DataFormatError("the checkpoint holds a number of steps that is none");
    state.steps = {static_cast<std::int64_t>(steps)};
    adam->restore(std::move(state));
  }
}

}  // namespace kindred::sac
