#include "kindred/conflicts/picture.h"

#include <cmath>
#include <numbers>

#include "kindred/core/words.h"
#include "kindred/render/svg.h"
#include "kindred/render/theme.h"

namespace kindred {
namespace {

using render::Point;

constexpr double kWidth = 560.0, kHeight = 600.0, kRadius = 220.0, kGap = 1.5;
constexpr Point kCentre{kWidth / 2.0, 44.0 + kRadius + 26.0};

using conflicts::at;

/// Around the circle, with a gap of some places between two groups.
std::vector<double> places(const ConflictSample& sample, std::span<const std::int32_t> groups) {
  std::vector<double> made;
  double next = 0.0;
  for (std::size_t i = 0; i < sample.episodes.size(); ++i) {
    if (i > 0 && groups[at(sample.episodes[i])] != groups[at(sample.episodes[i - 1])]) next += kGap;
    made.push_back(next);
    next += 1.0;
  }
  for (auto& place : made) place *= 2.0 * std::numbers::pi / (next + kGap);
  return made;
}

Point on_circle(double angle, double radius) {
  return {kCentre.x + radius * std::sin(angle), kCentre.y - radius * std::cos(angle)};
}

/// Names stand outside the circle.
render::Anchor beside(double angle) {
  const double side = std::sin(angle);
  return side > 0.3    ? render::Anchor::kStart
         : side < -0.3 ? render::Anchor::kEnd
                       : render::Anchor::kMiddle;
}

}  // namespace

std::string draw_conflicts(const ConflictStudy& study, const Trajectories& data,
                           std::span<const std::int32_t> groups,
                           const ConflictPictureOptions& options) {
  const auto sample = sample_conflicts(study, groups, options.count);
  const auto& theme = render::theme(options.dark);
  render::Svg svg({kWidth, kHeight}, "Conflict graph", theme.background);
  svg.text({20.0, 28.0}, "Who cannot be of one policy",
           {.fill = theme.text, .size = 15.0, .bold = true});
  const auto angles = places(sample, groups);
  const auto group_of = [&](std::int32_t i) { return groups[at(sample.episodes[at(i)])]; };
  std::int64_t inside = 0;
  for (const bool within : {false, true})  // those that matter on top
    for (const auto& [a, b] : sample.edges) {
      if ((group_of(a) == group_of(b)) != within) continue;
      inside += within;
      const auto from = on_circle(angles[at(a)], kRadius), to = on_circle(angles[at(b)], kRadius);
      render::Outline outline;
      outline.move(from).curve(render::middle(kCentre, render::middle(from, to)), to);
      svg.path(outline, {.stroke = within ? render::kVermillion : theme.muted,
                         .width = within ? 1.6 : 0.7,
                         .opacity = within || sample.edges.size() < 60 ? 0.9 : 0.4});
    }
  const bool few = sample.episodes.size() <= 24;
  for (std::int32_t i = 0; i < std::ssize(sample.episodes); ++i) {
    const auto& id = data.ids[at(sample.episodes[at(i)])];
    svg.circle(on_circle(angles[at(i)], kRadius), few ? 9.0 : 5.0,
               {.fill = theme.group(group_of(i)),
                .stroke = theme.background,
                .title = fmt::format("trajectory {}, policy {}", id, group_of(i))});
    if (few)
      svg.text(on_circle(angles[at(i)], kRadius + 15.0) + Point{0.0, 4.0}, id,
               {.fill = theme.muted, .size = 11.0, .anchor = beside(angles[at(i)])});
  }
  const auto shown = std::ssize(sample.episodes);
  svg.text({20.0, kHeight - 34.0},
           fmt::format("{} of {} trajectories, coloured by policy; a line joins two that did",
                       grouped(shown), grouped(data.episodes())),
           {.fill = theme.muted, .size = 12.0});
  svg.text({20.0, kHeight - 16.0},
           fmt::format("different things in one state: {} lines, {} within a policy",
                       grouped(std::ssize(sample.edges)), grouped(inside)),
           {.fill = theme.muted, .size = 12.0});
  return std::move(svg).finish();
}

}  // namespace kindred
