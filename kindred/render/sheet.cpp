#include "kindred/render/sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kindred::render {
namespace {

constexpr double kMargin = 24.0;
constexpr double kGap = 36.0;  // between panels
constexpr double kHeadingSize = 16.0;
constexpr double kSheetText = 13.0;
constexpr double kLine = 20.0;  // from one line of text to the next
constexpr double kSignGap = 8.0;
constexpr double kEntryGap = 22.0;

/// A panel and where it stands.
struct Panel {
  Point corner;
  Size size;
};

struct Layout {
  std::vector<Panel> panels;
  Size size;  // of all panels, from {0, 0}
};

double heading_height(std::span<const Episode> episodes) {
  const bool clustered =
      std::ranges::any_of(episodes, [](auto& e) { return e.cluster.has_value(); });
  return (clustered ? 3.0 : 2.0) * kLine + 10.0;
}

Layout lay_out(const Picture& picture, std::span<const Episode> episodes) {
  Layout layout;
  const double heading = heading_height(episodes);
  Point at{kMargin, kMargin};
  double row_height = 0.0;
  for (std::size_t i = 0; i < episodes.size(); ++i) {
    if (i > 0 && i % picture.columns() == 0)
      at = {kMargin, at.y + row_height + kGap}, row_height = 0.0;
    const Size size = picture.size_of(i);
    layout.panels.push_back({{at.x, at.y + heading}, size});
    row_height = std::max(row_height, heading + size.height);
    layout.size.width = std::max(layout.size.width, at.x + size.width + kMargin);
    at.x += size.width + kGap;
  }
  layout.size.height = at.y + row_height;
  return layout;
}

void draw_heading(Svg& svg, const Episode& episode, const Panel& panel, double height,
                  const Theme& theme) {
  Point at = panel.corner - Point{0.0, height - kHeadingSize};
  const auto write = [&](const std::string& text, double size, bool bold, const std::string& fill,
                         double indent) {
    svg.text(at + Point{indent, 0.0}, shortened(text, panel.size.width - indent, size, bold),
             {.fill = fill, .size = size, .bold = bold});
    at.y += kLine;
  };
  write(episode.heading(), kHeadingSize, true, theme.text, 0.0);
  write(episode.summary(), kSheetText, false, theme.muted, 0.0);
  if (!episode.cluster) return;
  svg.circle(at + Point{5.0, -4.5}, 5.0, {.fill = theme.group(episode.cluster->number)});
  write(episode.cluster->name, kSheetText, false, theme.text, 5.0 + 5.0 + kSignGap);
}

/// From the left end of an entry to its text.
double indent(const LegendEntry& entry) { return entry.width > 0.0 ? entry.width + kSignGap : 0.0; }

/// Calls place(entry, its left end) in lines no wider than `width`; returns the height of them all.
template <class Place>
double flow(const std::vector<LegendEntry>& entries, double width, Place place) {
  Point at{0.0, 0.5 * kLine};
  for (const auto& entry : entries) {
    const double needed = indent(entry) + width_of(entry.text, kSheetText);
    if (at.x > 0.0 && at.x + needed > width) at = {0.0, at.y + kLine + 4.0};
    place(entry, at);
    at.x += needed + kEntryGap;
  }
  return entries.empty() ? 0.0 : at.y + 0.5 * kLine;
}

std::string title_of(std::span<const Episode> episodes) {
  if (episodes.size() == 1) return episodes[0].heading() + ", " + episodes[0].summary();
  return fmt::format("{} episodes", episodes.size());
}

}  // namespace

std::string draw_sheet(const Picture& picture, std::span<const Episode> episodes,
                       const Theme& theme) {
  const Layout layout = lay_out(picture, episodes);
  const auto entries = picture.legend();
  const double width = layout.size.width - 2.0 * kMargin;
  const double legend_height = flow(entries, width, [](auto&, Point) {});
  const Point legend{kMargin, layout.size.height + 16.0};

  Svg svg({std::ceil(layout.size.width), std::ceil(legend.y + legend_height + kMargin)},
          title_of(episodes), theme.background);
  for (std::size_t i = 0; i < episodes.size(); ++i)
    svg.group("episode", episodes[i].heading(), [&] {
      draw_heading(svg, episodes[i], layout.panels[i], heading_height(episodes), theme);
      picture.draw(svg, layout.panels[i].corner, i);
    });
  svg.group("legend", "Legend", [&] {
    flow(entries, width, [&](const LegendEntry& entry, Point at) {
      at = at + legend;
      entry.draw(svg, at + Point{0.5 * entry.width, 0.0});
      svg.text(at + Point{indent(entry), 4.5}, entry.text,
               {.fill = theme.text, .size = kSheetText});
    });
  });
  return std::move(svg).finish();
}

}  // namespace kindred::render
