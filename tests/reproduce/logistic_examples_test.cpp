#include "ecotone/reproduce/kinds/logistic_examples.h"

#include <cmath>

#include "ecotone/measure/intervals.h"
#include "ecotone/report/json/json.h"
#include "ecotone/reproduce/kinds/logistic_parts.h"
#include "reproduce/support.h"
#include "shared_data.h"

namespace ecotone::test {
namespace logistic_examples_test {

using ::testing::HasSubstr;

/// An item of the built-in experiment.
ReproduceOptions few(int repetitions, bool draw = false) {
  return {.repetitions = repetitions, .data = shared_data(), .draw = draw};
}

void expect_claims(const Reproduction& result) {
  for (const ReproducedClaim& one : result.claims) EXPECT_EQ(one.holds, true) << one.claim.text << ": " << one.ours;
}

/// Equal bytes for any number of threads, and others for another seed.
void expect_repeatable(const ExperimentItem& item, const Experiment& experiment, const ReproduceOptions& options) {
  const std::string one = to_json(reproduce(experiment, item, options, on(1))).dump();
  EXPECT_EQ(to_json(reproduce(experiment, item, options, on(3))).dump(), one);
  EXPECT_NE(to_json(reproduce(experiment, item, options, on(2, 7))).dump(), one);
}

std::string refusal(const std::string& example, const std::function<void(Json&)>& change) {
  for (const EmbeddedExperiment& embedded : embedded_experiments()) {
    if (embedded.name != "sayed2022") continue;
    Json json = Json::parse(embedded.recipe);
    for (Json& item : json["items"])
      if (item["example"] == example) change(item);
    const Error error = error_of([&] { parse_experiment("x", json.dump(), embedded.published); });
    EXPECT_EQ(error.code(), "bad_experiment") << error.what();
    return error.what();
  }
  return "no such experiment";
}

TEST(LogisticParts, JackknifeGivesMeansAsTheyAreAndAnErrorOfWhatIsNone) {
  const std::vector<double> values{1, 2, 6, 7};
  const auto mean_without = [&](Index left_out) {
    double sum = 0;
    for (Index i = 0; i < 4; ++i) sum += i == left_out ? 0 : values[at(i)];
    return sum / (left_out < 0 ? 4 : 3);
  };
  const std::vector<double> made = jackknife(4, mean_without);
  ASSERT_EQ(made.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(made[i], values[i], 1e-12);
  EXPECT_EQ(jackknife(1, [](Index) { return 3.0; }), std::vector<double>{3.0});
}

TEST(LogisticParts, TheStepsAreThoseOfTheBook) {
  // Two steps of (59.15) by hand: mu = 0.5, rho = 0.1.
  Matrix x{{1, 2}, {-1, 0.5}};
  LogisticSteps steps(x, {1, 0}, {}, plain_steps(0.5, 0.1, true, false));
  steps.step(0);
  // sigma(0) = 1/2: w = 0.25 (1, 2), -theta = 0.25
  EXPECT_NEAR(steps.weights()[0], 0.25, 1e-15);
  EXPECT_NEAR(steps.weights()[1], 0.5, 1e-15);
  EXPECT_NEAR(steps.offset(), 0.25, 1e-15);
  steps.step(1);
  const double score = -0.25 + 0.25 + 0.25;
  const double slope = -0.5 / (1 + std::exp(-score));
  EXPECT_NEAR(steps.weights()[0], 0.9 * 0.25 - slope, 1e-15);
  EXPECT_NEAR(steps.weights()[1], 0.9 * 0.5 + 0.5 * slope, 1e-15);
  EXPECT_NEAR(steps.offset(), 0.25 + slope, 1e-15);
}

TEST(LogisticParts, TheLineIsWhereTheScoreIsZero) {
  const Vector w = Eigen::Vector2d(2, -1);
  const ScatterChart::Segment line = boundary_line("l", w, 3, Matrix{{1, 5}, {-2, 0}});
  EXPECT_NEAR(2 * line.x1 - line.y1 + 3, 0, 1e-9);
  EXPECT_NEAR(2 * line.x2 - line.y2 + 3, 0, 1e-9);
  EXPECT_GT(std::hypot(line.x2 - line.x1, line.y2 - line.y1), 50);
}

TEST(LogisticExamples, IrisIsReducedAsInTheBook) {
  ECOTONE_SKIP_WITHOUT(shared_data() / "iris/iris.csv");
  const ReducedIris iris = read_iris(shared_data(), on(1));
  ASSERT_EQ(iris.x.rows(), 150);
  EXPECT_NEAR(iris.x.col(0).sum(), 0, 1e-9);
  // The variances of the components are the two largest eigenvalues of the correlations.
  EXPECT_NEAR(iris.x.col(0).squaredNorm() / 150, 2.9185, 1e-3);
  EXPECT_NEAR(iris.x.col(1).squaredNorm() / 150, 0.9140, 1e-3);
  double setosa = 0, versicolor = 0;
  for (Index i = 0; i < 50; ++i) {
    setosa += iris.x(i, 0) / 50;
    versicolor += iris.x(50 + i, 1) / 50;
  }
  EXPECT_NEAR(setosa, 2.22, 0.01);
  EXPECT_GT(versicolor, 0.4);
  const IrisSplit split = split_iris(iris, 30, on(1, 3));
  std::vector<Index> all = split.train;
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, first_rows(150));
  EXPECT_EQ(split.test.size(), 30U);
}

TEST(LogisticExamples, WithoutTheDataTheErrorSaysWhereTheyArePublished) {
  const Experiment found = experiment("sayed2022");
  const auto refused = [&](const std::filesystem::path& folder) {
    return error_of([&] { reproduce(found, found.item("59.1"), {.repetitions = 1, .data = folder}, on(1)); });
  };
  EXPECT_EQ(refused("").code(), "no_data");
  const Error missing = refused("/nowhere");
  EXPECT_EQ(missing.code(), "missing_data");
  for (const char* part : {"iris/iris.csv", "UCI", "sepal_length"}) EXPECT_THAT(missing.what(), HasSubstr(part));
}

TEST(LogisticExamples, SetosaIsSeparatedWithoutAnError) {
  ECOTONE_SKIP_WITHOUT(shared_data() / "iris/iris.csv");
  const Experiment found = experiment("sayed2022");
  const ExperimentItem& item = found.item("59.1");
  const Reproduction result = reproduce(found, item, few(100, true), on(2));
  expect_claims(result);
  EXPECT_EQ(cell(result, "test errors", "setosa").verdict, Verdict::agrees);
  EXPECT_GE(cell(result, "all training rows right within 14 iterations, %", "setosa").ours,
            cell(result, "all training rows right within 3 iterations, %", "setosa").ours);
  ASSERT_EQ(result.figures.scatters.size(), 3U);
  const ScatterChart& train = result.figures.scatters[0];
  EXPECT_EQ(train.groups[0].points.rows() + train.groups[1].points.rows(), 120);
  // All training rows of a class are on one side of the line.
  const ScatterChart::Segment& line = train.segments.at(0);
  for (const ScatterChart::Group& group : train.groups) {
    Index above = 0;
    for (Index i = 0; i < group.points.rows(); ++i)
      above +=
          (line.x2 - line.x1) * (group.points(i, 1) - line.y1) > (line.y2 - line.y1) * (group.points(i, 0) - line.x1);
    EXPECT_TRUE(above == 0 || above == group.points.rows()) << group.name;
  }
  ASSERT_EQ(result.figures.charts.size(), 1U);
  EXPECT_EQ(result.figures.charts[0].lines[0].values.size(), 30U);
  EXPECT_EQ(result.figures.charts[0].lines[0].values.back(), 100);
  expect_repeatable(item, found, few(3, true));
}

TEST(LogisticExamples, ThreeClassesByBinaryClassifiers) {
  ECOTONE_SKIP_WITHOUT(shared_data() / "iris/iris.csv");
  const Experiment found = experiment("sayed2022");
  for (const char* example : {"59.2", "59.3"}) {
    SCOPED_TRACE(example);
    const ExperimentItem& item = found.item(example);
    const Reproduction result = reproduce(found, item, few(100, true), on(2));
    expect_claims(result);
    ASSERT_EQ(result.rows.size(), 28U);
    // Each column's distance is that of its own means, of this example and of the other one.
    const std::string distance = "rms distance from the 18 printed coefficients";
    for (const std::string& column : {result.rows.front().column, result.rows.back().column}) {
      double squares = 0;
      for (const char* each : {"59.2", "59.3"}) {
        const Reproduction both =
            each == std::string(example) ? result : reproduce(found, found.item(each), few(100), on(2));
        for (const ReproducedRow& row : both.rows)
          if (row.column == column && (row.row.starts_with("-theta") || row.row.starts_with("w")))
            squares += (row.ours - *row.published) * (row.ours - *row.published);
      }
      EXPECT_NEAR(cell(result, distance, column).ours, std::sqrt(squares / 18), 0.001) << column;
    }
    const Figures& figures = result.figures;
    ASSERT_EQ(figures.scatters.size(), example == std::string("59.2") ? 7U : 6U);
    for (std::size_t k = 1; k <= 3; ++k) EXPECT_EQ(figures.scatters[k].segments.size(), 1U);
    const ScatterChart& predicted = figures.scatters[5];
    ASSERT_EQ(predicted.groups.size(), 4U);
    Index rows = 0;
    for (const ScatterChart::Group& group : predicted.groups) rows += group.points.rows();
    EXPECT_EQ(rows, 30);
    expect_repeatable(item, found, few(2));
  }
}

TEST(LogisticExamples, QueriesTurnTheWeightsTowardsTheModel) {
  const Experiment found = experiment("sayed2022");
  const ExperimentItem& item = found.item("59.4");
  const Reproduction result = reproduce(found, item, {.repetitions = 3, .data = {}, .draw = true}, on(2));
  const std::string one = "1 pass over the seed";
  EXPECT_GT(cell(result, "cosine to w^a", "all labels").ours, 0.99);
  EXPECT_LT(cell(result, "norm relative to w^a", "all labels").ours, 0.1);
  EXPECT_LT(cell(result, "ln of the normalised risk after 300 epochs", "all labels").ours, -8);
  EXPECT_GT(cell(result, "cosine after 200 queries: least_confidence", one).ours,
            cell(result, "cosine after 200 queries: random", one).ours);
  EXPECT_GT(cell(result, "cosine after 200 queries: random", one).ours,
            cell(result, "cosine after the seed", one).ours);
  ASSERT_EQ(result.figures.charts.size(), 2U);
  for (const LineChart& chart : result.figures.charts) {
    EXPECT_EQ(chart.x.size(), 301U);
    EXPECT_EQ(chart.lines[0].values.front(), 0);  // the largest risk is that of zero weights
    for (const double value : chart.lines[0].values) EXPECT_GE(value, chart.bottom);
  }
  ASSERT_EQ(result.figures.dots.size(), 1U);
  EXPECT_EQ(result.figures.dots[0].categories.size(), 10U);
  expect_repeatable(item, found, {.repetitions = 2, .data = {}, .draw = true});
}

TEST(LogisticExamples, TableOfLikelihoods) {
  const Experiment found = experiment("sayed2022");
  const Reproduction result = reproduce(found, found.item("59.5"), {}, on(2));
  const VerdictCounts counts = count_verdicts(result);
  EXPECT_EQ(counts.cells, 13);
  EXPECT_EQ(counts.agree, 13);
  const double expected[4][3] = {{1, 0.5, 0.5}, {3, 0.7, 0.3}, {3, 0.6, 0.4}, {2, 0.8, 0.2}};
  for (int i = 0; i < 4; ++i) {
    const std::string row = fmt::format("sample {}", i + 1);
    EXPECT_EQ(cell(result, row, "class").ours, expected[i][0]);
    EXPECT_NEAR(cell(result, row, "likelihood").ours, expected[i][1], 1e-15);
    EXPECT_NEAR(cell(result, row, "1 - likelihood").ours, expected[i][2], 1e-15);
  }
  EXPECT_EQ(cell(result, "least confident sample", "sample").ours, 1);
  EXPECT_EQ(cell(result, "sample of most entropy", "sample").ours, 1);
  EXPECT_EQ(cell(result, "least confident sample", "sample").spread, 0);
}

TEST(LogisticExamples, TheHyperplaneAsksTheRowsOfLeastConfidence) {
  const Experiment found = experiment("sayed2022");
  const ExperimentItem& item = found.item("59.6");
  const Reproduction result = reproduce(found, item, {.repetitions = 2, .data = {}, .draw = true}, on(2));
  expect_claims(result);
  const std::string one = "1 pass over the seed";
  // Neighbours and chance agree now and then: 5% would be chance among 20.
  for (const char* other : {"neighbours", "random"}) {
    const double same = cell(result, fmt::format("same row as least_confidence, %: {}", other), one).ours;
    EXPECT_GT(same, 0) << other;
    EXPECT_LT(same, 50) << other;
  }
  ASSERT_EQ(result.figures.dots.size(), 1U);
  EXPECT_EQ(result.figures.dots[0].series[0].values.size(), 4U);
}

TEST(LogisticExamples, WeightsDoNotHelpWhereTheLabellingRuleChanges) {
  const Experiment found = experiment("sayed2022");
  const ExperimentItem& item = found.item("59.7");
  const Reproduction result = reproduce(found, item, {.repetitions = 60, .data = {}, .draw = true}, on(2));
  EXPECT_GT(cell(result, "correlation of the error with the angle", "1 - mu rho").ours, 0.9);
  EXPECT_LT(std::abs(cell(result, "weighted less unweighted, points", "1 - mu rho").ours), 0.3);
  // The two columns differ in how far they shrink.
  EXPECT_GT(cell(result, "norm of w*", "1 - mu rho").ours, cell(result, "norm of w*", "as listed in (59.64)").ours);
  ASSERT_EQ(result.figures.scatters.size(), 4U);
  EXPECT_EQ(result.figures.scatters[2].groups[0].points.rows(), 100);
  expect_repeatable(item, found, {.repetitions = 2, .data = {}, .draw = true});
}

TEST(LogisticExamples, RefuseWrongFields) {
  EXPECT_THAT(refusal("59.1", [](Json& item) { item["step"] = 0; }), HasSubstr("'step' must be above 0"));
  EXPECT_THAT(refusal("59.1", [](Json& item) { item["watched"] = {121}; }), HasSubstr("'watched'"));
  EXPECT_THAT(refusal("59.1", [](Json& item) { item["speed"] = 1; }), HasSubstr("unknown field 'speed'"));
  EXPECT_THAT(refusal("59.2", [](Json& item) { item["multiclass"] = "all"; }), HasSubstr("must be ova or ovo"));
  EXPECT_THAT(refusal("59.2", [](Json& item) { item["columns"][0]["pipeline"] = "scale | logistic"; }),
              HasSubstr("must be logistic alone"));
  EXPECT_THAT(refusal("59.2", [](Json& item) { item["columns"][0]["pipeline"] = "logistic speed=1"; }),
              HasSubstr("speed"));
  EXPECT_THAT(refusal("59.3", [](Json& item) { item.erase("printed_in"); }), HasSubstr("'printed_in' is missing"));
  EXPECT_THAT(refusal("59.4", [](Json& item) { item["strategies"][0] = "least_confidence"; }),
              HasSubstr("must have explore=0"));
  EXPECT_THAT(refusal("59.4", [](Json& item) { item["strategies"][1] = "randon"; }), HasSubstr("did you mean"));
  EXPECT_THAT(refusal("59.4", [](Json& item) { item["subset"] = 1762; }), HasSubstr("'subset'"));
  EXPECT_THAT(refusal("59.5", [](Json& item) { item["likelihoods"][0][0] = -1; }), HasSubstr("'likelihoods'"));
  EXPECT_THAT(refusal("59.5", [](Json& item) { item["likelihoods"][1].push_back(1); }), HasSubstr("of one length"));
  EXPECT_THAT(refusal("59.5", [](Json& item) { item["likelihoods"][1][1] = "x"; }), HasSubstr("must hold numbers"));
  EXPECT_THAT(refusal("59.7", [](Json& item) { item["columns"][0]["l2"] = -1; }), HasSubstr("'l2' must be above 0"));
}

}  // namespace logistic_examples_test
}  // namespace ecotone::test
