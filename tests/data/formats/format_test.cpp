#include "ecotone/data/formats/format.h"

#include <gmock/gmock.h>

#include "data/formats/read_support.h"

namespace ecotone {
namespace format_test {

using namespace test;

/// The names in formats.def.
std::vector<std::string> listed() {
  return {
#define FORMAT(id) #id,
#include "ecotone/data/formats/formats.def"
#undef FORMAT
  };
}

TEST(Formats, AreNamedAsInTheirList) { EXPECT_EQ(format_names(), listed()); }

TEST(Formats, SayWhatTheyAreAndHowTheyAreRead) {
  for (const Format& format : formats()) {
    EXPECT_TRUE(format.summary.ends_with(".")) << format.name;
    EXPECT_FALSE(format.endings.empty()) << format.name;
    // Either rows without names, or whole data sets.
    EXPECT_NE(format.rows == nullptr, format.read == nullptr) << format.name;
    EXPECT_EQ(format.read == nullptr, format.read_for_model == nullptr) << format.name;
  }
}

TEST(Formats, HaveEndingsOfTheirOwn) {
  for (const Format& format : formats())
    for (const std::string& ending : format.endings) {
      ASSERT_NE(format_by_ending("data" + ending), nullptr) << ending;
      EXPECT_EQ(format_by_ending("data" + ending)->name, format.name) << ending;
      EXPECT_EQ(format_by_ending("data" + ending + ".gz")->name, format.name) << ending;
    }
  EXPECT_EQ(format_by_ending("folder.csv/DATA.NPY")->name, "npy");
  EXPECT_EQ(format_by_ending("data.txt"), nullptr);
  EXPECT_EQ(format_by_ending("data"), nullptr);
}

TEST(Formats, AreToldByTheirFirstBytes) {
  const auto told = [](std::string bytes) {
    return format_by_content(ByteSource::memory(std::move(bytes), "data")).name;
  };
  EXPECT_EQ(told("\x93NUMPY\x01"), "npy");
  EXPECT_EQ(told(std::string("\0\0\x08\x03", 4)), "idx");
  EXPECT_EQ(told(std::string("\x40\0\0\0\0\0\0\0{\"", 10)), "eco");
  EXPECT_EQ(told("-1 3:0.5 7:1\n"), "svmlight");
  EXPECT_EQ(told("1 qid:3 1:2\n"), "svmlight");
  EXPECT_EQ(told("a,b\n1,2\n"), "csv");
  EXPECT_EQ(told("1 2 3\n"), "csv");
  EXPECT_EQ(told(""), "csv");
}

TEST(Formats, AreFoundByName) {
  EXPECT_EQ(format_by_name("npy").name, "npy");
  const auto refusal = [](const char* name) {
    return message_of("bad_format", ErrorKind::option, [&] { format_by_name(name); });
  };
  EXPECT_THAT(refusal("svmligth"), testing::StartsWith("--format must be one of csv, svmlight, npy, idx, cifar, eco"));
  EXPECT_THAT(refusal("svmligth"), testing::EndsWith(", got 'svmligth'; did you mean 'svmlight'?"));
  EXPECT_THAT(refusal("xlsx"), testing::EndsWith(", got 'xlsx'"));
}

TEST(Formats, OfTheOptionsGoesBeforeTheEnding) {
  const Folder folder;
  const auto path = folder.write("rows.csv", "1 1:2 2:3\n0 1:4\n");
  const Dataset data = read_dataset({path}, {.format = "svmlight"}, context_of(1));
  EXPECT_EQ(data.rows(), 2);
  EXPECT_TRUE(data.x.is_sparse());
  message_of("bad_format", ErrorKind::option, [&] { read_dataset({path}, {.format = "xlsx"}, context_of(1)); });
}

TEST(Formats, WithNamesTakeNoFileOfLabels) {
  const Folder folder;
  const auto path = folder.write("rows.csv", "a,b\n1,2\n");
  const std::string message = message_of("labels_file", ErrorKind::option,
                                         [&] { read_dataset({path}, {.labels_file = "labels.npy"}, context_of(1)); });
  EXPECT_THAT(message, testing::StartsWith("a label file goes with svmlight, npy, idx"));
  EXPECT_THAT(message, testing::EndsWith(" data, not with " + path.string()));
}

}  // namespace format_test
}  // namespace ecotone
