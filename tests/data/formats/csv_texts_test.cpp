#include <gtest/gtest.h>

#include "data/formats/read_support.h"
#include "ecotone/data/formats/csv/csv_field.h"
#include "ecotone/data/formats/csv/texts.h"

namespace ecotone {
namespace csv_texts_test {

using test::Folder;

std::string written(const CsvTexts& texts) {
  std::string all;
  texts.write(
      [&](const TextRow& row, std::string& text) {
        text += std::to_string(row.row);
        for (const std::string& field : row.fields) {
          text += texts.delimiter();
          append_csv_field(text, field, texts.delimiter());
        }
        text += '\n';
      },
      [&](std::string_view text) { all += text; }, Context());
  return all;
}

TEST(CsvTexts, AreTheFieldsAsTheyStandThere) {
  const Folder folder;
  const auto path = folder.write("a.csv", "name,x\n\"a, \"\"b\"\"\",1.50\n\" c \",\n,NA\n\"two\nlines\",1e3\n");
  const auto texts = CsvTexts::open({path}, {}, {}, Context());
  ASSERT_TRUE(texts);
  EXPECT_EQ(texts->names(), (std::vector<std::string>{"name", "x"}));
  EXPECT_EQ(written(*texts), "0,\"a, \"\"b\"\"\",1.50\n1,\" c \",\n2,,NA\n3,\"two\nlines\",1e3\n");
  EXPECT_EQ(texts->column("x", Context()), (std::vector<std::string>{"1.50", "", "NA", "1e3"}));
  EXPECT_EQ(texts->fields({1, 3}, Context()),
            (std::vector<std::vector<std::string>>{{" c ", ""}, {"two\nlines", "1e3"}}));
}

TEST(CsvTexts, OfSeveralFilesHaveTheColumnsOfTheFirst) {
  const Folder folder;
  const auto first = folder.write("a.csv", "x,y\n1,2\n");
  const auto second = folder.write("b.csv", "z,y,x\n7,4,3\n8,6,5\n");
  const auto third = folder.write("c.csv", "x,y\n9,10\n");
  const auto texts = CsvTexts::open({first, second, third}, {}, {}, Context());
  ASSERT_TRUE(texts);
  EXPECT_EQ(written(*texts), "0,1,2\n1,3,4\n2,5,6\n3,9,10\n");
  EXPECT_EQ(texts->first_rows(), (std::vector<Index>{0, 1, 3}));
  const auto lacking = folder.write("d.csv", "x\n1\n");
  EXPECT_THROW(CsvTexts::open({first, lacking}, {}, {}, Context()), Error);
}

TEST(CsvTexts, KnowHowTheirFilesWriteNumbers) {
  const Folder folder;
  const auto path = folder.write("a.csv", "x;y\n1,5;2\n2,25;\n");
  Schema schema;
  schema.columns = {{"x", ColumnKind::numeric, {}}};
  const auto texts = CsvTexts::open({path}, {}, schema, Context());
  ASSERT_TRUE(texts);
  EXPECT_EQ(texts->delimiter(), ';');
  EXPECT_EQ(written(*texts), "0;1,5;2\n1;2,25;\n");
  texts->write([](const TextRow& row, std::string&) { EXPECT_EQ(row.numbers.decimal, ','); }, [](std::string_view) {},
               Context());
}

TEST(CsvTexts, AreNoneOfOtherFormats) {
  const Folder folder;
  EXPECT_FALSE(CsvTexts::open({folder.write("a.svmlight", "1 1:2\n")}, {}, {}, Context()));
}

}  // namespace csv_texts_test
}  // namespace ecotone
