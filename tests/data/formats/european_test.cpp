#include <cmath>

#include "data/formats/read_support.h"
#include "ecotone/data/formats/number.h"

namespace ecotone {
namespace european_test {

using namespace test;

constexpr NumberStyle comma{',', true};
constexpr NumberStyle point{'.', true};
constexpr double none = -999;

double read(std::string_view text, NumberStyle style) {
  double value = none;
  return parse_value(text, style, value) ? value : none;
}

TEST(NumberStyle, CommasAndThousands) {
  EXPECT_EQ(read("12,5", comma), 12.5);
  EXPECT_EQ(read("-1.234,5", comma), -1234.5);
  EXPECT_EQ(read("1.234.567", comma), 1234567);
  EXPECT_EQ(read("1 234,5", comma), 1234.5);
  EXPECT_EQ(read("1\xC2\xA0"
                 "234,5",
                 comma),
            1234.5);
  EXPECT_EQ(read("1'234,5", comma), 1234.5);
  EXPECT_EQ(read("1,5e3", comma), 1500);
  EXPECT_EQ(read("+7", comma), 7);
  EXPECT_EQ(read(",5", comma), 0.5);
  EXPECT_EQ(read("1,234.5", point), 1234.5);
  EXPECT_EQ(read("1'234.5", point), 1234.5);
  EXPECT_EQ(read("12.5", point), 12.5);
  EXPECT_TRUE(std::isnan(read("NA", comma)));
}

TEST(NumberStyle, WrongGroupsAreNotNumbers) {
  for (const char* text : {"1.5", "12.34", "1.2345", "0.123", "1234.567", "1.234 567", "1,2,3", "1,234.5", ".5", "1.",
                           "1..234", "abc", "1,5x", "31.01.2020", "-", ","})
    EXPECT_EQ(read(text, comma), none) << text;
  for (const char* text : {"12,5", "1,23", "0,123", "1.234,5"}) EXPECT_EQ(read(text, point), none) << text;
}

/// By every route of the reader: whole, in pieces on two threads, from disk, and for a model.
Dataset by_every_route(const std::string& text, const ReadOptions& options = {}) {
  const Folder folder;
  const auto path = folder.write("data.csv", text);
  const Dataset whole = csv(text, options);
  expect_same(csv(text, options, {.segment_bytes = 7}, context_of(2)), whole);
  const Dataset streamed =
      read_csv({ByteSource::open(path, context_of(1))}, options, {.segment_bytes = 32, .stream = true}, context_of(2));
  EXPECT_TRUE(same_bytes(streamed.x.to_matrix(), whole.x.to_matrix()));
  const Dataset again = read_csv_for_model({ByteSource::memory(text, "data.csv")}, whole.schema, options,
                                           {.segment_bytes = 16}, context_of(2));
  EXPECT_TRUE(same_bytes(again.x.to_matrix(), whole.x.to_matrix()));
  return whole;
}

std::vector<std::string> warnings_of(const std::string& text, const ReadOptions& options = {}) {
  Recorder seen;
  csv(text, options, {}, context_of(1, &seen));
  std::vector<std::string> found;
  for (const auto& [code, message] : seen.warnings) found.push_back(message);
  return found;
}

TEST(European, DecimalCommasAreSeenWithSemicolons) {
  const Dataset data = by_every_route(
      "\xEF\xBB\xBF"
      "a;b;c;y\r\n12,5;1.234,5;7;0\r\n3,25;12;8;1\r\n;1.000;9;0\r\n",
      {.label = "y"});
  Matrix expected(3, 3);
  expected << 12.5, 1234.5, 7, 3.25, 12, 8, 0, 1000, 9;
  expected(2, 0) = std::nan("");
  EXPECT_TRUE(same_bytes(data.x.to_matrix(), expected));
  Recorder seen;
  csv("a;b\n12,5;1\n", {}, {}, context_of(1, &seen));
  EXPECT_EQ(seen.notes, (std::vector<std::string>{"data.csv: numbers are read with a decimal comma"}));
}

TEST(European, AFileWithDecimalPointsStaysAsItIs) {
  const Dataset data = by_every_route("a;b\n12.5;1.234\n3.25;2.345\n");
  EXPECT_EQ(data.x.to_matrix(), (Matrix(2, 2) << 12.5, 1.234, 3.25, 2.345).finished());
  EXPECT_TRUE(warnings_of("a;b\n12.5;1.234\n3.25;2.345\n").empty());
  EXPECT_EQ(by_every_route("a;b\n1,234.5;1\n12.5;2\n").x.to_matrix()(0, 0), 1234.5);
}

TEST(European, TheWholeFileDecidesWhatPointsMean) {
  // The comma in the last row of another column.
  const Dataset data = by_every_route("a;b\n1.234;1\n2.345;2\n3.456;2,5\n");
  EXPECT_EQ(data.x.to_matrix().col(0), (Vector(3) << 1234, 2345, 3456).finished());
}

TEST(European, WhatCannotBeToldIsSaid) {
  EXPECT_EQ(warnings_of("a;b\n1.234;1\n2.345;2\n"),
            (std::vector<std::string>{"data.csv: it cannot be told whether 'a' holds thousands or decimals; it is read "
                                      "with a decimal point (--decimal , changes that)"}));
  EXPECT_EQ(by_every_route("a;b\n1.234;1\n2.345;2\n").x.to_matrix()(0, 0), 1.234);
  EXPECT_EQ(by_every_route("a;b\n1,234;1\n2,345;2\n").x.to_matrix()(0, 0), 1.234);
  EXPECT_EQ(by_every_route("a;b\n1.234;1\n2.345;2\n", {.decimal = ","}).x.to_matrix()(0, 0), 1234);
  const std::vector<std::string> mixed = warnings_of("a;b;c\n1,5;2,5;1.5\n2,5;3,5;2.5\n");
  ASSERT_EQ(mixed.size(), 1);
  EXPECT_EQ(mixed[0], "data.csv: numbers are read with a decimal comma, but 'c' would be numbers with --decimal .");
}

TEST(European, FilesThatDisagreeAreReadEachInItsOwnWay) {
  const auto read = [](const std::vector<std::string>& texts, Observer* observer = nullptr) {
    std::vector<ByteSource> sources;
    for (std::size_t i = 0; i < texts.size(); ++i)
      sources.push_back(ByteSource::memory(texts[i], fmt::format("{}.csv", i)));
    return read_csv(std::move(sources), {}, {.segment_bytes = 8}, context_of(2, observer)).x.to_matrix();
  };
  const Matrix expected{{12.5, 1}, {3.25, 2}, {12.5, 3}, {3.25, 4}};
  const std::string commas = "a;b\n12,5;3\n3,25;4\n";
  EXPECT_EQ(read({"a,b\n12.5,1\n3.25,2\n", commas}), expected);
  EXPECT_EQ(read({"a;b\n12.5;1\n3.25;2\n", commas}), expected);
  Recorder seen;
  EXPECT_EQ(read({"a\tb\n12.5\t1\n3.25\t2\n", "a\tb\n12,5\t3\n3,25\t4\n"}, &seen), expected);
  EXPECT_EQ(seen.notes, (std::vector<std::string>{"1.csv: numbers are read with a decimal comma"}));
  EXPECT_TRUE(seen.warnings.empty());
  // A file that does not tell follows the others as long as they agree.
  EXPECT_EQ(read({"a;b\n1.234;1\n", commas})(0, 0), 1234);
  EXPECT_EQ(read({"a;b\n1.234;1\n", commas, "a;b\n12.5;3\n"}, &seen)(0, 0), 1.234);
  ASSERT_EQ(seen.warnings.size(), 1U);
  EXPECT_EQ(seen.warnings[0].second.substr(0, 30), "0.csv: it cannot be told wheth");
}

TEST(European, TheDecimalSignCanBeGiven) {
  EXPECT_EQ(by_every_route("a,b\n\"12,5\",1\n\"1.234,5\",2\n", {.decimal = ","}).x.to_matrix()(1, 0), 1234.5);
  EXPECT_EQ(by_every_route("a,b\n\"1,234.5\",1\n2,2\n", {.decimal = "."}).x.to_matrix()(0, 0), 1234.5);
  // Without the flag such text stays a category, as ever.
  EXPECT_EQ(by_every_route("a,b\n\"12,5\",1\n\"13,5\",2\n").x.names(),
            (std::vector<std::string>{"a=12,5", "a=13,5", "b"}));
}

TEST(European, ModelsAndNewFilesNeedNotAgree) {
  const std::string european = "a;b;y\n12,5;1;p\n13,5;2;q\n";
  const std::string american = "a,b,y\n12.5,1,p\n13.5,2,q\n";
  const ReadOptions options{.label = "y"};
  for (const auto& [training, fresh] : {std::pair(european, american), std::pair(american, european)}) {
    const Dataset data = csv(training, options);
    expect_same(read_csv_for_model({ByteSource::memory(fresh, "data.csv")}, data.schema, {}, {}, context_of(1)), data);
  }
}

TEST(European, FiltersCompareWithTheNumbers) {
  const Dataset data = by_every_route("a;b\n12,5;1\n3,25;2\n1.000,5;3\n", {.where = {"a>=12.5"}});
  EXPECT_EQ(data.x.to_matrix().col(1), (Vector(2) << 1, 3).finished());
}

TEST(DateColumn, DatesBecomeDays) {
  const Dataset data = by_every_route("d,a\n1970-01-03,1\n,2\n2.1.1970 12:00,3\n");
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"d", "a"}));
  EXPECT_EQ(data.schema.columns[0].kind, ColumnKind::date);
  const Matrix x = data.x.to_matrix();
  EXPECT_EQ(x(0, 0), 2);
  EXPECT_TRUE(std::isnan(x(1, 0)));
  EXPECT_EQ(x(2, 0), 1.5);
  Recorder seen;
  csv("d,a\n1970-01-03,1\n", {}, {}, context_of(1, &seen));
  EXPECT_EQ(seen.notes,
            (std::vector<std::string>{"column 'd' holds dates: it becomes a number of days since 1970-01-01"}));
}

