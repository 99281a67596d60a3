#include <cmath>

#include "data/formats/read_support.h"
#include "ecotone/base/files/tensor_file.h"
#include "ecotone/data/categories.h"

namespace ecotone {
namespace read_codes_test {

using namespace test;

/// 300 levels of which each occurs twice, and every tenth row has none.
std::string many_levels() {
  std::string text = "site,age,word,y\n";
  for (int i = 0; i < 600; ++i) {
    const std::string word = i % 10 == 9 ? "NA" : fmt::format("w{}", i % 300);
    text += fmt::format("s{},{},{},{}\n", i % 4, i % 50, word, i % 2);
  }
  return text;
}

const ReadOptions coded{.label = "y", .domain = "site", .codes = true};

TEST(ReadCodes, ThreeHundredLevelsAreOneColumn) {
  const Dataset data = csv(many_levels(), coded);
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"age", "word"}));
  const Column& word = data.schema.columns[1];
  EXPECT_TRUE(word.coded);
  ASSERT_EQ(word.levels.size(), 270U) << "those of every tenth row are missing";
  EXPECT_TRUE(std::ranges::is_sorted(word.levels));
  const Matrix x = data.x.to_matrix();
  for (Index i = 0; i < 600; ++i)
    EXPECT_EQ(level_text(word.levels, x(i, 1)), i % 10 == 9 ? std::string() : fmt::format("w{}", i % 300));
  message_of("too_many_levels", ErrorKind::data, [] { csv(many_levels(), {.label = "y", .domain = "site"}); });
}

TEST(ReadCodes, StreamedCsvAndEcoAreTheSame) {
  const Folder folder;
  const Dataset data = csv(many_levels(), coded);
  const auto table = folder.write("d.csv", many_levels());
  for (const int threads : {1, 2, 7}) {
    ReadOptions streamed = coded;
    streamed.stream = true;
    const Dataset left = read_dataset({table}, streamed, context_of(threads));
    EXPECT_FALSE(left.x.storage().resident());
    expect_same(left, data);
    write_eco(left, folder.path("d.eco"), context_of(threads));
    expect_same(read_dataset({folder.path("d.eco")}, {.codes = true}, context_of(threads)), data);
  }
  message_of("too_many_levels", ErrorKind::data, [&] { read_dataset({folder.path("d.eco")}, {}, context_of(1)); });
  EXPECT_EQ(read_dataset({folder.path("d.eco")}, {.ignore = {"word"}}, context_of(1)).x.cols(), 1);
}

TEST(ReadCodes, WrittenTextIsReadBack) {
  const Folder folder;
  const Dataset data = csv("w,x\n\"a, b\",1\n,2\nc,3\n\"a, b\",4\n", {.codes = true});
  write_csv(data, folder.path("d.csv"), context_of(1));
  expect_same(read_dataset({folder.path("d.csv")}, {.codes = true}, context_of(1)), data);
}

TEST(ReadCodes, AFileOfEitherFormIsReadInEither) {
  const Folder folder;
  const std::string text = "w,x\na,1\n,2\nc,3\n";
  write_eco(csv(text), folder.path("levels.eco"), context_of(1));
  write_eco(csv(text, {.codes = true}), folder.path("codes.eco"), context_of(1));
  for (const char* name : {"levels.eco", "codes.eco"}) {
    expect_same(read_dataset({folder.path(name)}, {}, context_of(1)), csv(text));
    expect_same(read_dataset({folder.path(name)}, {.codes = true}, context_of(1)), csv(text, {.codes = true}));
  }
  EXPECT_EQ(TensorFile::map(folder.path("levels.eco")).meta("format_version"), "1");
  EXPECT_EQ(TensorFile::map(folder.path("codes.eco")).meta("format_version"), "3");
}

TEST(ReadCodes, RowsAreFilteredByTheTextOfCodes) {
  const Folder folder;
  write_eco(csv("w,x\na,1\n,2\nc,3\na,4\n", {.codes = true}), folder.path("d.eco"), context_of(1));
  const auto kept = [&](const std::string& where) {
    const Dataset data = read_dataset({folder.path("d.eco")}, {.where = {where}, .codes = true}, context_of(1));
    const Matrix x = data.x.to_matrix();
    return std::vector<double>(x.col(1).begin(), x.col(1).end());
  };
  EXPECT_EQ(kept("w==a"), (std::vector<double>{1, 4}));
  EXPECT_EQ(kept("w!=a"), (std::vector<double>{2, 3}));
  EXPECT_EQ(kept("w="), (std::vector<double>{2}));
  EXPECT_EQ(kept("x>2"), (std::vector<double>{3, 4}));
}

