#include <gtest/gtest.h>

#include "ecotone/data/generate/generate.h"
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