TEST(DateColumn, OneOtherTextMakesItText) {
  EXPECT_EQ(by_every_route("d,a\n2020-02-28,1\n2020-02-30,2\n").schema.columns[0].kind, ColumnKind::categorical);
  // The kind of a column follows from all rows: here the first look sees numbers, or nothing at all.
  EXPECT_EQ(by_every_route("d,a\n,1\n,2\n,3\n,4\n2020-02-28,5\n").schema.columns[0].kind, ColumnKind::date);
  EXPECT_EQ(by_every_route("d,a\n7,1\n,2\n,3\n,4\n2020-02-28,5\n").schema.columns[0].kind, ColumnKind::categorical);
}

TEST(DateColumn, SlashesAreReadOnlyIfTheirOrderIsClear) {
  const Dataset days = by_every_route("d,a\n3/4/2020,1\n31/1/2020,2\n");
  EXPECT_EQ(days.schema.columns[0].slashes, SlashOrder::day_first);
  EXPECT_EQ(days.x.to_matrix()(0, 0), 18355);
  EXPECT_EQ(by_every_route("d,a\n3/4/2020,1\n1/31/2020,2\n").x.to_matrix()(0, 0), 18325);
  EXPECT_EQ(by_every_route("d,a\n3/4/2020,1\n").schema.columns[0].kind, ColumnKind::categorical);
  EXPECT_EQ(by_every_route("d,a\n13/4/2020,1\n4/13/2020,1\n").schema.columns[0].kind, ColumnKind::categorical);
  const std::vector<std::string> said = warnings_of("d,a\n3/4/2020,1\n");
  ASSERT_EQ(said.size(), 1);
  EXPECT_NE(said[0].find("may begin with the day or the month"), std::string::npos) << said[0];
  // A model knows the order from its training data.
  const Dataset fresh =
      read_csv_for_model({ByteSource::memory("d,a\n3/4/2020,1\n", "new.csv")}, days.schema, {}, {}, context_of(1));
  EXPECT_EQ(fresh.x.to_matrix()(0, 0), 18355);
}

