#include "ecotone/trust/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ecotone/report/html/panels.h"
#include "ecotone/report/text/text.h"
#include "methods/support.h"

namespace ecotone::test {
namespace explain_test {

/// Three source domains of 500 rows and a target of 1500. The label follows from column a; where a > 1 it is a coin.
/// In the target, rows lie farther to the right (`moved`), or the relation turns where b > 0 (`turned`).
Dataset shifted(double moved, bool turned, std::uint64_t seed = 1) {
  Dataset data;
  Labels y{Task::classify, {"0", "1"}, {}, {}};
  Matrix x(3000, 2);
  Random random(seed, "explain");
  data.domain.names = {"s0", "s1", "s2", "new"};
  data.role = {Role::source, Role::source, Role::source, Role::target};
  for (Index i = 0; i < 3000; ++i) {
    const std::int32_t d = i < 1500 ? static_cast<std::int32_t>(i % 3) : 3;
    data.domain.index.push_back(d);
    x(i, 0) = random.normal() + (d == 3 ? moved : 0);
    x(i, 1) = random.normal();
    double p = x(i, 0) > 1 ? 0.5 : x(i, 0) > 0 ? 0.95 : 0.05;
    if (d == 3 && turned && x(i, 1) > 0.5) p = 1 - p;
    y.index.push_back(random.uniform() < p ? 1 : 0);
  }
  data.x = Features::dense(std::move(x), {"a", "b"});
  data.y = std::move(y);
  data.schema = Schema{{{"a", ColumnKind::numeric, {}}, {"b", ColumnKind::numeric, {}}}, "label", "site", ""};
  return data;
}

Explanation explained(const Dataset& data, const std::string& pipeline = "adaboost rounds=30",
                      const std::string& loss = "auto") {
  ExplainOptions options;
  options.loss = loss;
  return explain_targets(data, Pipeline::parse(pipeline), options, context()).at(0);
}

TEST(Explain, PartsAddUp) {
  const Explanation found = explained(shifted(0.7, true));
  ASSERT_TRUE(found.shift);
  EXPECT_NEAR(found.shift->x_source_to_shared() + found.shift->y_given_x() + found.shift->x_shared_to_target(),
              found.shift->total(), 1e-12);
  EXPECT_EQ(found.source_rows, 1500);
  EXPECT_EQ(found.target_rows, 1500);
  EXPECT_EQ(found.domains, 3);
}

TEST(Explain, OtherRowsAreNotAnotherRelation) {
  const Explanation found = explained(shifted(1, false));
  ASSERT_TRUE(found.shift);
  EXPECT_GT(found.shift->total(), 0.05);
  EXPECT_LT(std::abs(found.shift->y_given_x()), 3 * found.shift->y_given_x_error);
  EXPECT_EQ(found.part(), LossPart::rows);
}

TEST(Explain, AnotherRelationIsNotOtherRows) {
  const Explanation found = explained(shifted(0, true));
  ASSERT_TRUE(found.shift);
  EXPECT_GT(found.shift->y_given_x(), 0.1);
  EXPECT_LT(std::abs(found.shift->x_source_to_shared()), 0.02);
  EXPECT_LT(std::abs(found.shift->x_shared_to_target()), 0.02);
  EXPECT_EQ(found.part(), LossPart::relation);
  EXPECT_THAT(found.advice(), testing::HasSubstr("No method without labels helps"));
  // It turns with column b, where b is large.
  EXPECT_EQ(found.columns.at(0).column, "b");
  EXPECT_LT(found.columns[0].p_value, 1e-6);
  EXPECT_EQ(found.regions.at(0).column, "b");
  EXPECT_THAT(found.regions[0].words, testing::HasSubstr("b above 0."));
  EXPECT_NEAR(found.regions[0].contribution, found.regions[0].share * found.regions[0].difference, 1e-12);
}

/// Where the relation makes the target cheaper, the regions that make it so come first.
TEST(Explain, RegionsThatMakeTheDifferenceComeFirst) {
  Dataset data = shifted(0, true);
  for (Index i = 0; i < data.rows(); ++i) {
    std::int32_t& d = data.domain.index[at(i)];
    d = d == 3 ? static_cast<std::int32_t>(i % 3) : 3;
  }
  const Explanation found = explained(data);
  ASSERT_TRUE(found.shift);
  ASSERT_LT(found.shift->y_given_x(), -0.1);
  EXPECT_EQ(found.regions.at(0).column, "b");
  EXPECT_LT(found.regions[0].contribution, -0.05);
  for (std::size_t i = 1; i < found.regions.size(); ++i)
    EXPECT_LE(found.regions[i - 1].contribution, found.regions[i].contribution);
}

TEST(Explain, SeparatedRowsAreNotDivided) {
  const Explanation found = explained(shifted(12, false));
  EXPECT_FALSE(found.divisible);
  EXPECT_EQ(found.error_code, "no_overlap");
  EXPECT_EQ(found.part(), LossPart::neither);
  EXPECT_GT(*found.auroc, 0.99);
}

TEST(Explain, AdviceSaysWhyNothingCanBeDivided) {
  EXPECT_THAT(explained(shifted(12, false)).advice(), testing::HasSubstr("can be told apart almost everywhere"));
  // Both sides have the same rows, but too few of the target have labels.
  Dataset few = shifted(0, true);
  for (Index i = 1520; i < 3000; ++i) few.y->index[at(i)] = -1;
  const Explanation found = explained(few, "logistic l2=0.01");
  EXPECT_EQ(found.target_rows, 20);
  EXPECT_EQ(found.error_code, "no_overlap");
  ASSERT_TRUE(found.auroc);
  EXPECT_LT(*found.auroc, 0.95);
  EXPECT_THAT(found.advice(), testing::HasSubstr("too few labelled rows that both sides could have"));
  EXPECT_THAT(found.advice(), testing::HasSubstr("label more rows of the target"));
  Explanation single;
  single.error_code = "too_few_rows";
  single.divisible = false;
  EXPECT_THAT(single.advice(), testing::HasSubstr("too few labelled rows"));
}

/// A target with these mean losses.
Explanation costing(double source, double target) {
  Explanation result{.pipeline = "logistic", .target = "new"};
  result.shift = LossShift{};
  result.shift->source = source;
  result.shift->target = target;
  return result;
}

TEST(Explain, ATargetMayCostLess) {
  const std::string less = report::explanation_answer({costing(0.3, 0.2)});
  EXPECT_THAT(less, testing::HasSubstr("</strong> costs 0.1 less: 0.2 there, 0.3 in the sources"));
  EXPECT_THAT(report::explanation_answer({costing(0.2, 0.3)}), testing::HasSubstr("</strong> costs 0.1 more: 0.3"));
  EXPECT_THAT(report::explanation_answer({costing(0.2, 0.2)}), testing::HasSubstr("</strong> costs as much: 0.2"));
  EXPECT_EQ(report::explanation_panel(costing(0.3, 0.2), 1).title, "Why new costs less");
  EXPECT_EQ(report::explanation_panel(costing(0.2, 0.3), 1).title, "Why new costs more");
  EXPECT_THAT(explanations_text({costing(0.3, 0.2)}), testing::StartsWith("why 'new' costs less: "));
  EXPECT_THAT(explanations_text({costing(0.2, 0.3)}), testing::StartsWith("why 'new' costs more: "));
}

TEST(Explain, EveryLossAndBothTasks) {
  const Dataset data = shifted(0.5, true);
  for (const std::string loss : {"error", "log_loss", "brier"})
    EXPECT_GT(explained(data, "logistic l2=0.01", loss).shift->y_given_x(), 0) << loss;
  EXPECT_EQ(code_of([&] { explained(data, "logistic l2=0.01", "squared"); }), "bad_option");
  Dataset numbers = data;
  numbers.y = Labels{Task::regress, {}, {}, Vector(data.rows())};
  for (Index i = 0; i < data.rows(); ++i) numbers.y->value[i] = data.y->index[at(i)];
  EXPECT_GT(explained(numbers, "ridge").shift->y_given_x(), 0);
}

TEST(Explain, OneSourceDomainIsHeldOutByRows) {
  Dataset data = shifted(0, true);
  for (auto& d : data.domain.index) d = d == 3 ? 1 : 0;
  data.domain.names = {"s", "new"};
  data.role = {Role::source, Role::target};
  const Explanation found = explained(data, "logistic l2=0.01");
  EXPECT_EQ(found.domains, 1);
  EXPECT_EQ(found.source_rows, 1500);
}

TEST(Explain, RefusesWhatCannotBeExplained) {
  Dataset data = shifted(0, true);
  Dataset unlabelled = data;
  for (Index i = 1500; i < 3000; ++i) unlabelled.y->index[at(i)] = -1;
  EXPECT_EQ(code_of([&] { explained(unlabelled); }), "no_labels");
  data.role.back() = Role::source;
  EXPECT_EQ(code_of([&] { explained(data); }), "no_target");
}

/// A target whose loss differs by these parts, each with a standard error.
Explanation of_parts(double x, double x_error, double y, double y_error, double total_error) {
  Explanation result = costing(0.3, 0.3 + x + y);
  result.shift->shared_source = 0.3 + x;
  result.shift->shared_target = 0.3 + x + y;
  result.shift->x_source_to_shared_error = x_error;
  result.shift->y_given_x_error = y_error;
  result.shift->total_error = total_error;
  return result;
}

TEST(Explain, AdviceIsAboutWhatTheTargetCosts) {
  using testing::HasSubstr;
  // It costs less, though one part costs more.
  const Explanation less = of_parts(-0.3, 0.01, 0.1, 0.01, 0.01);
  EXPECT_EQ(less.part(), LossPart::neither);
  EXPECT_THAT(less.advice(), HasSubstr("does not cost more than the sources"));
  // It costs more within noise, though one part exceeds its own.
  const Explanation noise = of_parts(-0.05, 0.03, 0.08, 0.01, 0.02);
  EXPECT_EQ(noise.part(), LossPart::neither);
  EXPECT_THAT(noise.advice(), HasSubstr("does not cost anything beyond noise"));
  // What exceeds its noise is the smaller part.
  const Explanation rows = of_parts(0.04, 0.01, 0.06, 0.05, 0.02), relation = of_parts(0.06, 0.05, 0.04, 0.01, 0.02);
  EXPECT_EQ(rows.part(), LossPart::both);
  EXPECT_EQ(relation.part(), LossPart::both);
  EXPECT_THAT(rows.advice(), HasSubstr("both explain part of it"));
  // Most of it.
  EXPECT_EQ(of_parts(0.09, 0.01, 0.01, 0.01, 0.02).part(), LossPart::rows);
  EXPECT_EQ(of_parts(0.01, 0.01, 0.09, 0.01, 0.02).part(), LossPart::relation);
  EXPECT_THAT(of_parts(0.05, 0.04, 0.05, 0.04, 0.02).advice(), HasSubstr("Neither part exceeds its noise"));
}

TEST(Explain, SaysThatRowWeightsAreNotUsed) {
  Dataset data = shifted(0, true);
  const auto notes = [&] {
    Recorder recorder;
    explain_targets(data, Pipeline::parse("logistic l2=0.01"), {}, context().observed_by(&recorder));
    return std::ranges::count_if(
        recorder.notes, [](const std::string& note) { return note.find("weights are not used") != std::string::npos; });
  };
  EXPECT_EQ(notes(), 0);
  data.weight = Vector::Constant(data.rows(), 2);
  EXPECT_EQ(notes(), 1);
}

}  // namespace explain_test
}  // namespace ecotone::test
