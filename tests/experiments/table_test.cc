#include "experiments/base/table.h"

#include "gtest/gtest.h"

namespace forerun {
namespace {

TEST(Table, MarkdownLinesUp) {
  const Table table = {
      .header = {"arm", "tok/s"}, .rows = {{"baseline", "9.1"}, {"né|x", "120.0"}}, .text_columns = 1};
  EXPECT_EQ(Markdown(table),
            "| arm      | tok/s |\n"
            "|----------|------:|\n"
            "| baseline |   9.1 |\n"
            "| né\\|x    | 120.0 |\n");
}

TEST(Table, CsvQuotesWhatNeedsIt) {
  const Table table = {.header = {"a", "b"}, .rows = {{"x,y", "say \"hi\""}, {"", "1"}}, .text_columns = 1};
  EXPECT_EQ(Csv(table), "a,b\n\"x,y\",\"say \"\"hi\"\"\"\n,1\n");
}

}  // namespace
}  // namespace forerun