TEST(DateColumn, NewDataMustHoldDates) {
  const Schema schema = csv("d,a\n2020-01-31,1\n").schema;
  EXPECT_EQ(Schema::from_json(schema.to_json(), "m"), schema);
  EXPECT_EQ(message_of("bad_value", ErrorKind::data,
                       [&] {
                         read_csv_for_model({ByteSource::memory("a,d\n1,2020-01-31\n2,2020-02-30\n", "new.csv")},
                                            schema, {}, {}, context_of(1));
                       }),
            "new.csv line 3: column 'd' is '2020-02-30', expected a date");
}

TEST(DateColumn, FilesKeepThem) {
  const Folder folder;
  const Context context = context_of(1);
  const Dataset data = csv("d,a\n2020-01-31,1\n,2\n31.1.2020 12:30,3\n");
  write_eco(data, folder.path("d.eco"), context);
  write_csv(data, folder.path("d.csv"), context);
  expect_same(read_dataset({folder.path("d.eco")}, {}, context), data);
  expect_same(read_dataset({folder.path("d.csv")}, {}, context), data);
  expect_same(read_for_model({folder.path("d.eco")}, data.schema, {}, context), data);
}

TEST(DateColumn, FiltersCompareDates) {
  const Dataset data = by_every_route("d,a\n2020-01-31,1\n2020-02-01,2\n,3\n", {.where = {"d>2020-01-31"}});
  EXPECT_EQ(data.x.to_matrix()(0, 1), 2);
  EXPECT_EQ(data.rows(), 1);
}

TEST(PassedColumns, TextsGoWithTheRowsThatAreKept) {
  const Schema schema = csv("a\n1\n2\n").schema;
  std::vector<TextColumn> passed;
  const Dataset data = read_csv_for_model({ByteSource::memory("id,a,note\nx 1,1,\n\"y,2\",2,007\nz,3,\n", "new.csv")},
                                          schema, {.id = "id", .keep = {"note", "a"}, .where = {"a>1"}},
                                          {.segment_bytes = 8}, context_of(2), &passed);
  ASSERT_EQ(passed.size(), 3);
  EXPECT_EQ(passed[0].name, "id");
  EXPECT_EQ(passed[0].texts, (std::vector<std::string>{"y,2", "z"}));
  EXPECT_EQ(passed[1].texts, (std::vector<std::string>{"007", ""}));
  EXPECT_EQ(passed[2].texts, (std::vector<std::string>{"2", "3"}));
  EXPECT_EQ(data.rows(), 2);
}

TEST(PassedColumns, AnIdIsNotAFeature) {
  EXPECT_EQ(csv("id,a\nx,1\ny,2\n", {.id = "id"}).x.names(), (std::vector<std::string>{"a"}));
  message_of("column_twice", ErrorKind::option, [] { csv("id,a\nx,1\n", {.label = "id", .id = "id"}); });
}

}  // namespace european_test
}  // namespace ecotone
