#include "ecotone/diagnose/suspicious.h"

#include <fmt/format.h>

#include <string>

#include "ecotone/data/formats/csv/csv.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace suspicious_test {

/// 60 rows of an unsuspicious column `a`, a label `y` and a column `c` of these texts.
Dataset table(std::string (*c)(int row), std::string (*y)(int row), const ReadOptions& more = {.label = "y"}) {
  std::string text = "a,c,y,site\n";
  for (int i = 0; i < 60; ++i) text += fmt::format("{},{},{},{}\n", i * 37 % 11, c(i), y(i), i < 40 ? "s" : "t");
  return read_csv({ByteSource::memory(std::move(text), "data.csv")}, more, {}, on(1));
}

std::string two_classes(int i) { return i % 3 == 0 ? "p" : "q"; }
std::string number(int i) { return std::to_string(i * 7 % 60) + ".5"; }

std::vector<std::string> codes(const Dataset& data) {
  std::vector<std::string> found;
  for (const SuspiciousColumn& one : suspicious_columns(data, on(2))) found.push_back(one.column + " " + one.code);
  return found;
}

using Codes = std::vector<std::string>;

TEST(Suspicious, ColumnsThatTellTheClass) {
  const ReadOptions options{.label = "y", .ignore = {"site"}};
  EXPECT_EQ(codes(table([](int i) { return std::string(i % 3 == 0 ? "yes" : "no"); }, two_classes, options)),
            Codes{"c label_leak"});
  EXPECT_EQ(codes(table([](int i) { return fmt::format("{}.5", i % 3 == 0 ? 100 + i : -i); }, two_classes, options)),
            Codes{"c label_leak"});
  EXPECT_EQ(codes(table([](int i) { return fmt::format("{}.5", i * 17 % 23); }, two_classes, options)), Codes{});
}

TEST(Suspicious, ColumnsThatTellTheNumber) {
  const ReadOptions options{.label = "y", .ignore = {"site"}, .task = Task::regress};
  EXPECT_EQ(codes(table([](int i) { return fmt::format("{}.25", 2 * (i * 7 % 60)); }, number, options)),
            Codes{"c label_leak"});
  EXPECT_EQ(codes(table([](int i) { return fmt::format("{}.25", i * 13 % 60); }, number, options)), Codes{});
}

TEST(Suspicious, Ids) {
  const ReadOptions options{.label = "y", .ignore = {"site"}};
  EXPECT_EQ(codes(table([](int i) { return std::to_string(9000 + i * 7 % 60); }, two_classes, options)),
            Codes{"c id_like"});
  EXPECT_EQ(codes(table([](int i) { return fmt::format("P{}", i); }, two_classes, options)), Codes{"c id_like"});
  // Counts that differ by chance, and dates.
  EXPECT_EQ(codes(table([](int i) { return std::to_string(i * 7919 % 60 * 4001 + i); }, two_classes, options)),
            Codes{});
  EXPECT_EQ(
      codes(table([](int i) { return fmt::format("2020-{:02}-{:02}", 1 + i / 28, 1 + i % 28); }, two_classes, options)),
      Codes{});
}

TEST(Suspicious, LabelsOfTargetsAreNotUsed) {
  const ReadOptions options{.label = "y", .domain = "site", .target = {"t"}};
  // It tells the label of the sources alone.
  EXPECT_EQ(codes(table([](int i) { return std::string(i < 40 && i % 3 == 0 ? "yes" : "no"); }, two_classes, options)),
            Codes{"c label_leak"});
  // With few rows of sources nothing can be said.
  EXPECT_EQ(codes(table([](int i) { return std::string(i % 3 == 0 ? "yes" : "no"); }, two_classes,
                        {.label = "y", .domain = "site", .target = {"s"}})),
            Codes{});
}

TEST(Suspicious, WarningsOrErrors) {
  const Dataset data =
      table([](int i) { return fmt::format("P{}", i); }, two_classes, {.label = "y", .ignore = {"site"}});
  Recorder seen;
  warn_suspicious(data, false, Context({.threads = 1, .observer = &seen}));
  ASSERT_EQ(seen.warnings.size(), 1);
  const std::string text =
      "column 'c' has another text in every row, like an id; leave it out with --id c or --ignore c";
  EXPECT_EQ(seen.warnings[0], "id_like: " + text);
  const Error error = error_of([&] { warn_suspicious(data, true, on(1)); });
  EXPECT_EQ(error.code(), "suspicious_columns");
  EXPECT_EQ(error.what(), text);
}

}  // namespace suspicious_test
}  // namespace ecotone::test
