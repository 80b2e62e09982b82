#include "kindred/experts/ppo/learner.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kindred/core/error.h"
#include "kindred/experts/ppo/losses.h"
#include "kindred/nn/elementwise.h"

namespace kindred::ppo {
namespace {

constexpr std::int64_t kChunk = 128;       // rows whose gradient one thread computes at a time
constexpr double kActorOutputGain = 0.01;  // at first every action is about as likely
constexpr double kEpsilon = 1e-5;          // Adam's

Networks make_networks(const EnvironmentSpec& spec, const PpoOptions& options) {
  const auto view = InputView::of(spec);
  MlpShape shape{.inputs = view.inputs(),
                 .hidden = {options.hidden, options.hidden},
                 .outputs = spec.action_width,
                 .sparse = view.is_sparse()};
  Mlp actor(shape);
  shape.outputs = 1;
  Mlp critic(shape);
  const auto seed = static_cast<std::uint64_t>(options.seed);
  actor.initialise(Random(seed, "ppo-actor"), kActorOutputGain);
  critic.initialise(Random(seed, "ppo-critic"), 1.0);
  std::vector<float> log_deviation;
  if (!spec.is_discrete())
    log_deviation.assign(static_cast<std::size_t>(spec.action_width),
                         static_cast<float>(std::log(options.deviation)));
  return {view, std::move(actor), std::move(critic), std::move(log_deviation)};
}

}  // namespace

/// What one chunk of rows adds, and room to compute it in.
struct Learner::Gradient {
  std::vector<float> values;       // the actor's, its deviations', the critic's
  std::span<float> actor, critic;  // parts of it; the deviations' are the end of the actor's
  UpdateStatistics sums;
  std::vector<float> inputs, delta;
  std::vector<float> d_log_probability, d_entropy;  // by the network's outputs
  std::vector<float> d_log_deviation;               // of the log-probability
  Mlp::Pass pass;

  void clear(std::size_t actor_size, std::size_t critic_size) {
    values.assign(actor_size + critic_size, 0.0F);
    actor = std::span(values).first(actor_size);
    critic = std::span(values).subspan(actor_size);
    sums = {};
  }

  void add(const Gradient& other) {
    kindred::add(static_cast<std::int64_t>(values.size()), other.values.data(), values.data());
    sums.entropy += other.sums.entropy;
    sums.divergence += other.sums.divergence;
    sums.clipped += other.sums.clipped;
    sums.value_error += other.sums.value_error;
  }
};

Learner::Learner(const EnvironmentSpec& spec, const PpoOptions& options)
    : options_(options),
      networks_(make_networks(spec, options)),
      actor_adam_(networks_.actor.parameters().size() + networks_.log_deviation.size()),
      critic_adam_(networks_.critic.parameters().size()) {
  for (std::int64_t first = 0; first < options.minibatch; first += kChunk)
    gradients_.push_back(std::make_unique<Gradient>());
}

Learner::~Learner() = default;

UpdateStatistics Learner::update(const Experience& experience, double learning_rate, double entropy,
                                 Random random) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(experience.rows()));
  std::iota(order.begin(), order.end(), 0);
  UpdateStatistics total;
  for (std::int64_t epoch = 0; epoch < options_.epochs; ++epoch) {
    random.shuffle(std::span(order));
    double divergence = 0.0;
    std::int64_t minibatches = 0;
    for (std::size_t begin = 0; begin < order.size(); ++minibatches) {
      const auto size =
          std::min(static_cast<std::size_t>(options_.minibatch), order.size() - begin);
      const auto rows = std::span(order).subspan(begin, size);
      begin += size;
      const float weight = 1.0F / static_cast<float>(size);
      const auto means = gradient_on(experience, rows, entropy, weight);
      step(learning_rate);
      total.entropy += means.entropy;
      total.clipped += means.clipped;
      total.value_error += means.value_error;
      divergence += means.divergence;
    }
    total.minibatches += minibatches;
    total.divergence = divergence / static_cast<double>(minibatches);  // of the last epoch
    if (options_.target_kl > 0.0 && total.divergence > options_.target_kl) break;
  }
  const auto count = static_cast<double>(total.minibatches);
  total.entropy /= count;
  total.clipped /= count;
  total.value_error /= count;
  return total;
}

UpdateStatistics Learner::gradient_on(const Experience& experience,
                                      std::span<const std::int64_t> rows, double entropy,
                                      float weight) {
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto used = std::span(gradients_).first((rows.size() + kChunk - 1) / kChunk);
  options_.workers.chunks(count, kChunk, [&](std::int64_t begin, std::int64_t end) {
    auto& gradient = *used[static_cast<std::size_t>(begin / kChunk)];
    gradient.clear(actor_size(), critic_adam_.state().first.size());
    const auto chunk =
        rows.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    add_gradient(experience, chunk, entropy, weight, gradient);
  });
  auto& sum = *used.front();
  for (const auto& gradient : used.subspan(1)) sum.add(*gradient);
  const auto share = static_cast<double>(weight);
  return {.entropy = sum.sums.entropy * share,
          .divergence = sum.sums.divergence * share,
          .clipped = sum.sums.clipped * share,
          .value_error = sum.sums.value_error * share,
          .minibatches = 1};
}

std::span<float> Learner::gradient() { return gradients_.front()->values; }

void Learner::add_gradient(const Experience& experience, std::span<const std::int64_t> rows,
                           double entropy, float weight, Gradient& out) const {
  const auto width = networks_.view.inputs();
  out.inputs.resize(rows.size() * static_cast<std::size_t>(width));
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::copy_n(experience.inputs.begin() + rows[i] * width, width,
                out.inputs.begin() + static_cast<std::int64_t>(i) * width);
  actor_loss(experience, rows, entropy, weight, out);
  critic_loss(experience, rows, weight, out);
}

