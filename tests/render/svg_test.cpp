#include "kindred/render/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/render/drawings.h"

namespace kindred::render {
namespace {

using kindred::testing::Drawn;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Escaped, KeepsMarkupOut) {
  EXPECT_EQ(escaped("a < b & \"c\" > d"), "a &lt; b &amp; &quot;c&quot; &gt; d");
  EXPECT_EQ(escaped("größer 漢字 🙂\tx"), "größer 漢字 🙂\tx");
}

TEST(Escaped, ReplacesWhatNoXmlDocumentMayHold) {
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(escaped(std::string("a\0b\x1b", 4)), "a" + replacement + "b" + replacement);
  EXPECT_EQ(escaped("\xC3"), replacement) << "cut off";
  EXPECT_EQ(escaped("\x80z"), replacement + "z") << "continues nothing";
  EXPECT_EQ(escaped("\xC0\xAF"), replacement + replacement) << "longer than needed";
  EXPECT_EQ(escaped("\xED\xA0\x80"), replacement + replacement + replacement) << "surrogate";
  EXPECT_EQ(escaped("\xEF\xBF\xBF"), replacement + replacement + replacement) << "U+FFFF";
}

TEST(Tenths, AreShort) {
  EXPECT_EQ(tenths(12.0), "12");
  EXPECT_EQ(tenths(12.34), "12.3");
  EXPECT_EQ(tenths(-0.04), "0");
  EXPECT_EQ(tenths(-3.96), "-4");
}

TEST(Shortened, FitsAndCutsBetweenCharacters) {
  EXPECT_EQ(shortened("short", 1000.0, 13.0), "short");
  const auto cut = shortened("ääääääääääääääääääää", 60.0, 13.0);
  EXPECT_TRUE(cut.ends_with("…"));
  EXPECT_LE(width_of(cut, 13.0), 60.0);
  EXPECT_EQ(escaped(cut), cut) << "whole characters only";
  EXPECT_LT(width_of("ill", 13.0), width_of("mmm", 13.0));
}

TEST(Svg, IsADocumentThatScales) {
  Svg svg({300.0, 200.5}, "<title> & more", "#ffffff");
  svg.group("panel", "a \"panel\"", [&] {
    svg.circle({1.0, 2.0}, 3.0, {.fill = "red", .role = "dot", .title = "1 < 2"});
    svg.text({5.0, 6.0}, "x < y & z", {.fill = "#000000", .anchor = Anchor::kEnd});
  });
  const std::string text = std::move(svg).finish();
  const Drawn drawn(text);
  EXPECT_STREQ(drawn.root().Name(), "svg");
  EXPECT_STREQ(drawn.root().Attribute("viewBox"), "0 0 300 200.5");
  EXPECT_STREQ(drawn.root().Attribute("font-family"), "sans-serif");
  EXPECT_STREQ(drawn.root().FirstChildElement("title")->GetText(), "<title> & more");
  ASSERT_EQ(drawn.of("dot").size(), 1u);
  EXPECT_EQ(drawn.of("dot")[0].title, "1 < 2");
  EXPECT_EQ(drawn.of("dot")[0].number("r"), 3.0);
  EXPECT_EQ(drawn.of("panel")[0].title, "a \"panel\"");
  EXPECT_THAT(drawn.texts(), ::testing::ElementsAre("x < y & z"));
  EXPECT_THAT(text, Not(HasSubstr(" id="))) << "several pictures stand in one page";
}

}  // namespace
}  // namespace kindred::render
