// What the tests of the autoencoder share: sequences, batches of them, and everything an engine
// computes from a batch.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <map>
#include <span>
#include <vector>

#include "fixture.h"
#include "kindred/nn/autoencoder.h"

namespace kindred::testing {

struct Sequence {
  std::vector<float> observations;  ///< [steps, inputs]
  std::vector<float> actions;       ///< [steps] numbers of actions, or [steps, actions]
};

/// How a batch keeps its rows: one per step, in the steps' order or in another; or distinct ones.
enum class Rows { kPerStep, kBackwards, kDistinct };

/// The rows of a table, kept one by one or only once each.
class RowTable {
 public:
  explicit RowTable(Rows rows) : rows_(rows) {}

  std::int32_t add(const std::vector<float>& row) {
    const auto next = static_cast<std::int32_t>(table_.size());
    if (rows_ == Rows::kDistinct) {
      const auto [found, is_new] = known_.emplace(row, next);
      if (!is_new) return found->second;
    }
    table_.push_back(row);
    return next;
  }

  void write(std::vector<float>& out, std::vector<std::int32_t>& row_of_step) {
    if (rows_ == Rows::kBackwards) {
      std::reverse(table_.begin(), table_.end());
      for (auto& row : row_of_step) row = static_cast<std::int32_t>(table_.size()) - 1 - row;
    }
    for (const auto& row : table_) out.insert(out.end(), row.begin(), row.end());
  }

 private:
  Rows rows_;
  std::vector<std::vector<float>> table_;
  std::map<std::vector<float>, std::int32_t> known_;
};

/// Sequences must come longest first.
inline SequenceBatch batch_of(const AutoencoderArchitecture& a, std::span<const Sequence> sequences,
                              Rows rows) {
  SequenceBatch batch;
  std::vector<std::int64_t> lengths;
  for (const auto& sequence : sequences)
    lengths.push_back(static_cast<std::int64_t>(sequence.observations.size()) / a.inputs);
  pack(lengths, batch);
  RowTable observations(rows);
  RowTable pairs(rows);
  for (std::int64_t t = 0; t < batch.longest(); ++t)
    for (std::int64_t b = 0; b < batch.active(t); ++b) {
      const auto& sequence = sequences[static_cast<std::size_t>(b)];
      const auto* observation = sequence.observations.data() + t * a.inputs;
      std::vector<float> row(observation, observation + a.inputs);
      batch.observation_of_step.push_back(observations.add(row));
      if (a.discrete) {
        const auto action =
            static_cast<std::int32_t>(sequence.actions[static_cast<std::size_t>(t)]);
        batch.discrete_actions.push_back(action);
        row.resize(static_cast<std::size_t>(a.inputs + a.actions), 0.0F);
        row[static_cast<std::size_t>(a.inputs + action)] = 1.0F;
      } else {
        const auto* action = sequence.actions.data() + t * a.actions;
        batch.continuous_actions.insert(batch.continuous_actions.end(), action, action + a.actions);
        row.insert(row.end(), action, action + a.actions);
      }
      batch.pair_of_step.push_back(pairs.add(row));
    }
  observations.write(batch.observations, batch.observation_of_step);
  pairs.write(batch.pairs, batch.pair_of_step);
  return batch;
}

/// Consecutive sequences in parts of the given sizes.
inline std::vector<SequenceBatch> parts_of(const AutoencoderArchitecture& a,
                                           std::span<const Sequence> sequences,
                                           const std::vector<std::size_t>& sizes, Rows rows) {
  std::vector<SequenceBatch> parts;
  for (const auto size : sizes) {
    parts.push_back(batch_of(a, sequences.first(size), rows));
    sequences = sequences.subspan(size);
  }
  return parts;
}

/// A function of all an engine gives, Σ feature_weight · z + Σ likelihood_weight · log-likelihood,
/// and its gradients; that of z counts what passes through the log-likelihoods.
struct Evaluation {
  at::Tensor features, log_likelihood, d_features, d_parameters;
};

inline Evaluation evaluate(AutoencoderEngine& engine, const at::Tensor& parameters,
                           std::span<const SequenceBatch> parts, const at::Tensor& feature_weight,
                           const at::Tensor& likelihood_weight) {
  const auto p = parameters.detach().clone().set_requires_grad(true);
  const auto features = engine.encode(p, parts);
  const auto log_likelihood = engine.log_likelihood(p, features, parts);
  const auto total = (features * feature_weight).sum() + (log_likelihood * likelihood_weight).sum();
  const auto gradients = torch::autograd::grad({total}, {features, p});
  return {features.detach(), log_likelihood.detach(), gradients[0], gradients[1]};
}

/// A matrix inside the vector of parameters.
inline at::Tensor block(const at::Tensor& parameters, const ParameterBlock& b) {
  return parameters.detach().narrow(0, b.offset, b.rows * b.columns).view({b.rows, b.columns});
}

/// Each block by itself, so that large gradients do not hide errors of small ones.
inline void expect_blocks_close(const AutoencoderArchitecture& architecture,
                                const at::Tensor& found, const at::Tensor& expected,
                                double tolerance) {
  const AutoencoderLayout layout(architecture);
  ASSERT_EQ(found.numel(), layout.size);
  for (const auto* b : layout.blocks())
    EXPECT_LT(error(block(found, *b), block(expected, *b)), tolerance) << b->name;
}

/// Of `error`; sums that cancel leave gradients fewer digits.
struct Tolerance {
  double outputs, gradients;
};

inline void expect_close(const AutoencoderArchitecture& architecture, const Evaluation& found,
                         const Evaluation& expected, Tolerance tolerance) {
  EXPECT_LT(error(found.features, expected.features), tolerance.outputs);
  EXPECT_LT(error(found.log_likelihood, expected.log_likelihood), tolerance.outputs);
  EXPECT_LT(error(found.d_features, expected.d_features), tolerance.gradients);
  expect_blocks_close(architecture, found.d_parameters, expected.d_parameters, tolerance.gradients);
}

inline void expect_identical(const Evaluation& found, const Evaluation& expected) {
  EXPECT_TRUE(at::equal(found.features, expected.features));
  EXPECT_TRUE(at::equal(found.log_likelihood, expected.log_likelihood));
  EXPECT_TRUE(at::equal(found.d_features, expected.d_features));
  EXPECT_TRUE(at::equal(found.d_parameters, expected.d_parameters));
}

}  // namespace kindred::testing
