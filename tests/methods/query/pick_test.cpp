#include "ecotone/methods/query/pick.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "error_code.h"

namespace ecotone::test {
namespace {

using ::testing::ElementsAre;

std::vector<Index> places(const std::vector<Query>& queries) {
  std::vector<Index> result;
  for (const Query& query : queries) result.push_back(query.place);
  return result;
}

Strategy strategy(const char* text) { return Strategy::parse(text); }

TEST(Strategy, TextReadsBack) {
  for (const char* text : {"least_confidence", "entropy batch=5 explore=0.1", "neighbours k=3", "random",
                           "margin subset=20 seed_size=4 domain_aware=true apart=0"})
    EXPECT_EQ(strategy(text).text(), text);
  EXPECT_EQ(strategy("  entropy   batch=1 ").text(), "entropy");
}

TEST(Strategy, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(code_of([] { strategy("entropie"); }), "unknown_strategy");
  EXPECT_EQ(code_of([] { strategy(""); }), "bad_strategy");
  EXPECT_EQ(code_of([] { strategy("entropy 5"); }), "bad_strategy");
  EXPECT_EQ(code_of([] { strategy("entropy bach=5"); }), "unknown_option");
  EXPECT_EQ(code_of([] { strategy("entropy explore=2"); }), "bad_option");
  EXPECT_EQ(code_of([] { strategy("random domain_aware=true"); }), "bad_option");
}

TEST(Pick, HighestScoresFirstAndTiesToTheSmallerIndex) {
  const Vector score{{0.1, 0.5, 0.5, 0.9}};
  Random random(0, "pick");
  const auto queries = pick({score, Matrix()}, strategy("entropy explore=0"), 10, random);
  EXPECT_THAT(places(queries), ElementsAre(3, 1, 2, 0));
  for (const Query& query : queries) {
    EXPECT_EQ(query.why, Why::uncertain);
    EXPECT_EQ(query.probability, 1);
  }
}

TEST(Pick, ABatchHasNoNearDuplicates) {
  const Vector score{{5, 4, 3, 2, 1}};
  const Matrix x{{0.0}, {0.001}, {5.0}, {5.001}, {10.0}};
  Random random(0, "pick");
  EXPECT_THAT(places(pick({score, x}, strategy("entropy explore=0 batch=3"), 3, random)), ElementsAre(0, 2, 4));
  // The next batch may come near the first, and where all are near, the highest score decides.
  EXPECT_THAT(places(pick({score, x}, strategy("entropy explore=0 batch=3"), 5, random)), ElementsAre(0, 2, 4, 1, 3));
  EXPECT_THAT(places(pick({score, x}, strategy("entropy explore=0 batch=4"), 4, random)), ElementsAre(0, 2, 4, 1));
  EXPECT_THAT(places(pick({score, x}, strategy("entropy explore=0 batch=3 apart=0"), 3, random)), ElementsAre(0, 1, 2));
}

TEST(Pick, ProbabilitiesAreThoseOfTheDraws) {
  const Vector score{{3, 2, 1, 0}};
  for (const Vector& far : {Vector(), Vector{{0, 4, 1, 0}}, Vector(Vector::Zero(4))})
    for (const char* text :
         {"entropy explore=0.4", "entropy explore=0 subset=2", "entropy explore=0.3 subset=3", "random"}) {
      std::array<double, 4> count{}, told{};
      const int draws = 10000;
      for (int i = 0; i < draws; ++i) {
        Random random(1, "draw", static_cast<std::uint64_t>(i));
        const Query query = pick({score, Matrix(), far}, strategy(text), 1, random)[0];
        count[at(query.place)] += 1.0 / draws;
        told[at(query.place)] = query.probability;
      }
      for (std::size_t i = 0; i < count.size(); ++i) EXPECT_NEAR(count[i], told[i], 0.02) << text << ", row " << i;
    }
}

TEST(Pick, ExploresFarFromWhatIsLabelled) {
  const Vector score = Vector::Zero(100);
  Vector far = Vector::Constant(100, 0.01);
  far[70] = 100;
  Index found = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    Random random(3, "draw", i);
    const Query query = pick({score, Matrix(), far}, strategy("entropy explore=1"), 1, random)[0];
    found += query.place == 70;
    EXPECT_NEAR(query.probability, 0.005 + far[query.place] / (2 * far.sum()), 1e-15);
  }
  EXPECT_NEAR(static_cast<double>(found), 500, 60);
}

TEST(Pick, ExploresTheShareAskedFor) {
  const Vector score = Vector::LinSpaced(2000, 1, 0);
  Random random(2, "pick");
  Index explored = 0;
  for (const Query& query : pick({score, Matrix()}, strategy("entropy explore=0.25"), 1000, random))
    explored += query.why == Why::explore ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(explored), 250, 50);
}

TEST(PickSeed, EveryDomainInProportion) {
  std::vector<std::int32_t> domain(100, 0);
  std::fill(domain.begin() + 50, domain.begin() + 80, 1);
  std::fill(domain.begin() + 80, domain.end(), 2);
  Random random(0, "seed");
  const auto queries = pick_seed(domain, 10, random);
  std::map<std::int32_t, int> count;
  std::set<Index> different;
  for (const Query& query : queries) {
    ++count[domain[at(query.place)]];
    different.insert(query.place);
    EXPECT_EQ(query.why, Why::seed);
  }
  EXPECT_THAT(count, ElementsAre(std::pair(0, 5), std::pair(1, 3), std::pair(2, 2)));
  EXPECT_EQ(different.size(), 10U);
  EXPECT_EQ(pick_seed(domain, 1000, random).size(), 100U);
}

}  // namespace
}  // namespace ecotone::test
