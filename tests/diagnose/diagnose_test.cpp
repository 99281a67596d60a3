#include "ecotone/diagnose/diagnose.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "ecotone/data/generate/generate.h"
#include "ecotone/kernels/mmd.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace diagnose_test {

using testing::HasSubstr;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Standard normal rows, `rows` in each of `domains` domains that take turns; column 0 of domain d is moved by
/// `step` d.
Dataset normal_domains(Index domains, Index rows, Index cols, double step, std::uint64_t seed = 1) {
  Dataset data;
  Matrix x(domains * rows, cols);
  Random random(seed, "diagnose-test");
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < cols; ++j) x(i, j) = random.normal();
    x(i, 0) += step * static_cast<double>(i % domains);
    data.domain.index.push_back(static_cast<std::int32_t>(i % domains));
  }
  for (Index d = 0; d < domains; ++d) {
    data.domain.names.push_back(fmt::format("d{}", d));
    data.role.push_back(Role::source);
  }
  for (Index j = 0; j < cols; ++j) data.schema.columns.push_back({fmt::format("c{}", j), ColumnKind::numeric, {}});
  data.schema.domain = "site";
  data.x = Features::dense(std::move(x), data.schema.feature_names());
  return data;
}

DiagnoseOptions quick() { return {.permutations = 99, .sample = 400, .targets = {}}; }

TEST(Diagnose, FindsAShiftOfKnownSize) {
  const Diagnosis found =
      diagnose(normal_domains(2, 1500, 3, 1.0), {.permutations = 199, .sample = 2000, .targets = {}}, on(2));
  ASSERT_EQ(found.pairs.size(), 1U);
  const Comparison& pair = found.pairs[0];
  EXPECT_EQ(pair.a + pair.b, "d0d1");
  EXPECT_NEAR(*pair.auroc, 0.760, 0.02);                     // Phi(1 / sqrt(2))
  EXPECT_NEAR(*pair.a_distance, 2 * (1 - 2 * 0.3085), 0.1);  // the best rule errs in Phi(-1/2)
  EXPECT_NEAR(*pair.ess_a_to_b, std::exp(-1.0), 0.12);       // 1 / E[w^2] = exp(-shift^2)
  EXPECT_EQ(*pair.p, 1.0 / 200);
  EXPECT_GT(*pair.mmd2, 0.01);
  EXPECT_FALSE(pair.mmd2_error);
  EXPECT_EQ(found.feature_shift[0].feature, "c0");
  EXPECT_NEAR(std::abs(*found.feature_shift[0].smd), 1.0, 0.08);
  EXPECT_NEAR(found.feature_shift[0].ks, 0.383, 0.05);  // 2 Phi(1/2) - 1
  EXPECT_LT(found.feature_shift[0].q, 1e-6);
  EXPECT_GT(found.feature_shift[1].q, 0.01);
  EXPECT_NEAR(found.unbiased_variance, *pair.mmd2 / 4, 1e-3);
  ASSERT_EQ(found.advice.size(), 2U);
  EXPECT_THAT(found.advice[0].text, HasSubstr("site d0 differs mostly in c0; weighting keeps "));
}

TEST(Diagnose, SaysThatNothingDiffers) {
  const Diagnosis found = diagnose(normal_domains(3, 150, 4, 0), quick(), on(2, 3));
  ASSERT_EQ(found.advice.size(), 1U);
  EXPECT_EQ(found.advice[0].domain, "");
  EXPECT_EQ(found.advice[0].text, "no domain differs from the others beyond chance");
  for (const Comparison& pair : found.pairs) {
    EXPECT_GT(*pair.q, 0.05);
    EXPECT_NEAR(*pair.auroc, 0.5, 0.12);
    EXPECT_GT(*pair.ess_a_to_b, 0.8);
  }
  EXPECT_LT(std::abs(found.unbiased_variance), 0.005);
}