TEST(ReadCodes, IdsAreLeftOutAndTextsAmongNumbersAreNamed) {
  std::string text = "id,x,word\n";
  for (int i = 0; i < 150; ++i) text += fmt::format("p{},{},n{}\n", i, i == 70 ? "4O" : std::to_string(i), i % 120);
  Recorder seen;
  const Dataset data = csv(text, {.codes = true}, {}, context_of(1, &seen));
  EXPECT_EQ(data.x.names(), (std::vector<std::string>{"x", "word"}));
  EXPECT_EQ(data.left_out, (std::vector<std::string>{"id"}));
  EXPECT_EQ(data.schema.columns[0].levels.size(), 150U) << "a measurement with a typing error is no id";
  EXPECT_TRUE(seen.warned("id_like"));
  EXPECT_TRUE(seen.warned("almost_numbers"));
  EXPECT_EQ(csv(text, {.features = {"id", "word"}, .codes = true}).x.cols(), 2) << "what the user names stays";
  EXPECT_EQ(csv(text, {.ignore = {"x", "word"}, .codes = true}).x.cols(), 1) << "something must be left";
}

TEST(ReadCodes, DatesStayDates) {
  const Dataset data = csv("day,w\n2020-01-31,a\n2020-02-01,b\n", {.codes = true});
  EXPECT_EQ(data.schema.columns[0].kind, ColumnKind::date);
  EXPECT_FALSE(data.schema.columns[0].coded);
  EXPECT_TRUE(data.schema.columns[1].coded);
}

/// New data for a schema with the levels b and c, from a CSV file and from `.eco` files of both forms.
TEST(ReadCodes, NewDataHaveTheCodesOfTheModel) {
  const Folder folder;
  const std::string text = "x,w\n1,a\n2,c\n3,\n4,b\n5,d\n";
  const auto table = folder.write("new.csv", text);
  write_eco(csv(text), folder.path("levels.eco"), context_of(1));
  write_eco(csv(text, {.codes = true}), folder.path("codes.eco"), context_of(1));
  for (const bool codes : {true, false}) {
    const Schema schema = csv("w,x\nb,1\nc,2\n", {.codes = codes}).schema;
    Matrix expected(5, codes ? 2 : 3);
    if (codes)
      expected << NAN, 1, 1, 2, NAN, 3, 0, 4, NAN, 5;
    else
      expected << 0, 0, 1, 0, 1, 2, 0, 0, 3, 1, 0, 4, 0, 0, 5;
    for (const auto& path : {table, folder.path("levels.eco"), folder.path("codes.eco")}) {
      Recorder seen;
      const Dataset data = read_for_model({path}, schema, {}, context_of(2, &seen));
      EXPECT_EQ(data.schema.columns, schema.columns) << path;
      EXPECT_EQ(data.x.names(), schema.feature_names()) << path;
      EXPECT_TRUE(same_bytes(data.x.to_matrix(), expected)) << path << "\n" << data.x.to_matrix();
      ASSERT_EQ(seen.warnings.size(), 1U) << path;
      EXPECT_EQ(seen.warnings[0].second, "column 'w': 2 rows have a category that the model does not know") << path;
    }
    message_of("bad_value", ErrorKind::data, [&] {
      write_eco(csv("x,w\n1,2\n", {.codes = true}), folder.path("number.eco"), context_of(1));
      read_for_model({folder.path("number.eco")}, schema, {}, context_of(1));
    });
  }
}

TEST(ReadCodes, ValuesOfAFileThatAreNoCodesAreRefused) {
  const Folder folder;
  Dataset data = csv("x,w\n1,a\n2,c\n3,\n", {.codes = true});
  for (const double bad : {2.0, -1.0, 0.5, HUGE_VAL}) {
    Matrix x = data.x.to_matrix();
    x(1, 1) = bad;
    data.x = Features::dense(x, data.x.names());
    write_eco(data, folder.path("bad.eco"), context_of(1));
    const std::string message = message_of("bad_data_file", ErrorKind::file, [&] {
      read_dataset({folder.path("bad.eco")}, {.codes = true}, context_of(1));
    });
    EXPECT_NE(message.find("row 2 of column 'w'"), std::string::npos) << message;
  }
}

}  // namespace read_codes_test
}  // namespace ecotone
