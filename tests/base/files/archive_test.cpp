#include "ecotone/base/files/archive.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ecotone {
namespace archive_test {

struct Thing {
  int number = 0;
  std::vector<std::pair<std::string, std::optional<double>>> values;
  std::vector<bool> flags;
  std::vector<std::int32_t> places;
  bool operator==(const Thing&) const = default;
};

template <class Archive>
void archive(Archive& with, Thing& thing) {
  with(thing.number, thing.values, thing.flags, thing.places);
}

Thing thing() {
  return {-3,
          {{"a", 0.1}, {"", std::nullopt}, {"tiny", std::numeric_limits<double>::denorm_min()}, {"minus zero", -0.0}},
          {true, false, true},
          {1, -1}};
}

TEST(Archive, IsExact) {
  Thing original = thing();
  const auto read = unarchived<Thing>(archived(original));
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, original);
  EXPECT_TRUE(std::signbit(*read->values[3].second));
}

TEST(Archive, SizeIsKnownWithoutTheBytes) {
  Thing original = thing();
  EXPECT_EQ(archived_size(original), archived(original).size());
}

TEST(Archive, RefusesWhatIsNotWhole) {
  Thing original = thing();
  const std::string bytes = archived(original);
  for (std::size_t size = 0; size < bytes.size(); ++size) EXPECT_FALSE(unarchived<Thing>(bytes.substr(0, size)));
  EXPECT_FALSE(unarchived<Thing>(bytes + "x"));
}

TEST(Archive, SurvivesEveryFlippedByte) {
  Thing original = thing();
  const std::string bytes = archived(original);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    for (const int flip : {1, 0x80, 0xFF}) {
      std::string bad = bytes;
      bad[i] = static_cast<char>(bad[i] ^ flip);
      std::optional<Thing> read = unarchived<Thing>(bad);
      EXPECT_TRUE(!read || archived(*read) == bad) << "byte " << i;
    }
}

}  // namespace archive_test
}  // namespace ecotone