class DiagnoseClinics : public testing::TestWithParam<std::uint64_t> {};

TEST_P(DiagnoseClinics, RanksThePlantedColumnsFirst) {
  const Context context = on(2, GetParam());
  const Dataset data = generate("clinics", {}, context);
  const Diagnosis found = diagnose(data, {.permutations = 19, .sample = 300, .targets = {}}, context);
  std::set<std::string> first;
  for (std::size_t i = 0; i < 4; ++i) {
    first.insert(found.feature_shift[i].feature);
    EXPECT_LT(found.feature_shift[i].q, 1e-3);
  }
  EXPECT_EQ(first, (std::set<std::string>{"creatinine", "age", "cholesterol", "hemoglobin"}));
  EXPECT_EQ(found.feature_shift[0].feature, "creatinine");
  EXPECT_EQ(found.feature_shift[0].domain, "Eastholm");
  EXPECT_EQ(found.pairs.size(), 28U);
  EXPECT_EQ(found.missing.size(), 10U);  // all columns but age and male, chest_pain as one
  bool unit = false;
  for (const Advice& one : found.advice)
    unit |= one.domain == "Eastholm" && one.text.find("creatinine (another unit?)") != std::string::npos;
  EXPECT_TRUE(unit);
}

INSTANTIATE_TEST_SUITE_P(ThreeSeeds, DiagnoseClinics, testing::Values(1, 2, 3));

TEST(Diagnose, SameBytesForAnyThreads) {
  Dataset data = normal_domains(4, 130, 3, 0.3);
  DiagnoseOptions options{.permutations = 49, .sample = 100, .targets = {}};
  const std::string one = to_json(diagnose(data, options, on(1))).dump();
  EXPECT_EQ(one, to_json(diagnose(data, options, on(2))).dump());
  EXPECT_EQ(one, to_json(diagnose(data, options, on(7))).dump());
  EXPECT_NE(one, to_json(diagnose(data, options, on(2, 9))).dump());
}

TEST(Diagnose, AveragesBlocksOfLargeDomains) {
  const Dataset data = normal_domains(2, 5000, 2, 0.5);
  const Diagnosis large = diagnose(data, {.permutations = 19, .sample = 200, .targets = {}}, on(2));
  EXPECT_TRUE(large.sampled());
  const Comparison& pair = large.pairs[0];
  EXPECT_EQ(pair.used_a, 200);
  ASSERT_TRUE(pair.mmd2_error);
  EXPECT_LT(*pair.block_p, 1e-6);
  // Of all rows, standardised as diagnose does.
  Matrix x = data.x.to_matrix();
  x.rowwise() -= x.colwise().mean().eval();
  for (Index j = 0; j < x.cols(); ++j)
    x.col(j) /= std::sqrt(x.col(j).squaredNorm() / static_cast<double>(x.rows() - 1));
  Matrix a(5000, 2), b(5000, 2);
  for (Index i = 0; i < 5000; ++i) {
    a.row(i) = x.row(2 * i);
    b.row(i) = x.row(2 * i + 1);
  }
  EXPECT_NEAR(*pair.mmd2, mmd_squared(a, b, large.sigma, on(2)), 4 * *pair.mmd2_error);
  EXPECT_THAT(diagnosis_text(large), HasSubstr("tests of more than 200 rows use a sample"));
  EXPECT_EQ(to_json(large)["pairs"][0]["mmd2_estimator"], "blocks");
}

/// More columns than rows: the classifier works in the space of the rows. Columns of zeros change nothing.
TEST(Diagnose, TakesMoreColumnsThanRows) {
  const Dataset narrow = normal_domains(2, 30, 3, 1.5);
  Dataset wide = narrow;
  Matrix x = Matrix::Zero(60, 200);
  x.leftCols(3) = narrow.x.to_matrix();
  wide.x = Features::dense(std::move(x));
  const Comparison few = diagnose(narrow, quick(), on(2)).pairs[0];
  const Comparison many = diagnose(wide, quick(), on(2)).pairs[0];
  EXPECT_NEAR(*many.mmd2, *few.mmd2, 1e-10);
  EXPECT_NEAR(*many.auroc, *few.auroc, 1e-9);
  EXPECT_NEAR(*many.ess_a_to_b, *few.ess_a_to_b, 1e-6);
  EXPECT_NEAR(*many.ess_b_to_a, *few.ess_b_to_a, 1e-6);
}

