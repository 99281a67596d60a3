#include <cmath>

#include "data/formats/read_support.h"

namespace ecotone {
namespace group_time_test {

using namespace test;

const ReadOptions roles{.label = "y", .domain = "site", .group = "patient", .time = "when"};
const char* const table =
    "site,patient,when,a,y\nn,p7,2020-01-02,1,0\nn,,2020-01-01T12:00,2,1\ns,p3,3.1.2020,3,0\ns,p7,2020-01-04,4,1\n";

TEST(GroupTime, GroupsAreNumberedAndTimesAreDays) {
  // Cut in pieces or not, by one thread or more.
  for (const std::size_t segment : {std::size_t{8}, std::size_t{1} << 20}) {
    const Dataset data = csv(table, roles, {.segment_bytes = segment}, context_of(2));
    EXPECT_EQ(data.x.names(), (std::vector<std::string>{"a"}));
    EXPECT_EQ(data.group, (Groups{0, -1, 1, 0}));
    EXPECT_EQ(data.time, (Vector(4) << 18263, 18262.5, 18264, 18265).finished());
    EXPECT_EQ(data.schema.group, "patient");
    EXPECT_EQ(data.schema.time, "when");
    EXPECT_TRUE(data.schema.time_is_date);
  }
}

TEST(GroupTime, TimesMayBeNumbers) {
  const Dataset data = csv("t,a\n3,1\n1.5,2\n", {.time = "t"});
  EXPECT_EQ(data.time, (Vector(2) << 3, 1.5).finished());
  EXPECT_FALSE(data.schema.time_is_date);
}

TEST(GroupTime, SlashedTimesNeedADayThatTellsTheOrder) {
  EXPECT_EQ(csv("t,a\n3/4/2020,1\n31/1/2020,2\n", {.time = "t"}).time, (Vector(2) << 18355, 18292).finished());
  EXPECT_EQ(csv("t,a\n3/4/2020,1\n1/31/2020,2\n", {.time = "t"}).time, (Vector(2) << 18325, 18292).finished());
  message_of("ambiguous_date", ErrorKind::data, [] { csv("t,a\n3/4/2020,1\n", {.time = "t"}); });
}

TEST(GroupTime, MissingAndUnreadableTimesAreNamedByLineAndColumn) {
  EXPECT_EQ(message_of("bad_value", ErrorKind::data, [] { csv("t,a\n2020-01-01,1\n2020-02-30,2\n", {.time = "t"}); }),
            "data.csv line 3: column 't' is '2020-02-30', expected a date");
  EXPECT_EQ(message_of("bad_value", ErrorKind::data, [] { csv("t,a\n1,1\nx,2\n", {.time = "t"}); }),
            "data.csv line 3: column 't' is 'x', expected a number");
  EXPECT_EQ(message_of("missing_value", ErrorKind::data, [] { csv("t,a\n1,1\nNA,2\n", {.time = "t"}); }),
            "data.csv line 3: no value in column 't', which every row needs");
  for (const std::string text : {"inf", "-inf", "1e999", "-nan"})
    EXPECT_EQ(message_of("bad_value", ErrorKind::data, [&] { csv("t,a\n1,1\n" + text + ",2\n", {.time = "t"}); }),
              "data.csv line 3: column 't' is '" + text + "', expected a finite number");
}

TEST(GroupTime, AColumnHasOneRole) {
  message_of("column_twice", ErrorKind::option, [] { csv("t,a\n1,1\n", {.group = "t", .time = "t"}); });
  message_of("unknown_column", ErrorKind::data, [] { csv("t,a\n1,1\n", {.group = "g"}); });
}

TEST(GroupTime, FilesOfEcotoneAndCsvKeepThem) {
  const Folder folder;
  const Context context = context_of(1);
  const Dataset data = csv(table, roles);
  write_eco(data, folder.path("d.eco"), context);
  write_csv(data, folder.path("d.csv"), context);
  const Dataset eco = read_dataset({folder.path("d.eco")}, {.time = "when"}, context);
  const Dataset again = read_dataset({folder.path("d.csv")}, roles, context);
  expect_same(eco, data);
  expect_same(again, data);
  for (const Dataset& other : {eco, again}) {
    EXPECT_EQ(other.group, data.group);
    EXPECT_EQ(other.time, data.time);
  }
  message_of("unknown_column", ErrorKind::data,
             [&] { read_dataset({folder.path("d.eco")}, {.group = "site"}, context); });
}

TEST(GroupTime, FiltersTakeThemAlong) {
  const Folder folder;
  write_eco(csv(table, roles), folder.path("d.eco"), context_of(1));
  const Dataset data = read_dataset({folder.path("d.eco")}, {.where = {"when>18263.5"}}, context_of(1));
  EXPECT_EQ(data.time, (Vector(2) << 18264, 18265).finished());
  EXPECT_EQ(data.group, (Groups{1, 0}));
}

TEST(GroupTime, NewDataForAModelDoNotNeedThem) {
  const Schema schema = csv(table, roles).schema;
  const Dataset data =
      read_csv_for_model({ByteSource::memory("a,when\n5,never\n", "new.csv")}, schema, {}, {}, context_of(1));
  EXPECT_EQ(data.rows(), 1);
  EXPECT_TRUE(data.group.empty());
  EXPECT_EQ(data.time.size(), 0);
}

TEST(GroupTime, FormatsWithoutNamesTakeThemByPosition) {
  const Folder folder;
  const auto path = folder.write("d.svm", "1 1:5 2:7 3:1\n0 1:6 2:8\n1 1:5 2:9\n");
  const Dataset data = read_dataset({path}, {.group = "x1", .time = "x2", .format = "svmlight"}, context_of(1));
  EXPECT_EQ(data.group, (Groups{0, 1, 0}));
  EXPECT_EQ(data.time, (Vector(3) << 7, 8, 9).finished());
  EXPECT_EQ(data.x.cols(), 1);
}

}  // namespace group_time_test
}  // namespace ecotone
