#include <algorithm>
#include <cmath>
#include <limits>

#include "ecotone/diagnose/diagnose.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace diagnose_advice_test {

using testing::HasSubstr;
using testing::Not;

/// Domains A, B and T in turn, `rows` of each: a column of noise, and one that `value` gives by the domain's number.
Dataset three_domains(Index rows, double (*value)(Index domain, Random& random)) {
  Dataset data;
  Matrix x(3 * rows, 2);
  Random random(3, "advice-test");
  for (Index i = 0; i < x.rows(); ++i) {
    x(i, 0) = random.normal();
    x(i, 1) = value(i % 3, random);
    data.domain.index.push_back(static_cast<std::int32_t>(i % 3));
  }
  data.domain.names = {"A", "B", "T"};
  data.role.assign(3, Role::source);
  data.schema.columns = {{"noise", ColumnKind::numeric, {}}, {"c", ColumnKind::numeric, {}}};
  data.schema.domain = "site";
  data.x = Features::dense(std::move(x), data.schema.feature_names());
  return data;
}

DiagnoseOptions quick() { return {.permutations = 99, .sample = 400, .targets = {}}; }

std::string advice_of(const Diagnosis& found, const std::string& domain) {
  for (const Advice& one : found.advice)
    if (one.domain == domain) return one.text;
  return "";
}

/// The comparison of a domain with the others.
const Comparison& of(const Diagnosis& found, const std::string& domain) {
  return *std::ranges::find(found.against_rest, domain, &Comparison::a);
}

/// A constant that tells T apart gives it nearly equal weights: they keep all rows, and mean nothing.
TEST(DiagnoseAdvice, DomainsThatDoNotOverlapCannotBeWeighted) {
  const Diagnosis found =
      diagnose(three_domains(60, [](Index d, Random&) { return d == 2 ? 2.0 : 1.0; }), quick(), on(2));
  EXPECT_GT(*of(found, "T").ess_b_to_a, 0.9);
  EXPECT_TRUE(of(found, "T").apart());
  EXPECT_EQ(advice_of(found, "T"),
            "site T differs mostly in c; it hardly overlaps with the others, so weighting cannot help");
  EXPECT_THAT(advice_of(found, "A"), HasSubstr("weighting keeps"));
  EXPECT_FALSE(of(found, "A").apart());
  EXPECT_THAT(diagnosis_text(found), HasSubstr("apart: they hardly overlap, so weighting cannot help"));
  EXPECT_EQ(to_json(found)["pairs"][1]["apart"], true);
}

TEST(DiagnoseAdvice, OverlappingDomainsAreNotApart) {
  const Diagnosis found =
      diagnose(three_domains(60, [](Index d, Random& r) { return r.normal() + (d == 2 ? 1 : 0); }), quick(), on(2));
  for (const Comparison& one : found.against_rest) EXPECT_FALSE(one.apart()) << one.a;
  EXPECT_THAT(advice_of(found, "T"), HasSubstr("site T differs mostly in c; weighting keeps"));
  EXPECT_THAT(diagnosis_text(found), Not(HasSubstr("apart")));
}

TEST(DiagnoseAdvice, AsksOfUnitsWhereThereIsASpread) {
  const auto other_unit = [](Index d, Random& r) { return (d == 2 ? 88.0 : 1.0) * (1 + 0.1 * r.normal()); };
  EXPECT_THAT(advice_of(diagnose(three_domains(60, other_unit), quick(), on(2)), "T"), HasSubstr("c (another unit?)"));
}

TEST(DiagnoseAdvice, CategoriesAreSeenOrNot) {
  Dataset data = three_domains(60, [](Index d, Random&) { return d == 2 ? 1.0 : 0.0; });
  Matrix x(data.rows(), 3);
  x.leftCols(2) = data.x.to_matrix();
  x.col(2) = 1 - x.col(1).array();
  data.schema.columns[1] = {"c", ColumnKind::categorical, {"new", "old"}};
  data.x = Features::dense(x, data.schema.feature_names());
  const std::string text = advice_of(diagnose(data, quick(), on(2)), "T");
  EXPECT_THAT(text, HasSubstr("differs mostly in c=new (seen only here) and c=old (never seen here)"));
}

TEST(DiagnoseAdvice, AColumnWithoutValuesIsTheReason) {
  const auto absent = [](Index d, Random& r) { return d == 2 ? std::numeric_limits<double>::quiet_NaN() : r.normal(); };
  const Diagnosis found = diagnose(three_domains(60, absent), quick(), on(2));
  EXPECT_EQ(advice_of(found, "T"), "site T has no values of c, which no weighting can make up for");
}

TEST(DiagnoseAdvice, SingleRowsAreTooFew) {
  Dataset data = three_domains(40, [](Index, Random& r) { return r.normal(); });
  data.domain.names.push_back("lonely");
  data.domain.index[5] = 3;
  data.role.push_back(Role::source);
  data.y = Labels{Task::classify, {"no", "yes"}, std::vector<std::int32_t>(120, 0), {}};
  data.y->index[5] = 1;  // all of its labels: one
  const Diagnosis found = diagnose(data, quick(), on(2));
  EXPECT_EQ(advice_of(found, "lonely"), "site lonely has 1 row, too few to compare");
  EXPECT_EQ(found.advice.back().text, "no other domain differs from the others beyond chance");
}

TEST(DiagnoseAdvice, EqualDomainsHaveNoVariance) {
  Dataset data = three_domains(40, [](Index, Random&) { return 1.0; });
  data.x = Features::dense(Matrix::Constant(120, 2, 3), data.x.names());
  const Diagnosis found = diagnose(data, quick(), on(2));
  EXPECT_EQ(found.variance, 0);
  EXPECT_EQ(found.unbiased_variance, 0);
}

/// A comparison is the same whichever others are made, and whichever domain stands first.
TEST(DiagnoseAdvice, TargetsChangeNoComparison) {
  const Dataset data = three_domains(60, [](Index d, Random& r) { return r.normal() + 0.4 * static_cast<double>(d); });
  const Diagnosis all = diagnose(data, quick(), on(2));
  DiagnoseOptions options = quick();
  options.targets = {"A"};
  const Diagnosis one = diagnose(data, options, on(2));
  ASSERT_EQ(one.pairs.size(), 2U);
  for (const Comparison& right : one.pairs) {  // of B A and T A; the others are called A B and A T
    const auto same = [&](const Comparison& pair) { return pair.a == right.b && pair.b == right.a; };
    const Comparison& left = *std::ranges::find_if(all.pairs, same);
    EXPECT_EQ(left.p, right.p);
    EXPECT_EQ(left.auroc, right.auroc);
    EXPECT_EQ(left.a_distance, right.a_distance);
    EXPECT_EQ(left.ess_a_to_b, right.ess_b_to_a);
    EXPECT_EQ(*left.features[0].smd, -*right.features[0].smd);
  }
  EXPECT_EQ(of(all, "A").p, one.against_rest[0].p);
  EXPECT_EQ(of(all, "A").auroc, one.against_rest[0].auroc);
  EXPECT_THAT(diagnosis_text(all), HasSubstr("how 3 domains differ: 180 rows"));
  EXPECT_THAT(diagnosis_text(one),
              HasSubstr("how A differs from 2 other domains: 180 rows, 2 features\nA differs from the "
                        "others beyond chance\nfarthest pair: T and A (MMD² "));
}

}  // namespace diagnose_advice_test
}  // namespace ecotone::test