/// Each domain is farther from the others than the one before it; the last has a single row.
TEST(Diagnose, TheFarthestComeFirst) {
  Dataset data = normal_domains(6, 80, 2, 0);
  Matrix x = data.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i) x(i, 0) += std::pow(1.7, data.domain.index[static_cast<std::size_t>(i)]);
  data.x = Features::dense(x, data.x.names());
  data.domain.names.push_back("lonely");
  data.domain.index[0] = 6;
  data.role.push_back(Role::source);
  const Diagnosis found = diagnose(data, quick(), on(2));
  for (const auto& comparisons : {found.against_rest, found.pairs})
    EXPECT_TRUE(std::ranges::is_sorted(comparisons, std::ranges::greater(),
                                       [](const Comparison& one) { return one.mmd2.value_or(-1); }));
  EXPECT_EQ(found.against_rest.front().a, "d5");
  EXPECT_EQ(found.against_rest.back().a, "lonely");
  EXPECT_EQ(found.advice.front().domain, "d5");
  EXPECT_EQ(found.domains.front(), "d0") << "domains keep their order";
  const std::string text = diagnosis_text(found, 3);
  EXPECT_THAT(text, HasSubstr("of 7 domains differ from the others beyond chance\nfarthest: d5 (MMD² "));
  EXPECT_THAT(text, HasSubstr("1 of 2 features shift beyond chance, most of all c0\n"));
  EXPECT_THAT(text, HasSubstr("(4 more domains; --top 7 shows all)\n"));
  EXPECT_THAT(text, HasSubstr("(18 more pairs; --top 21 shows all)\n"));
  EXPECT_EQ(diagnosis_text(found, 21).find("--top"), std::string::npos);
}

TEST(Diagnose, ManyDomainsAreComparedWithTheRestOnly) {
  const Dataset data = normal_domains(13, 30, 2, 0.2);
  const Diagnosis found = diagnose(data, quick(), on(2));
  EXPECT_TRUE(found.pairs.empty());
  EXPECT_EQ(found.against_rest.size(), 13U);
  EXPECT_EQ(found.against_rest[0].rows_b, 12 * 30);
  DiagnoseOptions options = quick();
  options.targets = {"d12"};
  const Diagnosis one = diagnose(data, options, on(2));
  EXPECT_EQ(one.pairs.size(), 12U);
  for (const Comparison& pair : one.pairs) EXPECT_EQ(pair.b, "d12");
  ASSERT_EQ(one.against_rest.size(), 1U);
  EXPECT_EQ(one.against_rest[0].a, "d12");
}

TEST(Diagnose, TakesConstantColumnsAndTinyDomains) {
  Dataset data = normal_domains(3, 40, 3, 0.5);
  Matrix x = data.x.to_matrix();
  x.col(1).setConstant(7);
  for (Index i = 0; i < x.rows(); ++i) x(i, 2) = static_cast<double>(i % 3);  // constant in each domain, different
  data.x = Features::dense(x, data.x.names());
  data.domain.names.push_back("lonely");
  data.domain.index[5] = 3;
  data.role.push_back(Role::source);
  const Diagnosis found = diagnose(data, quick(), on(2));
  for (const FeatureShift& shift : found.feature_shift)
    if (shift.feature == "c1") {
      EXPECT_EQ(shift.ks, 0);
      EXPECT_EQ(*shift.smd, 0);
    }
  const Comparison& lonely = found.against_rest[3];
  EXPECT_EQ(lonely.rows_a, 1);
  EXPECT_FALSE(lonely.mmd2);
  EXPECT_FALSE(lonely.auroc);
  const Json json = to_json(found);
  EXPECT_TRUE(json["against_rest"][3]["p_value"].is_null());
  EXPECT_NO_THROW(diagnosis_text(found));
}

