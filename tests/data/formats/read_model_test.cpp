#include <cmath>

#include "data/formats/read_support.h"

namespace ecotone {
namespace read_model_test {

using namespace test;

const char* const training_csv = "site,age,sex,w,y\na,1,M,1,p\nb,2,F,1,q\n";
const ReadOptions roles{.label = "y", .domain = "site", .weight = "w"};

Dataset for_model(const std::string& text, const ReadOptions& options = {}, Observer* observer = nullptr) {
  return read_csv_for_model({ByteSource::memory(text, "new.csv")}, csv(training_csv, roles).schema, options,
                            {.segment_bytes = 16}, context_of(2, observer));
}

TEST(ReadForModel, ColumnsAreMatchedByNameInAnyOrder) {
  const Dataset data = for_model("extra,sex,y,age,site\nzzz,F,q,5,c\n,M,,6,d\n");
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"age", "sex=F", "sex=M"}));
  Matrix expected(2, 3);
  expected << 5, 1, 0, 6, 0, 1;
  EXPECT_EQ(data.x.to_matrix(), expected);
  EXPECT_EQ(data.domain.names, (std::vector<std::string>{"c", "d"}));
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"q"}));
  EXPECT_TRUE(data.y->missing(1));
  EXPECT_EQ(data.weight.size(), 0);
}

TEST(ReadForModel, LabelDomainAndWeightMayBeAbsent) {
  const Dataset data = for_model("age,sex\n1,M\n");
  EXPECT_FALSE(data.y.has_value());
  EXPECT_EQ(data.domain.count(), 1);
  message_of("unknown_column", ErrorKind::data, [] { for_model("age,sex\n1,M\n", {.domain = "place"}); });
}

/// The array of a second role would never be filled in.
TEST(ReadForModel, AColumnHasOneRole) {
  const std::string text = "extra,sex,y,age,site,w\n3,F,q,5,c,1\n4,M,p,6,d,2\n";
  const std::vector<std::pair<ReadOptions, std::string>> twice = {
      {{.domain = "age"}, "column 'age' is given both as a feature of the model and as the domain"},
      {{.domain = "sex"}, "column 'sex' is given both as a feature of the model and as the domain"},
      {{.label = "age"}, "column 'age' is given both as a feature of the model and as the label"},
      {{.weight = "age"}, "column 'age' is given both as a feature of the model and as the weight"},
      {{.domain = "y"}, "column 'y' is given both as the label and as the domain"},
      {{.label = "site"}, "column 'site' is given both as the label and as the domain"},
      {{.weight = "site"}, "column 'site' is given both as the domain and as the weight"},
      {{.label = "w"}, "column 'w' is given both as the label and as the weight"},
      {{.label = "extra", .domain = "extra"}, "column 'extra' is given both as the label and as the domain"}};
  for (const auto& [options, message] : twice)
    EXPECT_EQ(message_of("column_twice", ErrorKind::option, [&] { for_model(text, options); }), message);
  const Dataset other = for_model(text, {.label = "extra", .domain = "y"});
  EXPECT_EQ(other.domain.names, (std::vector<std::string>{"q", "p"}));
  EXPECT_EQ(for_model(text, {.label = "site", .domain_from_file = true}).y->classes,
            (std::vector<std::string>{"c", "d"}));
}

TEST(ReadForModel, AFeatureOfTheModelIsNotTakenOutOfArrays) {
  const Folder folder;
  const auto sparse = folder.write("train.svm", "1 1:5 3:2\n0 2:7\n");
  const Schema schema = read_dataset({sparse}, {}, context_of(1)).schema;
  ASSERT_EQ(schema.columns.size(), 3U);
  for (const Column& column : schema.columns)
    for (const ReadOptions& options : {ReadOptions{.domain = column.name}, ReadOptions{.weight = column.name}})
      message_of("column_twice", ErrorKind::option, [&] { read_for_model({sparse}, schema, options, context_of(1)); });
}

