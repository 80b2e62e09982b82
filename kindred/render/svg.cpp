#include "kindred/render/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace kindred::render {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Length of the UTF-8 sequence at the start of `text` if XML allows its character, else 0.
std::size_t valid_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' || first == '\r';
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || length > text.size()) return 0;
  std::uint32_t code = first & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::uint32_t kShortest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  const bool allowed = code >= kShortest[length] && code <= 0x10FFFF && !surrogate &&
                       code != 0xFFFE && code != 0xFFFF;
  return allowed ? length : 0;
}

// For estimates of width, by the wider among common sans-serif fonts.
constexpr std::string_view kNarrow = " !'(),-./:;I[]fijlrt|";
constexpr std::string_view kWide = "%@MWmw";

bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

std::string place(Point p) { return fmt::format("{} {}", tenths(p.x), tenths(p.y)); }

std::string list(std::span<const Point> points) {
  std::string text;
  for (const auto& p : points) {
    if (!text.empty()) text += ' ';
    text += place(p);
  }
  return text;
}

std::string attribute(std::string_view name, std::string_view value) {
  return value.empty() ? "" : fmt::format(" {}=\"{}\"", name, escaped(value));
}

std::string paint(const Look& look) {
  std::string text = attribute("class", look.role) + attribute("fill", look.fill);
  if (look.stroke != "none") {
    text += attribute("stroke", look.stroke) + attribute("stroke-width", tenths(look.width)) +
            attribute("stroke-dasharray", look.dash);
  }
  if (look.opacity < 1.0) text += fmt::format(" opacity=\"{:.2g}\"", look.opacity);
  return text;
}

std::string_view name_of(Anchor anchor) {
  return anchor == Anchor::kMiddle ? "middle" : anchor == Anchor::kEnd ? "end" : "";
}

}  // namespace

Point tile(std::size_t i, std::size_t columns, Size size) {
  const auto row = i / columns, column = i % columns;
  return {static_cast<double>(column) * size.width, static_cast<double>(row) * size.height};
}

std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const auto length = valid_sequence(text);
    switch (length == 0 ? '\0' : text.front()) {
      case '\0':
        result += kReplacement;
        break;
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string tenths(double number) {
  std::string text = fmt::format("{:.1f}", number);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

double width_of(std::string_view text, double size, bool bold) {
  double width = 0.0;  // in the size of the font
  for (const char c : text)
    if (begins_character(c))
      width += kNarrow.find(c) != kNarrow.npos ? 0.4 : kWide.find(c) != kWide.npos ? 0.98 : 0.64;
  return width * size * (bold ? 1.12 : 1.0);
}

std::string shortened(std::string_view text, double width, double size, bool bold) {
  if (width_of(text, size, bold) <= width) return std::string(text);
  std::string kept(text);
  while (!kept.empty() && width_of(kept, size, bold) + width_of(".", size, bold) > width) {
    while (!begins_character(kept.back())) kept.pop_back();
    kept.pop_back();
  }
  return kept + "…";
}

Outline& Outline::add(char command, Point p) {
  text_ += command;
  text_ += place(p);
  return *this;
}

Outline& Outline::move(Point to) { return add('M', to); }
Outline& Outline::line(Point to) { return add('L', to); }

Outline& Outline::curve(Point control, Point to) {
  add('Q', control);
  return add(' ', to);
}

Outline& Outline::square(Point corner, double side) {
  move(corner);
  text_ += fmt::format("h{0}v{0}h-{0}z", tenths(side));
  return *this;
}

Svg::Svg(Size size, std::string_view title, std::string_view background) {
  text_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
      "viewBox=\"0 0 {0} {1}\" role=\"img\" font-family=\"sans-serif\" "
      "stroke-linecap=\"round\" stroke-linejoin=\"round\">\n<title>{2}</title>\n",
      tenths(size.width), tenths(size.height), escaped(title));
  rectangle({0.0, 0.0}, size, {.fill = std::string(background)});
}

void Svg::shape(std::string_view name, std::string_view geometry, const Look& look) {
  fmt::format_to(std::back_inserter(text_), "<{} {}{}", name, geometry, paint(look));
  if (look.title.empty())
    text_ += "/>\n";
  else
    fmt::format_to(std::back_inserter(text_), "><title>{}</title></{}>\n", escaped(look.title),
                   name);
}

void Svg::rectangle(Point corner, Size size, const Look& look, double radius) {
  shape("rect",
        fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}", tenths(corner.x),
                    tenths(corner.y), tenths(size.width), tenths(size.height),
                    radius > 0.0 ? attribute("rx", tenths(radius)) : ""),
        look);
}

void Svg::circle(Point centre, double radius, const Look& look) {
  shape("circle",
        fmt::format("cx=\"{}\" cy=\"{}\" r=\"{}\"", tenths(centre.x), tenths(centre.y),
                    tenths(radius)),
        look);
}

void Svg::line(Point from, Point to, const Look& look) {
  shape("line",
        fmt::format("x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"", tenths(from.x), tenths(from.y),
                    tenths(to.x), tenths(to.y)),
        look);
}

void Svg::polyline(std::span<const Point> points, const Look& look) {
  shape("polyline", fmt::format("points=\"{}\"", list(points)), look);
}

void Svg::polygon(std::span<const Point> points, const Look& look) {
  shape("polygon", fmt::format("points=\"{}\"", list(points)), look);
}

void Svg::path(const Outline& outline, const Look& look) {
  shape("path", fmt::format("d=\"{}\"", outline.text()), look);
}

void Svg::text(Point at, std::string_view text, const TextLook& look) {
  fmt::format_to(
      std::back_inserter(text_), "<text x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}{}{}{}>{}</text>\n",
      tenths(at.x), tenths(at.y), tenths(look.size), attribute("class", look.role),
      attribute("fill", look.fill), attribute("text-anchor", name_of(look.anchor)),
      look.bold ? attribute("font-weight", "bold") : "",
      look.halo.empty()
          ? ""
          : attribute("stroke", look.halo) + " stroke-width=\"3\" paint-order=\"stroke\"",
      escaped(text));
}

void Svg::open_group(std::string_view role, std::string_view title) {
  fmt::format_to(std::back_inserter(text_), "<g{}>\n", attribute("class", role));
  if (!title.empty())
    fmt::format_to(std::back_inserter(text_), "<title>{}</title>\n", escaped(title));
}

void Svg::close_group() { text_ += "</g>\n"; }

std::string Svg::finish() && {
  text_ += "</svg>\n";
  return std::move(text_);
}

}  // namespace kindred::render
