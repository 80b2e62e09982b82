#include "kindred/policies/rough_scoring.h"

#include <limits>
#include <numeric>
#include <optional>

#include "kindred/nn/gaussian.h"
#include "kindred/policies/step_block.h"

namespace kindred {
namespace {

constexpr std::int64_t kFewSteps = 1 << 15;  // with as many the sample is no small share
constexpr std::int64_t kWindows = 16;        // of the sample, each of at most kSideBySide steps
// Errors are mostly far smaller, but a few steps make large ones, which a sample may miss.
constexpr double kTimesSeen = 4.0;
// So that a round's objective, which users see, is right to about a hundredth for each step.
constexpr double kWidestMargin = 0.1;

/// Log-probabilities of a block's steps under one rough policy after another.
class RoughBlockScorer {
 public:
  RoughBlockScorer(const StepBlock& block, const PolicyArchitecture& architecture)
      : block_(block), actions_(architecture.actions) {}

  /// After the block has looked at other steps.
  void look() {
    parts_.resize((block_.size() + kSteps - 1) / kSteps);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      auto& [inputs, actions, choices] = parts_[p];
      const auto first = p * kSteps, n = std::min(kSteps, block_.size() - first);
      RoughPolicy::read(block_.seen().subspan(first * block_.inputs(), n * block_.inputs()),
                        static_cast<std::int64_t>(block_.inputs()), buffers_, inputs);
      if (block_.discrete()) {
        choices.assign(kSteps, 0);
        std::ranges::copy(block_.choices().subspan(first, n), choices.begin());
      } else {
        const auto width = static_cast<std::size_t>(actions_);
        actions.assign(kSteps * width, 0.0F);
        for (std::size_t s = 0; s < n; ++s)
          for (std::size_t c = 0; c < width; ++c)
            actions[c * kSteps + s] = block_.actions()[(first + s) * width + c];
      }
    }
  }

  std::span<float> score(const RoughPolicy& policy) {
    log_probs_.resize(parts_.size() * kSteps);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const auto& [inputs, actions, choices] = parts_[p];
      const float* outputs = policy.forward(inputs, buffers_);
      float* out = log_probs_.data() + p * kSteps;
      if (block_.discrete())
        log_probs_of_choices(actions_, outputs, choices.data(), out);
      else
        gaussian_log_densities_of_columns(actions_, outputs, outputs + actions_ * kSideBySide,
                                          actions.data(), out);
    }
    return std::span(log_probs_).first(block_.size());
  }

 private:
  static constexpr std::size_t kSteps = kSideBySide;
  struct Part {
    RoughPolicy::Numbers inputs;
    std::vector<float> actions;         // [predicted, steps]
    std::vector<std::int32_t> choices;  // or [steps]
  };

  const StepBlock& block_;
  std::int64_t actions_;
  std::vector<Part> parts_;
  RoughPolicy::Buffers buffers_;
  std::vector<float> log_probs_;
};

/// The policies that come within `margin` of the best of their rivals, where there is more than
/// one. `scores`: one row of many, [policies].
std::vector<std::int64_t> close_ones(const Matrix& scores, std::int64_t row,
                                     std::span<const std::int64_t> rivals, double margin) {
  std::vector<std::int64_t> close;
  for (std::int64_t first = 0, end = 0; first < std::ssize(rivals); first = end) {
    const auto before = close.size();
    double best = -std::numeric_limits<double>::infinity();
    const auto number = rivals[static_cast<std::size_t>(first)];
    for (end = first; end < std::ssize(rivals); ++end) {
      if (rivals[static_cast<std::size_t>(end)] != number) break;
      best = std::max(best, scores(row, end));
    }
    for (auto p = first; p < end; ++p)
      if (!(scores(row, p) < best - margin)) close.push_back(p);
    if (close.size() == before + 1) close.pop_back();
  }
  return close;
}

}  // namespace

bool RoughScoring::pays(const Trajectories& data, const PolicyStack& stack) {
  const auto is_finite = [](float x) { return std::isfinite(x); };
  return data.steps() > kFewSteps && RoughPolicy::is_possible(stack.architecture()) &&
         std::ranges::all_of(stack.parameters(), [&](const StackParameter& parameter) {
           return std::ranges::all_of(parameter.values, is_finite);
         });
}

