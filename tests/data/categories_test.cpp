#include "ecotone/data/categories.h"

#include <cmath>

#include "data/formats/read_support.h"
#include "ecotone/data/formats/encode.h"

namespace ecotone {
namespace categories_test {

using namespace test;

const char* const mixed = "age,pain,drug,y\n1,typical,a,0\n2,,b,1\n3,none,c,0\n,typical,,1\n";

TEST(Categories, BothFormsBecomeEachOther) {
  const Dataset levels = csv(mixed, {.label = "y"});
  const Dataset codes = csv(mixed, {.label = "y", .codes = true});
  EXPECT_EQ(codes.x.names(), (std::vector<std::string>{"age", "pain", "drug"}));
  Matrix expected(4, 3);
  expected << 1, 1, 0, 2, NAN, 1, 3, 0, 2, NAN, 1, NAN;
  EXPECT_TRUE(same_bytes(codes.x.to_matrix(), expected));
  expect_same(to_codes(levels, context_of(2)), codes);
  expect_same(to_levels(codes, "data", context_of(2)), levels);
  expect_same(to_codes(codes, context_of(1)), codes);
  expect_same(to_levels(levels, "data", context_of(1)), levels);
}

TEST(Categories, NumbersAloneAreNotCopied) {
  const Dataset numbers = csv("a,b\n1,2\n");
  EXPECT_EQ(to_codes(numbers.x, numbers.schema, context_of(1)).shared_storage(), numbers.x.shared_storage());
}

TEST(Categories, ManyRowsAreTheSameForAnyNumberOfThreads) {
  std::string text = "a,word\n";
  for (int i = 0; i < 3000; ++i) text += fmt::format("{},w{}\n", i, i % 90);
  const Dataset levels = csv(text);
  for (const int threads : {1, 2, 7})
    expect_same(to_codes(levels, context_of(threads)), csv(text, {.codes = true}, {}, context_of(threads)));
}

/// A column of this many categories beside a number.
Dataset with_categories(int count) {
  std::string text = "a,word\n";
  for (int i = 0; i < 2 * count; ++i) text += fmt::format("{},w{}\n", i % 3, i % count);
  return csv(text, {.codes = true});
}

TEST(Categories, FeaturesPerLevelHaveALimit) {
  const auto limit = static_cast<int>(most_levels);
  EXPECT_EQ(to_levels(with_categories(limit), "data", context_of(1)).x.cols(), limit + 1);
  const std::string message = message_of("too_many_levels", ErrorKind::data,
                                         [&] { to_levels(with_categories(limit + 1), "d.eco", context_of(1)); });
  EXPECT_NE(message.find("d.eco: column 'word' holds 101 categories"), std::string::npos) << message;
  EXPECT_NE(message.find("'trees'"), std::string::npos) << message;
  Recorder seen;
  const Dataset compared = levels_to_compare(with_categories(limit + 1), context_of(1, &seen));
  EXPECT_EQ(compared.x.names(), (std::vector<std::string>{"a"}));
  ASSERT_EQ(seen.notes.size(), 1U);
  EXPECT_NE(seen.notes[0].find("word"), std::string::npos);
}

TEST(Categories, FeaturesOfOneNameAreRefused) {
  const Dataset codes = csv("w=a,w\n1,a\n2,b\n", {.codes = true});
  const std::string message =
      message_of("duplicate_column", ErrorKind::data, [&] { to_levels(codes, "data", context_of(1)); });
  EXPECT_NE(message.find("'w=a'"), std::string::npos) << message;
}

TEST(Categories, TheFirstValueThatIsNoCodeIsFound) {
  Dataset codes = csv(mixed, {.label = "y", .codes = true});
  EXPECT_EQ(find_bad_code(codes.x, codes.schema, context_of(2)).row, -1);
  for (const double bad : {2.0, -1.0, 0.5, HUGE_VAL, 1e300}) {
    Matrix x = codes.x.to_matrix();
    x(2, 1) = bad;
    x(3, 2) = bad + 7;
    const BadCode found = find_bad_code(Features::dense(x), codes.schema, context_of(2));
    EXPECT_EQ(found.row, 2);
    EXPECT_EQ(found.column, 1U);
    EXPECT_EQ(found.value, bad);
    EXPECT_EQ(level_text(codes.schema.columns[1].levels, bad), bad == 0.5 ? "none" : "");
  }
  EXPECT_EQ(level_text(codes.schema.columns[1].levels, 1), "typical");
  EXPECT_EQ(level_text(codes.schema.columns[1].levels, NAN), "");
}

}  // namespace categories_test
}  // namespace ecotone
