#include <gtest/gtest.h>

#include "ecotone/data/categories.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/diagnose/diagnose.h"
#include "ecotone/diagnose/parts.h"
#include "ecotone/diagnose/population.h"
#include "ecotone/diagnose/projection.h"

namespace ecotone::test {
namespace map_test {

Comparison distance(const std::string& a, const std::string& b, double squared) {
  Comparison pair;
  pair.a = a;
  pair.b = b;
  pair.mmd2 = squared;
  return pair;
}

/// Three domains on a line, one unit apart: the map has their distances.
TEST(DomainMap, HasTheDistances) {
  Diagnosis diagnosis;
  diagnosis.domains = {"a", "b", "c"};
  diagnosis.pairs = {distance("a", "b", 1), distance("b", "c", 1), distance("a", "c", 4)};
  const Context context;
  add_map(diagnosis, context);
  ASSERT_EQ(diagnosis.map.size(), 3U);
  EXPECT_NEAR(diagnosis.map_share, 1, 1e-12);
  EXPECT_NEAR(std::abs(diagnosis.map[0].x - diagnosis.map[2].x), 2, 1e-9);
  EXPECT_NEAR(std::abs(diagnosis.map[0].x - diagnosis.map[1].x), 1, 1e-9);
  for (const DomainPlace& place : diagnosis.map) EXPECT_NEAR(place.y, 0, 1e-6);
  // Without one of the pairs there is none.
  diagnosis.map.clear();
  diagnosis.pairs.pop_back();
  add_map(diagnosis, context);
  EXPECT_TRUE(diagnosis.map.empty());
}

TEST(Population, HasTheFiguresOfEachDomain) {
  Dataset data;
  data.x = Features::dense(Matrix{{1, 1, 0}, {3, 0, 1}, {NAN, 0, 0}, {10, 0, 1}}, {"n", "t=p", "t=q"});
  data.schema.columns = {{"n", ColumnKind::numeric, {}}, {"t", ColumnKind::categorical, {"p", "q"}}};
  data.schema.domain = "city";
  data.domain = {{"x", "y"}, {0, 0, 0, 1}};
  data.role.assign(2, Role::source);
  data.y.emplace();
  data.y->classes = {"no", "yes"};
  data.y->index = {0, 1, -1, 1};
  const Population found = population_of(data, Context());
  EXPECT_EQ(found.domain_word, "city");
  EXPECT_EQ(found.rows, (std::vector<Index>{3, 1}));
  EXPECT_EQ(found.labelled, (std::vector<Index>{2, 1}));
  EXPECT_EQ(found.class_share[0], (std::vector<double>{0.5, 0.5}));
  ASSERT_EQ(found.columns.size(), 2U);
  const ColumnFigures& number = found.columns[0].of_domain[0];
  EXPECT_NEAR(*number.mean, 2, 1e-12);
  EXPECT_NEAR(*number.sd, std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(number.missing, 1.0 / 3, 1e-12);
  EXPECT_FALSE(found.columns[0].of_domain[1].sd);
  EXPECT_NEAR(*found.columns[0].of_all.mean, 14.0 / 3, 1e-12);
  EXPECT_NEAR(found.columns[1].of_domain[0].share[0], 1.0 / 3, 1e-12);
  EXPECT_NEAR(found.columns[1].of_domain[0].missing, 1.0 / 3, 1e-12);
}

/// Codes of a category are compared like its levels.
TEST(Population, CodesHaveTheFiguresOfLevels) {
  const Context context({.seed = 1});
  const Dataset levels = generate("clinics", {}, context);
  const Dataset codes = to_codes(levels, context);
  ASSERT_LT(codes.x.cols(), levels.x.cols());
  const Population first = population_of(levels, context), second = population_of(codes, context);
  ASSERT_EQ(first.columns.size(), second.columns.size());
  EXPECT_EQ(second.further_columns, 0);
  for (std::size_t c = 0; c < first.columns.size(); ++c) {
    EXPECT_EQ(first.columns[c].levels, second.columns[c].levels);
    for (std::size_t d = 0; d < first.domains.size(); ++d) {
      EXPECT_EQ(first.columns[c].of_domain[d].share, second.columns[c].of_domain[d].share);
      EXPECT_EQ(first.columns[c].of_domain[d].missing, second.columns[c].of_domain[d].missing);
    }
  }
  const Diagnosis by_levels = diagnose(levels, {.permutations = 19, .sample = 50, .targets = {}}, context);
  const Diagnosis by_codes = diagnose(codes, {.permutations = 19, .sample = 50, .targets = {}}, context);
  EXPECT_EQ(by_codes.features, by_levels.features);
  EXPECT_EQ(by_codes.missing_values, by_levels.missing_values);
  ASSERT_EQ(by_codes.feature_shift.size(), by_levels.feature_shift.size());
  EXPECT_EQ(by_codes.feature_shift[0].ks, by_levels.feature_shift[0].ks);
  EXPECT_EQ(projections_of(codes, context).planes.size(), 2U);
}

TEST(Projections, HaveAPlaceForEachRow) {
  const Context context({.seed = 1});
  const Dataset data = generate("clinics", {}, context);
  const Projections found = projections_of(data, context);
  ASSERT_EQ(found.planes.size(), 2U);
  EXPECT_LE(found.domain.size(), 600U);
  EXPECT_EQ(found.cls.size(), found.domain.size());
  for (const Projection& plane : found.planes) {
    EXPECT_EQ(plane.x.size(), found.domain.size());
    EXPECT_EQ(plane.y.size(), found.domain.size());
  }
}

}  // namespace map_test
}  // namespace ecotone::test