/// The clipped surrogate, minus the entropy times its weight.
void Learner::actor_loss(const Experience& e, std::span<const std::int64_t> rows, double entropy,
                         float weight, Gradient& out) const {
  const auto& actor = networks_.actor;
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto actions = static_cast<std::size_t>(actor.shape().outputs);
  const auto stride = static_cast<std::size_t>(actor.output_stride());
  const auto outputs = actor.forward(count, out.inputs.data(), out.pass);
  const bool discrete = networks_.log_deviation.empty();
  const auto clip = static_cast<float>(options_.clip);
  const float towards_entropy = -static_cast<float>(entropy) * weight;
  const auto deviations = out.actor.last(networks_.log_deviation.size());
  out.delta.assign(rows.size() * stride, 0.0F);
  for (auto* gradient : {&out.d_log_probability, &out.d_entropy, &out.d_log_deviation})
    gradient->assign(actions, 0.0F);

  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::size_t>(rows[i]);
    const auto output = outputs.subspan(i * stride, actions);
    const auto terms =
        discrete ? categorical_terms(output, e.discrete[row], out.d_log_probability, out.d_entropy)
                 : gaussian_terms(output, networks_.log_deviation,
                                  std::span(e.continuous).subspan(row * actions, actions),
                                  out.d_log_probability, out.d_log_deviation);
    const auto surrogate = clipped_surrogate(terms.log_probability - e.log_probabilities[row],
                                             e.advantages[row], clip);
    const float push = surrogate.slope * weight;
    float* delta = out.delta.data() + i * stride;
    for (std::size_t a = 0; a < actions; ++a)
      delta[a] = push * out.d_log_probability[a] + towards_entropy * out.d_entropy[a];
    for (std::size_t a = 0; a < deviations.size(); ++a)
      deviations[a] += push * out.d_log_deviation[a] + towards_entropy;
    out.sums.entropy += static_cast<double>(terms.entropy);
    out.sums.divergence += static_cast<double>(surrogate.divergence);
    out.sums.clipped += surrogate.at_clip ? 1.0 : 0.0;
  }
  actor.backward(count, out.inputs.data(), out.delta, out.pass, out.actor);
}

/// ½ (value - return)²
void Learner::critic_loss(const Experience& e, std::span<const std::int64_t> rows, float weight,
                          Gradient& out) const {
  const auto& critic = networks_.critic;
  const auto count = static_cast<std::int64_t>(rows.size());
  const auto stride = static_cast<std::size_t>(critic.output_stride());
  const auto values = critic.forward(count, out.inputs.data(), out.pass);
  out.delta.assign(rows.size() * stride, 0.0F);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float error = values[i * stride] - e.returns[static_cast<std::size_t>(rows[i])];
    out.delta[i * stride] = error * weight;
    out.sums.value_error += static_cast<double>(error * error);
  }
  critic.backward(count, out.inputs.data(), out.delta, out.pass, out.critic);
}

void Learner::step(double learning_rate) {
  const AdamOptions adam{.learning_rate = learning_rate,
                         .epsilon = kEpsilon,
                         .max_gradient_norm = options_.max_gradient_norm};
  auto& [view, actor, critic, log_deviation] = networks_;
  std::vector<float> parameters(actor.parameters().begin(), actor.parameters().end());
  parameters.insert(parameters.end(), log_deviation.begin(), log_deviation.end());
  actor_adam_.update(gradient().first(actor_size()), adam, parameters);
  const auto network_size = actor.parameters().size();
  actor.set_parameters(std::span(parameters).first(network_size));
  std::copy(parameters.begin() + static_cast<std::ptrdiff_t>(network_size), parameters.end(),
            log_deviation.begin());
  parameters.assign(critic.parameters().begin(), critic.parameters().end());
  critic_adam_.update(gradient().subspan(actor_size()), adam, parameters);
  critic.set_parameters(parameters);
}

std::vector<float> Learner::save() const {
  std::vector<float> all;
  const auto put = [&](std::span<const float> values) {
    all.insert(all.end(), values.begin(), values.end());
  };
  put(networks_.view.mean);
  put(networks_.view.scale);
  put(networks_.actor.parameters());
  put(networks_.log_deviation);
  put(actor_adam_.state().first);
  put(actor_adam_.state().second);
  put(networks_.critic.parameters());
  put(critic_adam_.state().first);
  put(critic_adam_.state().second);
  put(std::vector{static_cast<float>(actor_adam_.state().steps[0])});
  return all;
}

void Learner::restore(std::span<const float> saved) {
  const bool counts = !saved.empty() && saved.back() >= 0.0F && saved.back() < 1e9F;
  if (saved.size() != save().size() || !counts)
    throw DataFormatError("the checkpoint holds a network of another shape");
  const auto take = [&](std::size_t count) {
    const auto part = saved.first(count);
    saved = saved.subspan(count);
    return part;
  };
  const auto into = [&](std::vector<float>& values) {
    std::ranges::copy(take(values.size()), values.begin());
  };
  into(networks_.view.mean);
  into(networks_.view.scale);
  networks_.actor.set_parameters(take(networks_.actor.parameters().size()));
  into(networks_.log_deviation);
  auto actor_adam = actor_adam_.state();
  into(actor_adam.first);
  into(actor_adam.second);
  networks_.critic.set_parameters(take(networks_.critic.parameters().size()));
  auto critic_adam = critic_adam_.state();
  into(critic_adam.first);
  into(critic_adam.second);
  actor_adam.steps = critic_adam.steps = {static_cast<std::int64_t>(take(1)[0])};
  actor_adam_.restore(std::move(actor_adam));
  critic_adam_.restore(std::move(critic_adam));
}

}  // namespace kindred::ppo
