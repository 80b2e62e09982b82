#include "kindred/core/words.h"

#include <gtest/gtest.h>

namespace kindred {
namespace {

TEST(Words, TextThatTerminalsCanShowStays) {
  for (const std::string text : {"", "plain 'text'", "ü → 策略 🙂", "tab-free \\x1b"})
    EXPECT_EQ(printable(text), text);
}

TEST(Words, ControlCharactersAreShownNotSent) {
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable("a\nb\tc\r"), "a\\x0ab\\x09c\\x0d");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");  // the escape sequence's beginning in one
  EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0");
  EXPECT_EQ(printable(std::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(printable("two\nlines\x07", "\n"), "two\nlines\\x07");
}

TEST(Words, BytesThatAreNotUtf8AreShownAsNumbers) {
  EXPECT_EQ(printable("caf\xe9"), "caf\\xe9");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // ends too early
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");           // longer than needed
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80!"), "\\xf4\\x90\\x80\\x80!");
  EXPECT_EQ(printable("\xe2\x82\x1b"), "\\xe2\\x82\\x1b");
}

}  // namespace
}  // namespace kindred