TEST(Diagnose, CountsMissingValuesButDoesNotTakeThemForAShift) {
  Dataset data = normal_domains(2, 400, 2, 0);
  Matrix x = data.x.to_matrix();
  // Half of the values of one domain are missing, none of the other.
  for (Index i = 0; i < x.rows(); i += 4) x(i, 1) = nan;
  data.x = Features::dense(x, data.x.names());
  const Diagnosis found = diagnose(data, quick(), on(2));
  ASSERT_EQ(found.missing.size(), 1U);
  EXPECT_EQ(found.missing[0].column, "c1");
  EXPECT_DOUBLE_EQ(found.missing[0].spread, 0.5);
  EXPECT_EQ(found.missing_values, 200);
  for (const FeatureShift& shift : found.feature_shift) EXPECT_GT(shift.q, 0.05);
  EXPECT_THAT(found.advice[0].text, HasSubstr("c1 is missing in 50% of its rows, less than 1% elsewhere"));
}

TEST(Diagnose, TellsLabelsOfEachDomain) {
  const Diagnosis classes = diagnose(tiny(3, 40), quick(), on(2));
  ASSERT_EQ(classes.labels.size(), 3U);
  for (const DomainLabels& one : classes.labels) EXPECT_NEAR(one.share[0] + one.share[1], 1, 1e-12);
  EXPECT_EQ(to_json(classes)["label_shift"]["task"], "classify");
  const Diagnosis numbers = diagnose(tiny_regression(3, 40), quick(), on(2));
  EXPECT_NEAR(*numbers.labels[2].mean - *numbers.labels[0].mean, 2, 0.8);
  EXPECT_NEAR(*numbers.labels[1].sd, 1, 0.35);
  EXPECT_TRUE(to_json(diagnose(normal_domains(2, 20, 1, 0), quick(), on(1)))["label_shift"].is_null());
}

TEST(Diagnose, RefusesByName) {
  const Dataset data = normal_domains(2, 20, 2, 0);
  EXPECT_EQ(error_of([&] { diagnose(normal_domains(1, 20, 2, 0), quick(), on(1)); }).code(), "needs_two_domains");
  DiagnoseOptions unknown = quick();
  unknown.targets = {"nowhere"};
  const Error error = error_of([&] { diagnose(data, unknown, on(1)); });
  EXPECT_EQ(error.code(), "unknown_domain");
  EXPECT_THAT(error.what(), HasSubstr("d0, d1"));
  Dataset infinite = data;
  Matrix x = data.x.to_matrix();
  x(7, 1) = std::numeric_limits<double>::infinity();
  infinite.x = Features::dense(x, data.x.names());
  const Error found = error_of([&] { diagnose(infinite, quick(), on(1)); });
  EXPECT_EQ(found.code(), "non_finite");
  EXPECT_THAT(found.what(), HasSubstr("'c1' is infinite or beyond 1e150 in row 8"));
  Dataset empty = data;
  empty.x = Features::dense(Matrix(40, 0));
  EXPECT_EQ(error_of([&] { diagnose(empty, quick(), on(1)); }).code(), "no_features");
}

TEST(TextTable, AlignsWordsLeftAndNumbersRight) {
  TextTable table;
  table.columns = {{"name", true}, {"rows"}};
  table.lines = {{"ü", "7"}, {"longer", "1234567"}};
  EXPECT_EQ(table.text(), "name       rows\n───────────────\nü             7\nlonger  1234567\n");
}

}  // namespace diagnose_test
}  // namespace ecotone::test
