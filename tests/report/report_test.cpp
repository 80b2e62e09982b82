// The page with a record inside.
#include "kindred/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kindred/core/error.h"

namespace kindred {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ReportPage : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_report_page())
      GTEST_SKIP() << "*** NOT TESTED: built without Node, so without the page";
  }
};

TEST_F(ReportPage, HoldsTheRecord) {
  const auto page = report_page({{"kindred_report", 1}, {"name", "a run"}});
  EXPECT_THAT(page, HasSubstr(R"({"kindred_report":1,"name":"a run"})"));
  EXPECT_THAT(page, Not(HasSubstr("record goes here")));
  EXPECT_EQ(page.rfind("</html>"), page.find("</html>"));
}

TEST_F(ReportPage, FetchesNothing) {
  const auto page = report_page({});
  EXPECT_THAT(page, Not(HasSubstr("<link rel=\"stylesheet\"")));
  EXPECT_THAT(page, Not(::testing::ContainsRegex("<script[^>]* src=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

TEST_F(ReportPage, CannotBeEndedByAName) {
  const auto page = report_page({{"name", "</script><script>alert(1)</script>"}});
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>"));
}

TEST_F(ReportPage, TakesNamesThatAreNotText) {
  EXPECT_THAT(report_page({{"name", "caf\xe9"}}), HasSubstr("caf\xef\xbf\xbd"));
}

}  // namespace
}  // namespace kindred
