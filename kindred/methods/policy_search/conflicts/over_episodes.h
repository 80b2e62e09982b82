// Evidence is counted over episodes: a mean over them, and how surely it is not 0.
#pragma once

#include <cstdint>
#include <map>

namespace kindred::policy_search {

/// A mean over episodes, and by how much each of them moves it.
/// That must have met for anything to be said: a standard error needs so many.
inline constexpr std::int64_t kEpisodesForAnError = 3;

struct EpisodeMean {
  double mean = 0.0, error = 0.0, freedom = 0.0;
  std::map<std::int32_t, double> moves;

  /// Standard errors of a normal variable that is as likely.
  double z() const;
};

/// What the steps of an episode sum to, and how many they are.
struct EpisodeSum {
  double sum = 0.0, steps = 0.0;
};

/// The root of its steps is what an episode counts, and none counts that is much farther than usual
/// from the middle.
EpisodeMean over_episodes(const std::map<std::int32_t, EpisodeSum>& episodes);

/// The sum of two means over different episodes.
EpisodeMean sum_of(const EpisodeMean& a, const EpisodeMean& b);

/// Of a normal variable as likely as Student's t of so many degrees of freedom (Wallace 1959).
double as_normal(double t, double freedom);

}  // namespace kindred::policy_search
