// An SVG picture under construction: few primitives, text escaped, numbers rounded to a tenth of a
// pixel. It holds no ids, so that several pictures can share one HTML page.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kindred::render {

struct Point {
  double x = 0.0;
  double y = 0.0;
};
inline Point operator+(Point a, Point b) { return {a.x + b.x, a.y + b.y}; }
inline Point operator-(Point a, Point b) { return {a.x - b.x, a.y - b.y}; }
inline Point operator*(double factor, Point p) { return {factor * p.x, factor * p.y}; }
inline Point middle(Point a, Point b) { return 0.5 * (a + b); }

struct Size {
  double width = 0.0;
  double height = 0.0;
};

/// The upper left corner of the i-th of many equal tiles, `columns` in a row.
Point tile(std::size_t i, std::size_t columns, Size size);

/// How a shape looks and what it stands for.
struct Look {
  std::string fill = "none";
  std::string stroke = "none";
  double width = 1.0;      ///< Of the stroke.
  double opacity = 1.0;    ///< Of the whole shape.
  std::string dash = "";   ///< Lengths of strokes and gaps, or empty: drawn through.
  std::string role = "";   ///< The class of the element, or empty.
  std::string title = "";  ///< Read aloud, or shown under the mouse.
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextLook {
  std::string fill = "";
  double size = 13.0;
  Anchor anchor = Anchor::kStart;
  bool bold = false;
  std::string halo = "";  ///< The colour of a seam that keeps it readable over lines, or empty.
  std::string role = "";  ///< The class of the element, or empty.
};

/// Steps of a path's outline, in the language of the `d` attribute.
class Outline {
 public:
  Outline& move(Point to);
  Outline& line(Point to);
  Outline& curve(Point control, Point to);  ///< Quadratic.
  Outline& square(Point corner, double side);
  const std::string& text() const { return text_; }

 private:
  Outline& add(char command, Point p);
  std::string text_;
};

class Svg {
 public:
  Svg(Size size, std::string_view title, std::string_view background);

  void rectangle(Point corner, Size size, const Look& look, double radius = 0.0);
  void circle(Point centre, double radius, const Look& look);
  void line(Point from, Point to, const Look& look);
  void polyline(std::span<const Point> points, const Look& look);
  void polygon(std::span<const Point> points, const Look& look);
  void path(const Outline& outline, const Look& look);
  /// `at` is on the baseline.
  void text(Point at, std::string_view text, const TextLook& look);

  /// What draw() draws belongs together and is called `title`.
  template <class Draw>
  void group(std::string_view role, std::string_view title, Draw draw) {
    open_group(role, title);
    draw();
    close_group();
  }

  /// The document; nothing can be drawn any more.
  std::string finish() &&;

 private:
  void open_group(std::string_view role, std::string_view title);
  void close_group();
  void shape(std::string_view name, std::string_view geometry, const Look& look);

  std::string text_;
};

/// As character data or inside an attribute: markup is escaped, and what no XML document may hold
/// (control characters, broken UTF-8) becomes U+FFFD.
std::string escaped(std::string_view text);

/// The least text that means `number` to a tenth: "12.5", "3", "0".
std::string tenths(double number);

/// A careful estimate of how wide a text is; fonts differ, so it errs on the wide side.
double width_of(std::string_view text, double size, bool bold = false);

/// `text`, or as much of its beginning as fits into `width` with an ellipsis.
std::string shortened(std::string_view text, double width, double size, bool bold = false);

}  // namespace kindred::render
