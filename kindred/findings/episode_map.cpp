#include "kindred/findings/episode_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "kindred/core/random.h"
#include "kindred/findings/principal_axes.h"

namespace kindred::findings {
namespace {

constexpr double kSureness = 3.0;      // of the median margin, once scores are divided
constexpr std::int64_t kOrderedK = 8;  // corners of more clusters keep their order
constexpr double kShake = 0.012;       // of the map's width
constexpr double kCornerShake = 0.04;  // at corners, where most points lie

struct Spot {
  double x = 0.0;
  double y = 0.0;
};

struct Axis {
  std::string label;  // empty: none is drawn
  double low = 0.0;
  double high = 1.0;
};

/// A random step of about this length: equal points would hide each other.
Spot shaken(Random& random, double length) {
  const double x = 0.7 * length * random.normal();
  return {x, 0.7 * length * random.normal()};
}

/// A little wider than the finite values.
Axis axis_over(std::string label, const std::vector<Spot>& spots, double Spot::*coordinate) {
  double low = std::numeric_limits<double>::max(), high = -low;
  for (const auto& spot : spots)
    if (std::isfinite(spot.*coordinate)) {
      low = std::min(low, spot.*coordinate);
      high = std::max(high, spot.*coordinate);
    }
  if (low > high) low = high = 0.0;
  // Where all are the same but for rounding, the axis has round numbers around them.
  const bool same = high - low <= 1e-9 * std::max(1.0, std::abs(high));
  const double margin = same ? 1.0 : 0.03 * (high - low);
  return {std::move(label), low - margin, high + margin};
}

/// Moves every spot by at most `share` of the axes.
void shake(std::vector<Spot>& spots, const Axis& x, const Axis& y, double share) {
  Random random(0, "map");
  for (auto& spot : spots) {
    const Spot by = shaken(random, share);
    spot.x += by.x * (x.high - x.low);
    spot.y += by.y * (y.high - y.low);
  }
}

Json axis_json(const Axis& axis) {
  return {{"label", axis.label.empty() ? Json() : Json(axis.label)},
          {"low", axis.low},
          {"high", axis.high}};
}

Json view(std::string title, std::string explanation, const std::vector<Spot>& spots, const Axis& x,
          const Axis& y, const std::vector<Spot>& corners = {}) {
  std::vector<std::uint16_t> points;
  points.reserve(2 * spots.size());
  const auto put = [&](double value, const Axis& axis) {
    const double share = (value - axis.low) / (axis.high - axis.low);
    points.push_back(static_cast<std::uint16_t>(
        std::isfinite(share) ? std::lround(65535.0 * std::clamp(share, 0.0, 1.0)) : 0));
  };
  for (const auto& spot : spots) put(spot.x, x), put(spot.y, y);
  auto corner_list = Json::array();
  for (const auto& corner : corners)
    corner_list.push_back({{"x", brief(corner.x)}, {"y", brief(corner.y)}});
  return {{"title", std::move(title)}, {"explanation", std::move(explanation)},
          {"points", column(points)},  {"x", axis_json(x)},
          {"y", axis_json(y)},         {"corners", corners.empty() ? Json() : corner_list}};
}

/// What scores are divided by so that half of the episodes lie near the middle, not all in corners.
double temperature(const RunData& found) {
  std::vector<double> margins;
  for (const double margin : found.margin)
    if (std::isfinite(margin)) margins.push_back(margin);
  if (margins.empty()) return 1.0;
  const auto middle = margins.begin() + static_cast<std::ptrdiff_t>(margins.size() / 2);
  std::ranges::nth_element(margins, middle);
  return *middle > 0.0 ? *middle / kSureness : 1.0;
}

/// [episodes, k]: shares of the tempered likelihoods, which sum to 1.
Matrix shares(const RunData& found, double divisor) {
  Matrix result(found.scores.rows, found.k());
  for (std::int64_t i = 0; i < result.rows; ++i) {
    const auto scores = found.scores.row(i);
    const double best = *std::ranges::max_element(scores);
    double sum = 0.0;
    for (std::int64_t c = 0; c < result.columns; ++c)
      sum += result(i, c) = std::exp((scores[static_cast<std::size_t>(c)] - best) / divisor);
    for (std::int64_t c = 0; c < result.columns; ++c) result(i, c) /= sum;
  }
  return result;
}

/// The order of the corners in which clusters that share episodes are neighbours.
std::vector<std::int64_t> corner_order(const Matrix& shares) {
  const auto k = shares.columns;
  std::vector<std::int64_t> order(static_cast<std::size_t>(k));
  std::iota(order.begin(), order.end(), 0);
  if (k < 4 || k > kOrderedK) return order;
  Matrix shared(k, k);
  for (std::int64_t i = 0; i < shares.rows; ++i)
    for (std::int64_t a = 0; a < k; ++a)
      for (std::int64_t b = 0; b < k; ++b) shared(a, b) += shares(i, a) * shares(i, b);
  auto best = order;
  double most = -1.0;
  do {
    double neighbours = 0.0;
    for (std::size_t c = 0; c < order.size(); ++c)
      neighbours += shared(order[c], order[(c + 1) % order.size()]);
    if (neighbours > most + 1e-9) most = neighbours, best = order;
  } while (std::next_permutation(order.begin() + 1, order.end()));  // turning it changes nothing
  return best;
}

std::string tempered(double divisor) {
  return fmt::format(" Scores are divided by {:.3g} so that the points spread out.", divisor);
}

Json polygon_view(const Matrix& shares, double divisor) {
  const auto order = corner_order(shares);
  std::vector<Spot> corners(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    const double angle =
        2.0 * std::numbers::pi * static_cast<double>(place) / static_cast<double>(order.size());
    corners[static_cast<std::size_t>(order[place])] = {std::sin(angle), std::cos(angle)};
  }
  Random random(0, "map");
  std::vector<Spot> spots;
  for (std::int64_t i = 0; i < shares.rows; ++i) {
    Spot spot = shaken(random, kCornerShake);
    for (std::int64_t c = 0; c < shares.columns; ++c) {
      spot.x += shares(i, c) * corners[static_cast<std::size_t>(c)].x;
      spot.y += shares(i, c) * corners[static_cast<std::size_t>(c)].y;
    }
    spots.push_back(spot);
  }
  const Axis axis{"", -1.15, 1.15};
  return view(
      "Which policy explains it",
      "Each corner is a policy. The better a policy explains a trajectory compared with the "
      "others, the closer the trajectory lies to its corner; between two corners it could be "
      "either's." +
          tempered(divisor) + " Points are jittered a little so that equal ones show.",
      spots, axis, axis, corners);
}

std::string fit_label(const RunData& found) {
  return found.run.centres->sums_over_steps() ? found.score_meaning + " per step under its policy"
                                              : found.score_meaning + " under its policy";
}

Json line_view(const RunData& found, const Matrix& shares, double divisor) {
  std::vector<Spot> spots;
  for (std::int64_t i = 0; i < shares.rows; ++i)
    spots.push_back({shares(i, 1), found.fit[static_cast<std::size_t>(i)]});
  const Axis x{"share of Policy 1", -0.05, 1.05};
  const auto y = axis_over(fit_label(found), spots, &Spot::y);
  shake(spots, x, y, kShake);
  return view("Which policy explains it",
              "Left: Policy 0 explains the trajectory better; right: Policy 1 does; in the middle "
              "it could be either's. Lower down, even the better one explains it badly." +
                  tempered(divisor),
              spots, x, y);
}

Json single_view(const RunData& found) {
  std::vector<Spot> spots;
  for (std::int64_t i = 0; i < found.data.episodes(); ++i)
    spots.push_back(
        {static_cast<double>(found.data.length(i)), found.fit[static_cast<std::size_t>(i)]});
  return view("How well it is explained",
              "The lower a trajectory lies, the worse the policy explains it.", spots,
              axis_over("steps", spots, &Spot::x), axis_over(fit_label(found), spots, &Spot::y));
}

/// What principal components are taken of: latent vectors, or how much better each policy explains
/// a step than they do on average.
Matrix features(const RunData& found) {
  if (found.latents.rows > 0) return found.latents;
  Matrix result = found.scores;
  for (std::int64_t i = 0; i < result.rows; ++i) {
    double mean = 0.0;
    for (std::int64_t c = 0; c < result.columns; ++c)
      mean += result(i, c) / static_cast<double>(result.columns);
    const double per =
        found.run.centres->sums_over_steps() ? static_cast<double>(found.data.length(i)) : 1.0;
    for (std::int64_t c = 0; c < result.columns; ++c) result(i, c) = (result(i, c) - mean) / per;
  }
  return result;
}

void centre_columns(Matrix& rows) {
  for (std::int64_t c = 0; c < rows.columns; ++c) {
    double mean = 0.0;
    for (std::int64_t i = 0; i < rows.rows; ++i) mean += rows(i, c);
    mean /= static_cast<double>(rows.rows);
    for (std::int64_t i = 0; i < rows.rows; ++i) rows(i, c) -= mean;
  }
}

Json component_view(const RunData& found) {
  Matrix rows = features(found);
  centre_columns(rows);
  const auto axes = principal_axes(rows, 2);

  std::vector<Spot> spots(static_cast<std::size_t>(rows.rows));
  for (std::int64_t i = 0; i < rows.rows; ++i)
    for (std::int64_t c = 0; c < rows.columns; ++c) {
      spots[static_cast<std::size_t>(i)].x += rows(i, c) * axes.directions(0, c);
      spots[static_cast<std::size_t>(i)].y += rows(i, c) * axes.directions(1, c);
    }
  const auto label = [&](std::size_t i) {
    return fmt::format("component {} ({:.0f}% of the variance)", i + 1, 100.0 * axes.shares[i]);
  };
  const auto x = axis_over(label(0), spots, &Spot::x), y = axis_over(label(1), spots, &Spot::y);
  shake(spots, x, y, 0.5 * kShake);
  const bool latent = found.latents.rows > 0;
  return view(
      "Principal components",
      latent ? "The two directions in which the trajectories' latent vectors vary most: points "
               "close together are encoded alike."
             : "The two directions in which the policies' scores per step vary most: points "
               "close together are explained alike.",
      spots, x, y);
}

}  // namespace

Json episode_maps(const RunData& found) {
  auto views = Json::array();
  if (found.k() == 1) {
    views.push_back(single_view(found));
  } else {
    const double divisor = temperature(found);
    const Matrix shared = shares(found, divisor);
    views.push_back(found.k() == 2 ? line_view(found, shared, divisor)
                                   : polygon_view(shared, divisor));
  }
  const auto width = found.latents.rows > 0 ? found.latents.columns : found.k();
  if (width > 2 && std::ranges::all_of(features(found).values,
                                       [](double value) { return std::isfinite(value); }))
    views.push_back(component_view(found));
  return views;
}

}  // namespace kindred::findings
