#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "ecotone/base/json.h"
#include "ecotone/base/random.h"
#include "ecotone/measure/confusion.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/measure/recalibration.h"
#include "source_dir.h"

namespace ecotone {
namespace weighted_metrics_test {

using Values = std::map<std::string, std::optional<double>>;

struct Rows {
  std::vector<std::int32_t> truth;
  std::vector<std::int32_t> predicted;
  Matrix probability;
  std::vector<double> weight;
  double threshold = 0.5;

  Index count() const { return static_cast<Index>(truth.size()); }
};

/// All metrics of classes, by name.
Values class_values(const Rows& rows, RowWeights weight) {
  Values values = {{"accuracy", accuracy(rows.truth, rows.predicted, weight)},
                   {"balanced_accuracy", balanced_accuracy(rows.truth, rows.predicted, weight)},
                   {"auroc", auroc(rows.truth, rows.probability, weight)},
                   {"average_precision", average_precision(rows.truth, rows.probability, weight)},
                   {"log_loss", log_loss(rows.truth, rows.probability, weight)},
                   {"brier", brier(rows.truth, rows.probability, weight)},
                   {"brier_sum", brier_sum(rows.truth, rows.probability, weight)},
                   {"calibration_error", calibration_error(rows.truth, rows.predicted, rows.probability, weight)}};
  if (rows.probability.cols() != 2) return values;
  const std::vector<std::uint8_t> positive(rows.truth.begin(), rows.truth.end());
  const Vector second = rows.probability.col(1);
  const Recalibration fit(positive, std::span(second.data(), positive.size()));
  values["calibration_slope"] = fit.slope(weight);
  values["calibration_intercept"] = fit.intercept(weight);
  Confusion counts;
  for (std::size_t i = 0; i < positive.size(); ++i)
    counts.add(positive[i] != 0, second[static_cast<Index>(i)] >= rows.threshold, weight_at(weight, i));
  values["sensitivity"] = sensitivity(counts);
  values["specificity"] = specificity(counts);
  values["ppv"] = ppv(counts);
  values["npv"] = npv(counts);
  values["f1"] = f1(counts);
  return values;
}

Values number_values(const Vector& truth, const Vector& value, RowWeights weight) {
  return {{"rmse", rmse(truth, value, weight)}, {"mae", mae(truth, value, weight)}, {"r2", r2(truth, value, weight)}};
}

Vector vector_of(const Json& json) {
  Vector result(static_cast<Index>(json.size()));
  for (Index i = 0; i < result.size(); ++i) result[i] = json[at(i)].get<double>();
  return result;
}

Rows rows_of(const Json& json) {
  Rows rows;
  rows.truth = json.at("truth").get<std::vector<std::int32_t>>();
  rows.predicted = json.at("predicted").get<std::vector<std::int32_t>>();
  rows.weight = json.at("weight").get<std::vector<double>>();
  rows.threshold = json.at("threshold").get<double>();
  const Json& probability = json.at("probability");
  rows.probability.resize(rows.count(), static_cast<Index>(probability[0].size()));
  for (Index i = 0; i < rows.count(); ++i) rows.probability.row(i) = vector_of(probability[at(i)]).transpose();
  return rows;
}

TEST(WeightedMetrics, AreThoseOfScikitLearn) {
  std::ifstream file(source_dir() / "tests/golden/metrics/cases.json");
  const Json cases = Json::parse(file);
  std::size_t checked = 0;
  for (const Json& json : cases) {
    const auto weight = json.at("weight").get<std::vector<double>>();
    Values found = json.at("task") == "classify"
                       ? class_values(rows_of(json), weight)
                       : number_values(vector_of(json.at("truth")), vector_of(json.at("value")), weight);
    for (const auto& [name, expected] : json.at("expect").items()) {
      ASSERT_TRUE(found.at(name)) << name;
      // Logistic regressions end where they are accurate enough.
      const double tolerance = name == "calibration_slope" ? 1e-6 : name == "calibration_intercept" ? 1e-8 : 1e-12;
      EXPECT_NEAR(*found.at(name), expected.get<double>(), tolerance) << json.at("name") << ": " << name;
      ++checked;
    }
  }
  EXPECT_EQ(checked, 4 * 14U + 2 * 7U + 2 * 3U);
}

/// Rows with tied probabilities and weights 0, 1, 2 and 3; the model confuses the last class with none.
Rows random_rows(Index n, Index classes, std::uint64_t seed) {
  Random random(seed, "weighted-metrics-test");
  Rows rows;
  rows.probability.resize(n, classes);
  for (Index i = 0; i < n; ++i) {
    rows.truth.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
    for (Index k = 0; k < classes; ++k)
      rows.probability(i, k) = std::ceil(8 * random.uniform()) + (rows.truth.back() == k ? 2 : 0);
    rows.probability.row(i) /= rows.probability.row(i).sum();
    Index top = 0;
    rows.probability.row(i).maxCoeff(&top);
    rows.predicted.push_back(static_cast<std::int32_t>(top));
    rows.weight.push_back(static_cast<double>(random.below(4)));
  }
  return rows;
}

/// Every row as often as its weight says.
Rows repeated(const Rows& rows) {
  Rows result;
  std::vector<Index> from;
  for (Index i = 0; i < rows.count(); ++i)
    for (int k = 0; k < static_cast<int>(rows.weight[at(i)]); ++k) from.push_back(i);
  for (const Index i : from) {
    result.truth.push_back(rows.truth[at(i)]);
    result.predicted.push_back(rows.predicted[at(i)]);
  }
  result.probability = rows.probability(from, Eigen::all);
  return result;
}

void expect_equal(const Values& a, const Values& b, double tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (const auto& [name, value] : a) {
    ASSERT_EQ(value.has_value(), b.at(name).has_value()) << name;
    if (value) {
      EXPECT_NEAR(*value, *b.at(name), tolerance) << name;
    }
  }
}

TEST(WeightedMetrics, WeightTwoIsTheRowTwice) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Rows rows = random_rows(40, 2 + static_cast<Index>(seed % 3), seed);
    expect_equal(class_values(rows, rows.weight), class_values(repeated(rows), {}), 1e-7);
    const Vector truth = rows.probability.col(0);
    const Vector value = rows.probability.col(1);
    const Rows twice = repeated(rows);
    expect_equal(number_values(truth, value, rows.weight),
                 number_values(twice.probability.col(0), twice.probability.col(1), {}), 1e-12);
  }
}