TEST(ReadForModel, AMissingColumnIsNamed) {
  const std::string message = message_of("missing_column", ErrorKind::data, [] { for_model("sex,y\nM,p\n"); });
  EXPECT_NE(message.find("new.csv: no column 'age'"), std::string::npos) << message;
}

TEST(ReadForModel, TextForANumberIsNamedByLineAndColumn) {
  EXPECT_EQ(message_of("bad_value", ErrorKind::data, [] { for_model("age,sex\n1,M\n2,F\nold,M\n"); }),
            "new.csv line 4: column 'age' is 'old', expected a number");
}

TEST(ReadForModel, UnknownCategoriesAreZerosAndCounted) {
  Recorder seen;
  const Dataset data = for_model("age,sex\n1,X\n2,F\n3,Y\n4,\n", {}, &seen);
  EXPECT_EQ(data.x.to_matrix().rightCols(2).rowwise().sum(), (Vector(4) << 0, 1, 0, 0).finished());
  ASSERT_TRUE(seen.warned("unseen_category"));
  EXPECT_EQ(seen.warnings[0].second, "column 'sex': 2 rows have a category that the model does not know");
}

TEST(ReadForModel, ReadingTheTrainingFileGivesTheTrainingData) {
  const Dataset training = csv(training_csv, roles);
  expect_same(for_model(training_csv), training);
}

TEST(ReadForModel, TextInMemoryIsReadLikeAFile) {
  const Folder folder;
  const std::string text = "site,sex,age\nc,F,5\nd,M,\n";
  const Schema schema = csv(training_csv, roles).schema;
  const ReadOptions options{.ignore = {"age"}};  // what a model knows is read all the same
  expect_same(parse_for_model(text, "request", schema, options, context_of(2)),
              read_for_model({folder.write("new.csv", text)}, schema, options, context_of(2)));
  EXPECT_EQ(message_of("bad_value", ErrorKind::data,
                       [&] { parse_for_model("age,sex\nold,M\n", "request", schema, {}, context_of(1)); }),
            "request line 2: column 'age' is 'old', expected a number");
}

TEST(ReadForModel, ArraysAreMatchedByPosition) {
  const Folder folder;
  const Dataset training = csv("u,v,w\n1,2,3\n");
  const auto sparse = folder.write("new.svm", "1 1:5\n0 2:7\n");
  const Dataset data = read_for_model({sparse}, training.schema, {}, context_of(1));
  EXPECT_TRUE(data.x.is_sparse());
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"u", "v", "w"}));
  Matrix expected(2, 3);
  expected << 5, 0, 0, 0, 7, 0;
  EXPECT_EQ(data.x.to_matrix(), expected);
  const auto wide = folder.write("wide.svm", "1 4:5\n");
  EXPECT_NE(
      message_of("column_count", ErrorKind::data, [&] { read_for_model({wide}, training.schema, {}, context_of(1)); })
          .find("4 columns, but the model has 3"),
      std::string::npos);
}

TEST(ReadForModel, EcoIsMatchedByName) {
  const Folder folder;
  Recorder seen;
  const Context context = context_of(1, &seen);
  write_eco(csv("sex,site,age\nX,s,4\nM,s,5\n", {.domain = "site"}), folder.path("new.eco"), context);
  const Schema schema = csv(training_csv, roles).schema;
  const Dataset data = read_for_model({folder.path("new.eco")}, schema, {}, context);
  Matrix expected(2, 3);
  expected << 4, 0, 0, 5, 0, 1;
  EXPECT_EQ(data.x.to_matrix(), expected);
  EXPECT_EQ(data.x.names(), schema.feature_names());
  EXPECT_TRUE(seen.warned("unseen_category"));
  write_eco(csv("sex,other\nX,4\nM,5\n"), folder.path("less.eco"), context);
  message_of("missing_column", ErrorKind::data,
             [&] { read_for_model({folder.path("less.eco")}, schema, {}, context); });
}

}  // namespace read_model_test
}  // namespace ecotone
