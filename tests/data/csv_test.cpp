#include "kindred/data/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/core/random.h"

namespace kindred {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string complaint(const std::string& text) {
  try {
    parse_csv(text, "'a.csv'");
    return "";
  } catch (const DataFormatError& error) {
    return error.what();
  }
}

TEST(Csv, LineEndsMarksAndEmptyLinesDoNotMatter) {
  for (const std::string text :
       {"a,b\n1,2\n3,4\n", "a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4\r",
        "\xef\xbb\xbf\x61,b\n1,2\n3,4\n", "\n\na,b\n\n1,2\n3,4\n\n\n", " a ,\tb\n 1,2 \n3 , 4\n"}) {
    const auto table = parse_csv(text, "x");
    EXPECT_THAT(table.header, ElementsAre("a", "b")) << text;
    ASSERT_EQ(table.rows.size(), 2u) << text;
    EXPECT_THAT(table.rows[0].fields, ElementsAre("1", "2")) << text;
    EXPECT_THAT(table.rows[1].fields, ElementsAre("3", "4")) << text;
  }
}

TEST(Csv, QuotedFieldsHoldAnything) {
  const auto table =
      parse_csv("a,\"b, c\"\n\"two\r\nlines\",\"say \"\"hi\"\"\"\n\"\", \" x \" \n,\n", "x");
  EXPECT_THAT(table.header, ElementsAre("a", "b, c"));
  ASSERT_EQ(table.rows.size(), 3u);
  EXPECT_THAT(table.rows[0].fields, ElementsAre("two\r\nlines", "say \"hi\""));
  EXPECT_THAT(table.rows[1].fields, ElementsAre("", " x "));
  EXPECT_THAT(table.rows[2].fields, ElementsAre("", ""));
  EXPECT_EQ(table.rows[0].line, 2);
  EXPECT_EQ(table.rows[1].line, 4);
  EXPECT_EQ(table.column("b, c"), 1u);
  EXPECT_EQ(table.column("c"), std::nullopt);
}

TEST(Csv, ProblemsNameTheirLine) {
  EXPECT_THAT(complaint(""), HasSubstr("'a.csv': empty"));
  EXPECT_THAT(complaint("\n\r\n"), HasSubstr("'a.csv': empty"));
  EXPECT_EQ(complaint("a,b\n1,2\n\n1,2,3\n"),
            "'a.csv' line 4: found 3 fields, expected 2 as in the header");
  EXPECT_EQ(complaint("a,b\n1,\"2\n3,4\n"),
            "'a.csv' line 2: a quoted field is not closed; end it with a '\"'");
  EXPECT_THAT(complaint("a,b\n\"1\"x,2\n"), HasSubstr("'a.csv' line 2: expected a comma"));
}

TEST(Csv, WrittenFieldsComeBack) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a\"b,c"), "\"a\"\"b,c\"");
  Random random(1, "csv");
  const std::string alphabet = "ab \t,\"\r\n\xef\xbb\xbf";
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<std::string> fields(1 + random.below(3));
    std::string text;
    for (auto& field : fields) {
      for (auto n = random.below(6); n > 0; --n) field += alphabet[random.below(alphabet.size())];
      if (!text.empty()) text += ',';
      text += csv_field(field);
    }
    ASSERT_EQ(parse_csv(text, "x").header, fields) << text;
  }
}

TEST(Csv, MutatedTextNeverCrashes) {
  Random random(2, "csv");
  const std::string sound = "episode,label,margin\r\n\"a, b\",0,1.5\r\n\"say \"\"c\"\"\",1,2\r\n";
  int accepted = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string text = sound;
    for (auto changes = 1 + random.below(5); changes > 0; --changes) {
      const auto at = random.below(text.size());
      switch (random.below(4)) {
        case 0:
          text[at] = static_cast<char>(random.below(256));
          break;
        case 1:
          text[at] = "\",\r\n"[random.below(4)];
          break;
        case 2:
          text.erase(at, 1 + random.below(8));
          break;
        default:
          text.insert(at, text.substr(random.below(text.size()), random.below(8)));
      }
      if (text.empty()) break;
    }
    try {
      const auto table = parse_csv(text, "x");
      for (const auto& row : table.rows) ASSERT_EQ(row.fields.size(), table.header.size());
      ++accepted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_LT(accepted, 4900);
}

}  // namespace
}  // namespace kindred