RoughScoring::RoughScoring(const NetworkView& view, const PolicyStack& stack,
                           std::vector<std::int64_t> rivals, const Scoring& scoring,
                           const Workers& workers)
    : view_(view),
      rivals_(std::move(rivals)),
      scoring_(scoring),
      architecture_(stack.architecture()),
      policies_(load_policies(stack)) {
  std::vector<std::optional<RoughPolicy>> rounded(2 * policies_.size());
  workers.chunks(std::ssize(rounded), 1, [&](std::int64_t i, std::int64_t) {
    using enum RoughPolicy::Numerals;
    rounded[static_cast<std::size_t>(i)].emplace(stack, i / 2, i % 2 == 0 ? kBytes : kShorts);
  });
  for (std::size_t i = 0; i < rounded.size(); ++i)
    (i % 2 == 0 ? in_bytes_ : in_shorts_).push_back(std::move(*rounded[i]));
}

bool RoughScoring::Margins::are_small() const { return of_shorts <= kWidestMargin; }

RoughScoring::Margins RoughScoring::margins(const Trajectories& data, std::span<const float> common,
                                            const Workers& workers) const {
  const Scored scored{data, scoring_, common};
  std::vector<Margins> off(static_cast<std::size_t>(kWindows));
  workers.chunks(kWindows, 1, [&](std::int64_t window, std::int64_t) {
    // From trajectories all over the data, and from their beginnings to their ends.
    const auto episode = window * data.episodes() / kWindows;
    const auto steps = std::min(kSideBySide, data.length(episode));
    if (steps == 0) return;
    const auto begin =
        data.offsets[episode] + (data.length(episode) - steps) * window / (kWindows - 1);
    StepBlock block(data, view_);
    BlockScorer scorer(block, architecture_);
    RoughBlockScorer rough_scorer(block, architecture_);
    block.look(begin, begin + steps);
    rough_scorer.look();
    const auto mean = [&](std::span<float> log_probs) {
      scored.count_steps(begin, log_probs);
      return std::accumulate(log_probs.begin(), log_probs.end(), 0.0) / static_cast<double>(steps);
    };
    auto& [of_bytes, of_shorts] = off[static_cast<std::size_t>(window)];
    for (std::size_t p = 0; p < policies_.size(); ++p) {
      const double exact = mean(scorer.score(policies_[p]));
      of_bytes = std::max(of_bytes, std::abs(mean(rough_scorer.score(in_bytes_[p])) - exact));
      of_shorts = std::max(of_shorts, std::abs(mean(rough_scorer.score(in_shorts_[p])) - exact));
    }
  });
  Margins margins;
  for (const auto& [of_bytes, of_shorts] : off) {
    margins.of_bytes = std::max(margins.of_bytes, kTimesSeen * of_bytes);
    margins.of_shorts = std::max(margins.of_shorts, kTimesSeen * of_shorts);
  }
  return margins;
}

Matrix RoughScoring::score(const Trajectories& data, std::span<const float> common,
                           const Margins& margins, const Workers& workers) const {
  Matrix result(data.episodes(), std::ssize(policies_));
  std::vector<std::int64_t> all(policies_.size());
  std::iota(all.begin(), all.end(), 0);
  const Scored scored{data, scoring_, common};
  workers.chunks(
      data.episodes(), scored.episodes_at_once(), [&](std::int64_t first, std::int64_t last) {
        StepBlock block(data, view_);
        BlockScorer scorer(block, architecture_);
        RoughBlockScorer rough_scorer(block, architecture_);
        // Scores trajectories [begin, end) under some policies by what log_probs(policy) says.
        const auto score = [&](std::int64_t begin, std::int64_t end,
                               std::span<const std::int64_t> which, const auto& log_probs) {
          if (which.empty()) return;
          for (auto i = begin; i < end; ++i)
            for (const auto p : which) result(i, p) = 0.0;
          scored.for_each_block(
              begin, end, workers, [&](std::int64_t from, std::int64_t to, std::int64_t episode) {
                block.look(from, to);
                rough_scorer.look();
                for (const auto p : which)
                  scored.add(from, log_probs(static_cast<std::size_t>(p)), episode, p, result);
              });
        };
        const auto in_bytes = [&](std::size_t p) { return rough_scorer.score(in_bytes_[p]); };
        const auto in_shorts = [&](std::size_t p) { return rough_scorer.score(in_shorts_[p]); };
        const auto in_floats = [&](std::size_t p) { return scorer.score(policies_[p]); };
        const auto close = [&](std::int64_t i, double margin) {
          return close_ones(result, i, rivals_, margin * static_cast<double>(data.length(i)));
        };
        const bool bytes_first = margins.of_bytes <= kWidestMargin;
        if (bytes_first)
          score(first, last, all, in_bytes);
        else
          score(first, last, all, in_shorts);
        for (auto i = first; i < last; ++i) {
          if (bytes_first) score(i, i + 1, close(i, margins.of_bytes), in_shorts);
          score(i, i + 1, close(i, margins.of_shorts), in_floats);
        }
      });
  return result;
}

}  // namespace kindred