TEST(WeightedMetrics, OnlyRatiosOfWeightsCount) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Rows rows = random_rows(30, 2 + static_cast<Index>(seed % 2), seed);
    std::vector<double> scaled = rows.weight;
    for (double& w : scaled) w *= 1e-3;
    expect_equal(class_values(rows, rows.weight), class_values(rows, scaled), 1e-7);
  }
}

TEST(WeightedMetrics, WeightsOfOneChangeNoBit) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Rows rows = random_rows(33, 2 + static_cast<Index>(seed % 3), seed);
    EXPECT_EQ(class_values(rows, {}), class_values(rows, std::vector<double>(33, 1.0)));
  }
}

TEST(WeightedMetrics, AClassWithoutWeightIsAbsent) {
  Rows rows = random_rows(30, 2, 4);
  for (Index i = 0; i < rows.count(); ++i) rows.weight[at(i)] = rows.truth[at(i)] == 1 ? 0.0 : 1.5;
  Values values = class_values(rows, rows.weight);
  for (const char* name : {"auroc", "average_precision", "calibration_slope", "calibration_intercept", "sensitivity"})
    EXPECT_FALSE(values[name]) << name;
  EXPECT_EQ(values["balanced_accuracy"], values["accuracy"]);
  EXPECT_TRUE(std::isnan(accuracy(rows.truth, rows.predicted, std::vector<double>(30, 0.0))));
}

TEST(WeightedMetrics, R2NeedsTwoLabelsWithWeight) {
  Vector truth(3), value(3);
  truth << 1, 1, 2;
  value << 1, 2, 3;
  EXPECT_TRUE(r2(truth, value, std::vector{1.0, 1.0, 1.0}));
  EXPECT_FALSE(r2(truth, value, std::vector{1.0, 1.0, 0.0}));
}

TEST(AveragePrecision, HandComputed) {
  Matrix p(4, 2);
  p << 0.9, 0.1, 0.6, 0.4, 0.65, 0.35, 0.2, 0.8;
  // From the top: positive (precision 1), negative, positive (2/3), negative.
  EXPECT_NEAR(*average_precision(std::vector<std::int32_t>{0, 0, 1, 1}, p), (1 + 2.0 / 3) / 2, 1e-15);
  // All tied: the share of positive rows.
  EXPECT_DOUBLE_EQ(*average_precision(std::vector<std::int32_t>{0, 0, 0, 1}, Matrix::Constant(4, 2, 0.5)), 0.25);
  EXPECT_FALSE(average_precision(std::vector<std::int32_t>{1, 1, 1, 1}, p));
  EXPECT_FALSE(average_precision(std::vector<std::int32_t>{0, 0, 0, 0}, p));
}

}  // namespace weighted_metrics_test
}  // namespace ecotone
