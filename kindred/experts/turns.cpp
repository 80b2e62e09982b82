#include "kindred/experts/turns.h"

#include <algorithm>

namespace kindred {
namespace {

constexpr std::int64_t kRescueLasts = 50;  // steps, before another policy may come to the rescue

}  // namespace

OptionTable TurnOptions::describe() {
  return {
      choice("switch", when, {"never", "once", "rate", "near-failure"},
             "Whether another expert takes over within an episode: once at a random step, at any "
             "step by chance, or where the episode is about to fail."),
      real("switch-rate", rate, 1e-9, 1.0, "The chance at every step, with --switch rate."),
      integer("switch-by", latest, 0, 1'000'000'000,
              "The last step for --switch once; 0: the longest an episode can be."),
      real("switch-share", share, 0.0, 1.0,
           "The share of the episodes in which somebody may take over."),
      integer("hand-over", hand_over, 0, 1'000'000,
              "Steps after it in which either of the two acts, by chance."),
  };
}

Turns::Turns(const TurnOptions& options, std::int64_t policies, std::int64_t first,
             std::int64_t horizon, Random random)
    : options_(options),
      policies_(policies),
      acting_(static_cast<std::int32_t>(first)),
      before_(acting_),
      random_(random),
      may_change_(options.any() && policies > 1 && random_.uniform() < options.share),
      since_(std::max(kRescueLasts, options.hand_over)) {
  const auto latest = options.latest > 0 ? std::min(options.latest, horizon - 1) : horizon - 1;
  if (may_change_ && latest > 0)
    once_at_ = 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(latest)));
}

std::int32_t Turns::next(bool near_failure) {
  if (!may_change_) return acting_;
  if (somebody_takes_over(near_failure)) {
    before_ = acting_;
    const auto others = static_cast<std::uint64_t>(policies_ - 1);
    const auto other = static_cast<std::int32_t>(random_.below(others));
    acting_ = other + (other >= acting_ ? 1 : 0);
    since_ = 0;
  }
  ++step_;
  const bool either = since_++ < options_.hand_over;
  return either && random_.uniform() < 0.5 ? before_ : acting_;
}

bool Turns::somebody_takes_over(bool near_failure) {
  switch (options_.when) {
    case TakeOver::kOnce:
      return step_ == once_at_ && step_ > 0;
    case TakeOver::kRate:
      return step_ > 0 && random_.uniform() < options_.rate;
    case TakeOver::kNearFailure:
      return near_failure && step_ > 0 && since_ >= kRescueLasts;
    default:
      return false;
  }
}

}  // namespace kindred
