#include "data/formats/read_support.h"
#include "ecotone/base/random.h"
#include "ecotone/data/formats/csv/scan.h"

namespace ecotone {
namespace csv_scan_test {

using namespace test;

/// A random table: text with quotes, delimiters and line ends inside, numbers, missing fields, blank lines, both line
/// ends.
std::string random_table(std::uint64_t seed, int rows) {
  Random random(seed, "table");
  static const char* const words[] = {
      "plain", "\"a,b\"",      "\"line\nend\"", "\"\"\"q\"\"\"", "\"cr\r\nlf\"", "in\"side",  "",
      "NA",    "\"x\"\"\ny\"", "\"\n\"",        "\",\"",         "\"\"",         "two words", "\"open\"tail"};
  std::string text = "t,\"n\",d,u,y\n";
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < 5; ++j) {
      if (j) text += ',';
      if (j == 1) {
        text += std::to_string(random.normal());
      } else if (j == 2) {
        text += fmt::format("s{}", random.below(3));
      } else if (j == 4) {
        text += random.below(10) == 0 ? "" : std::to_string(random.below(3));
      } else {
        text += words[random.below(std::size(words))];
      }
    }
    text += random.below(2) ? "\n" : "\r\n";
    if (random.below(10) == 0) text += random.below(2) ? "\n" : "\r\n";
  }
  if (random.below(2)) text.pop_back();
  return text;
}

TEST(CsvScan, SegmentsOfAnySizeFindTheSameRecords) {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const ByteSource source = ByteSource::memory(random_table(seed, 40), "t.csv");
    const std::size_t begin = source.text(0, 64).find('\n') + 1;
    const CsvLayout whole = scan_csv(source, begin, ',', 1U << 20, context_of(1));
    EXPECT_EQ(whole.rows, 40);
    for (const std::size_t bytes : {1, 2, 3, 5, 7, 16, 33, 100, 257}) {
      const CsvLayout parts = scan_csv(source, begin, ',', bytes, context_of(1));
      ASSERT_EQ(parts.rows, whole.rows) << "seed " << seed << ", segments of " << bytes;
      Index rows = 0;
      std::size_t end = begin;
      for (const CsvChunk& chunk : parts.chunks) {
        EXPECT_EQ(chunk.first_row, rows);
        EXPECT_GE(chunk.begin, end);
        rows += chunk.rows;
        end = chunk.end;
      }
    }
  }
}

TEST(CsvScan, ResultsDoNotDependOnSegmentsOrThreads) {
  for (std::uint64_t seed = 20; seed < 24; ++seed) {
    const std::string text = random_table(seed, 60);
    const ReadOptions options{.label = "y", .domain = "d"};
    const Dataset expected = csv(text, options);
    for (const std::size_t bytes : {1, 2, 3, 7, 64, 1000})
      expect_same(csv(text, options, {.segment_bytes = bytes}), expected);
    for (const int threads : {2, 7})
      expect_same(csv(text, options, {.segment_bytes = 50}, context_of(threads)), expected);
    const ReadOptions filtered{.label = "y", .domain = "d", .where = {"n>0", "d!=s1"}};
    const Dataset part = csv(text, filtered);
    for (const std::size_t bytes : {1, 9, 100})
      expect_same(csv(text, filtered, {.segment_bytes = bytes}, context_of(2)), part);
  }
}

TEST(CsvScan, KindDisprovedInALaterSegment) {
  std::string text = "x,late,y\n";
  for (int i = 0; i < 100; ++i) text += fmt::format("{},{},{}\n", i, i % 5, i % 2);
  text += "100,word,maybe\n";
  const Dataset data = csv(text, {.label = "y"}, {.segment_bytes = 64}, context_of(2));
  EXPECT_EQ(data.schema.columns[0].kind, ColumnKind::numeric);
  EXPECT_EQ(data.schema.columns[1].levels, (std::vector<std::string>{"0", "1", "2", "3", "4", "word"}));
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"0", "1", "maybe"}));
  EXPECT_EQ(data.x.to_matrix().rightCols(6).rowwise().sum(), Vector::Ones(101));
}

TEST(CsvScan, ErrorsAreTheFirstInTheFileForAnyThreads) {
  std::string text = "a,b\n";
  for (int i = 0; i < 200; ++i) text += i == 77 || i == 150 ? "1\n" : "1,2\n";
  for (const int threads : {1, 2, 7})
    EXPECT_EQ(
        message_of("ragged_row", ErrorKind::data, [&] { csv(text, {}, {.segment_bytes = 30}, context_of(threads)); }),
        "data.csv line 79: 1 fields, but the header has 2");
}

}  // namespace csv_scan_test
}  // namespace ecotone
