#include "kindred/render/plot.h"

namespace kindred::render {
namespace {

constexpr double kPlotText = 12.0;

}  // namespace

void Plot::draw_axes(Svg& svg, const Ticks& x, const Ticks& y) const {
  const double right = corner_.x + size_.width, floor = corner_.y + size_.height;
  svg.rectangle(corner_, size_, {.fill = theme_.floor});
  Outline lines;
  for (const double value : x.values) lines.move({x_(value), corner_.y}).line({x_(value), floor});
  for (const double value : y.values) lines.move({corner_.x, y_(value)}).line({right, y_(value)});
  svg.path(lines, {.stroke = theme_.faint});
  for (std::size_t i = 0; i < x.values.size(); ++i)
    svg.text(
        {x_(x.values[i]), floor + 15.0}, x.labels[i],
        {.fill = theme_.muted, .size = kPlotText, .anchor = Anchor::kMiddle, .role = "x-tick"});
  for (std::size_t i = 0; i < y.values.size(); ++i)
    svg.text({corner_.x - 6.0, y_(y.values[i]) + 4.0}, y.labels[i],
             {.fill = theme_.muted, .size = kPlotText, .anchor = Anchor::kEnd, .role = "y-tick"});
}

void Plot::name_axes(Svg& svg, const std::string& x, const std::string& y) const {
  const TextLook look{.fill = theme_.text, .size = kPlotText, .anchor = Anchor::kMiddle};
  svg.text({corner_.x + 0.5 * size_.width, corner_.y + size_.height + kBelow + kAxisName - 4.0}, x,
           look);
  svg.text({corner_.x - kLeft + 8.0, corner_.y + 0.5 * size_.height}, y, look);
}

}  // namespace kindred::render
