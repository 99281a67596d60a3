#include "ecotone/measure/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/base/random.h"
#include "source_dir.h"

namespace ecotone {
namespace metrics_test {

using Classes = std::vector<std::int32_t>;

Matrix rows(std::initializer_list<std::initializer_list<double>> values) {
  Matrix m(static_cast<Index>(values.size()), static_cast<Index>(values.begin()->size()));
  Index i = 0;
  for (const auto& row : values) {
    Index j = 0;
    for (const double v : row) m(i, j++) = v;
    ++i;
  }
  return m;
}

Vector vec(std::initializer_list<double> values) {
  Vector v(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), v.data());
  return v;
}

/// Random probabilities with ties (rounded to tenths before normalising) and random truths, of K classes.
struct Sample {
  Classes truth;
  Classes predicted;
  Matrix probability;
};
Sample random_sample(Index n, Index classes, std::uint64_t seed) {
  Random random(seed, "metrics-test");
  Sample s;
  s.probability.resize(n, classes);
  for (Index i = 0; i < n; ++i) {
    s.truth.push_back(static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(classes))));
    for (Index k = 0; k < classes; ++k) s.probability(i, k) = std::ceil(10 * random.uniform()) / 10;
    s.probability.row(i) /= s.probability.row(i).sum();
    Index top = 0;
    s.probability.row(i).maxCoeff(&top);
    s.predicted.push_back(static_cast<std::int32_t>(top));
  }
  return s;
}

/// AUROC by its definition: all pairs.
double auroc_by_pairs(const std::vector<std::uint8_t>& positive, const std::vector<double>& score) {
  double wins = 0;
  double pairs = 0;
  for (std::size_t i = 0; i < score.size(); ++i)
    for (std::size_t j = 0; j < score.size(); ++j) {
      if (positive[i] == 0 || positive[j] != 0) continue;
      pairs += 1;
      wins += score[i] > score[j] ? 1.0 : score[i] == score[j] ? 0.5 : 0.0;
    }
  return wins / pairs;
}

TEST(Accuracy, IsThePartThatIsRight) {
  EXPECT_DOUBLE_EQ(accuracy(Classes{0, 1, 2, 1}, Classes{0, 1, 1, 1}), 0.75);
  EXPECT_DOUBLE_EQ(accuracy(Classes{3}, Classes{0}), 0.0);
}

TEST(BalancedAccuracy, AveragesRecallOverClassesPresent) {
  // Recalls 1/1, 2/4; class 2 is predicted but not present and does not count.
  EXPECT_DOUBLE_EQ(balanced_accuracy(Classes{0, 1, 1, 1, 1}, Classes{0, 1, 1, 0, 2}), 0.75);
  EXPECT_DOUBLE_EQ(balanced_accuracy(Classes{1, 1, 1, 1}, Classes{1, 0, 0, 0}), 0.25);
}

TEST(BalancedAccuracy, IsAccuracyWhenClassesAreEqual) {
  const Classes truth{0, 0, 0, 1, 1, 1, 2, 2, 2};
  const Classes predicted{0, 1, 2, 1, 1, 0, 2, 2, 2};
  EXPECT_DOUBLE_EQ(balanced_accuracy(truth, predicted), accuracy(truth, predicted));
}

TEST(Auroc, HandComputed) {
  const std::vector<std::uint8_t> positive{0, 0, 1, 1};
  EXPECT_DOUBLE_EQ(*auroc(positive, std::vector{0.1, 0.4, 0.35, 0.8}), 0.75);
  EXPECT_DOUBLE_EQ(*auroc(positive, std::vector{0.1, 0.2, 0.3, 0.4}), 1.0);
  EXPECT_DOUBLE_EQ(*auroc(positive, std::vector{0.5, 0.5, 0.5, 0.5}), 0.5);
  // One tie between a positive and a negative: (2 + 1 + 0.5) / 4.
  EXPECT_DOUBLE_EQ(*auroc(positive, std::vector{0.1, 0.4, 0.4, 0.8}), 0.875);
}

TEST(Auroc, IsTheDefinitionOverAllPairsWithTies) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed, "auroc-test");
    std::vector<std::uint8_t> positive{0, 1};
    std::vector<double> score{0.5, 0.5};
    for (int i = 0; i < 60; ++i) {
      positive.push_back(random.below(3) == 0);
      score.push_back(static_cast<double>(random.below(8)));
    }
    EXPECT_NEAR(*auroc(positive, score), auroc_by_pairs(positive, score), 1e-14);
  }
}

TEST(Auroc, NegatedScoreGivesTheComplement) {
  const Sample s = random_sample(101, 2, 3);
  std::vector<std::uint8_t> positive(s.truth.begin(), s.truth.end());
  std::vector<double> score(positive.size());
  std::vector<double> negated(positive.size());
  for (std::size_t i = 0; i < score.size(); ++i) negated[i] = -(score[i] = s.probability(static_cast<Index>(i), 1));
  EXPECT_NEAR(*auroc(positive, score), 1 - *auroc(positive, negated), 1e-15);
  // Only the order of scores counts.
  for (auto& v : score) v = 4 * v - 1;  // exact enough to keep ties
  EXPECT_DOUBLE_EQ(*auroc(positive, score), 1 - *auroc(positive, negated));
}

TEST(Auroc, UndefinedWithOneClassOrNaN) {
  EXPECT_FALSE(auroc(Classes{1, 1}, rows({{0.2, 0.8}, {0.3, 0.7}})));
  EXPECT_FALSE(auroc(Classes{0, 0}, rows({{0.2, 0.8}, {0.3, 0.7}})));
  EXPECT_FALSE(auroc(Classes{2, 2}, rows({{0.2, 0.5, 0.3}, {0.3, 0.6, 0.1}})));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(auroc(std::vector<std::uint8_t>{0, 1, 1}, std::vector{0.1, nan, 0.2}));
}

TEST(Auroc, BinaryIsOfTheSecondClass) {
  const Sample s = random_sample(60, 2, 11);
  std::vector<std::uint8_t> positive(s.truth.begin(), s.truth.end());
  std::vector<double> score(positive.size());
  for (std::size_t i = 0; i < score.size(); ++i) score[i] = s.probability(static_cast<Index>(i), 1);
  EXPECT_EQ(*auroc(s.truth, s.probability), *auroc(positive, score));
}

TEST(Auroc, MulticlassIsTheMeanOfOneVersusRestOverClassesPresent) {
  Sample s = random_sample(90, 4, 5);
  for (auto& t : s.truth) t = t == 2 ? 1 : t;  // class 2 does not occur
  double sum = 0;
  for (const Index k : {0, 1, 3}) {
    std::vector<std::uint8_t> positive(s.truth.size());
    std::vector<double> score(s.truth.size());
    for (std::size_t i = 0; i < score.size(); ++i) {
      positive[i] = s.truth[i] == k;
      score[i] = s.probability(static_cast<Index>(i), k);
    }
    sum += auroc_by_pairs(positive, score);
  }
  EXPECT_NEAR(*auroc(s.truth, s.probability), sum / 3, 1e-14);
}

TEST(Auroc, ClassUnseenInTrainingIsGuessed) {
  // Class 2 has no column: all its scores are 0, so one-versus-rest is 0.5; the others are perfect.
  const Matrix p = rows({{0.9, 0.1}, {0.1, 0.9}, {0.5, 0.5}});
  EXPECT_DOUBLE_EQ(*auroc(Classes{0, 1, 2}, p), (1.0 + 1.0 + 0.5) / 3);
}

TEST(LogLoss, OfUniformProbabilitiesIsLogK) {
  for (const Index classes : {2, 3, 7}) {
    const Sample s = random_sample(20, classes, 1);
    const Matrix uniform = Matrix::Constant(20, classes, 1.0 / static_cast<double>(classes));
    EXPECT_NEAR(log_loss(s.truth, uniform), std::log(static_cast<double>(classes)), 1e-14);
    EXPECT_NEAR(brier_sum(s.truth, uniform), 1 - 1 / static_cast<double>(classes), 1e-14);
  }
}

TEST(LogLoss, IsClipped) {
  const Matrix sure = rows({{1, 0}});
  EXPECT_DOUBLE_EQ(log_loss(Classes{1}, sure), -std::log(1e-15));
  EXPECT_NEAR(log_loss(Classes{0}, sure), 1e-15, 1e-16);
  EXPECT_DOUBLE_EQ(log_loss(Classes{5}, sure), -std::log(1e-15));  // unseen in training
}

TEST(Brier, IsThatOfScikitLearn) {
  // brier_score_loss([0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]) of scikit-learn
  const Matrix two = rows({{0.9, 0.1}, {0.1, 0.9}, {0.2, 0.8}, {0.7, 0.3}});
  EXPECT_NEAR(brier(Classes{0, 1, 1, 0}, two), 0.0375, 1e-15);
  EXPECT_NEAR(brier_sum(Classes{0, 1, 1, 0}, two), 0.075, 1e-15);
  // Of more classes: brier_score_loss([0, 1, 2], [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.4, 0.5]])
  const Matrix three = rows({{0.8, 0.1, 0.1}, {0.2, 0.5, 0.3}, {0.1, 0.4, 0.5}});
  EXPECT_NEAR(brier(Classes{0, 1, 2}, three), 0.28666666666666668, 1e-15);
  EXPECT_EQ(brier_sum(Classes{0, 1, 2}, three), brier(Classes{0, 1, 2}, three));
}

TEST(Brier, SumsOverClasses) {
  // (0.2^2 + 0.2^2 + 0.9^2 + 0.9^2) / 2
  EXPECT_NEAR(brier_sum(Classes{0, 1}, rows({{0.8, 0.2}, {0.9, 0.1}})), (0.08 + 1.62) / 2, 1e-15);
  EXPECT_NEAR(brier(Classes{0, 1}, rows({{0.8, 0.2}, {0.9, 0.1}})), (0.04 + 0.81) / 2, 1e-15);
  EXPECT_DOUBLE_EQ(brier(Classes{0}, rows({{1, 0, 0}})), 0.0);
  EXPECT_DOUBLE_EQ(brier(Classes{1}, rows({{1, 0, 0}})), 2.0);
  EXPECT_DOUBLE_EQ(brier(Classes{3}, rows({{1, 0, 0}})), 2.0);
}

TEST(CalibrationError, HandComputedBins) {
  // Bins of width 1/15: 0.62 and 0.64 share [0.6, 0.667), 0.95 is in the last but one's right neighbour.
  const Matrix p = rows({{0.62, 0.38}, {0.36, 0.64}, {0.05, 0.95}, {0.95, 0.05}});
  const double expected = (std::abs(1 - (0.62 + 0.64)) + std::abs(1 - 1.9)) / 4;
  EXPECT_NEAR(calibration_error(Classes{0, 0, 1, 1}, Classes{0, 1, 1, 0}, p), expected, 1e-15);
}

TEST(CalibrationError, CertainAndRightIsZeroCertainAndWrongIsOne) {
  const Matrix p = rows({{1, 0}, {0, 1}});
  EXPECT_DOUBLE_EQ(calibration_error(Classes{0, 1}, Classes{0, 1}, p), 0.0);
  EXPECT_DOUBLE_EQ(calibration_error(Classes{1, 0}, Classes{0, 1}, p), 1.0);
}

TEST(CalibrationError, ConstantForecastIsItsDistanceFromAccuracy) {
  const Matrix p = Matrix::Constant(10, 2, 0.5);
  EXPECT_NEAR(calibration_error(Classes{1, 1, 1, 1, 1, 1, 1, 0, 0, 0}, Classes(10, 1), p), 0.2, 1e-15);
}

TEST(Regression, HandComputed) {
  const Vector truth = vec({3, -0.5, 2, 7});
  const Vector value = vec({2.5, 0.0, 2, 8});
  EXPECT_DOUBLE_EQ(rmse(truth, value), std::sqrt(0.375));
  EXPECT_DOUBLE_EQ(mae(truth, value), 0.5);
  EXPECT_NEAR(*r2(truth, value), 0.9486081370449679, 1e-15);
}

TEST(Regression, R2IsZeroForTheMeanAndUndefinedForConstantTruth) {
  const Vector truth = vec({1, 2, 3, 6});
  EXPECT_NEAR(*r2(truth, Vector::Constant(4, 3.0)), 0.0, 1e-15);
  EXPECT_DOUBLE_EQ(*r2(truth, truth), 1.0);
  EXPECT_FALSE(r2(Vector::Constant(3, 0.1), vec({0, 1, 2})));
  EXPECT_FALSE(r2(vec({4}), vec({5})));
}

TEST(EffectiveSampleSize, GoldenCase) {
  const std::string folder = source_dir().string() + "/tests/golden/logistic/03_weighted/";
  std::ifstream case_file(folder + "case.json");
  const Json golden = Json::parse(case_file);
  int checked = 0;
  for (const auto& task : golden.at("tasks")) {
    if (task.at("op") != "ess") continue;
    std::ifstream file(folder + task.at("weights").get<std::string>());
    std::vector<double> a;
    for (double v = 0; file >> v;) a.push_back(v);
    ASSERT_FALSE(a.empty());
    const double expected = task.at("expect").at("ess").get<double>();
    const double tolerance = golden.at("tol").at("ess").get<double>();
    EXPECT_NEAR(effective_sample_size(Eigen::Map<const Vector>(a.data(), static_cast<Index>(a.size()))), expected,
                tolerance * expected);
    ++checked;
  }
  EXPECT_EQ(checked, 1);
}

TEST(EffectiveSampleSize, EqualWeightsCountRows) {
  EXPECT_DOUBLE_EQ(effective_sample_size(Vector::Constant(7, 0.3)), 7.0);
  EXPECT_DOUBLE_EQ(effective_sample_size(vec({0, 5, 0})), 1.0);
  EXPECT_DOUBLE_EQ(effective_sample_size(vec({0, 0})), 0.0);
}

TEST(Metrics, SizesAreChecked) {
  EXPECT_THROW(accuracy(Classes{}, Classes{}), Error);
  EXPECT_THROW(accuracy(Classes{1}, Classes{1, 0}), Error);
  EXPECT_THROW(log_loss(Classes{1}, rows({{0.5, 0.5}, {0.5, 0.5}})), Error);
  EXPECT_THROW(rmse(vec({1}), vec({1, 2})), Error);
}

TEST(MetricInfos, NamesOfATaskInOrder) {
  EXPECT_THAT(score_metrics(Task::classify, 3),
              testing::ElementsAre("accuracy", "balanced_accuracy", "auroc", "average_precision", "log_loss", "brier",
                                   "brier_sum", "calibration_error"));
  EXPECT_EQ(choice_metrics(Task::classify), score_metrics(Task::classify, 3));
  const auto two = score_metrics(Task::classify, 2);
  EXPECT_THAT(std::vector(two.begin() + 8, two.end()),
              testing::ElementsAre("calibration_slope", "calibration_intercept"));
  const auto all = score_metrics(Task::classify, 2, {.threshold = true});
  EXPECT_THAT(std::vector(all.begin() + 10, all.end()),
              testing::ElementsAre("sensitivity", "specificity", "ppv", "npv", "f1"));
  EXPECT_THAT(score_metrics(Task::regress, 0), testing::ElementsAre("rmse", "mae", "r2"));
  EXPECT_EQ(find_metric("auc"), nullptr);
}

TEST(MetricInfos, SayWhichValueIsBetter) {
  EXPECT_LT(find_metric("auroc")->badness(0.8), find_metric("auroc")->badness(0.7));
  EXPECT_LT(find_metric("rmse")->badness(0.7), find_metric("rmse")->badness(0.8));
  EXPECT_LT(find_metric("calibration_slope")->badness(1.1), find_metric("calibration_slope")->badness(0.8));
  EXPECT_LT(find_metric("calibration_intercept")->badness(-0.1), find_metric("calibration_intercept")->badness(0.2));
  for (const MetricInfo& metric : metric_infos()) {
    EXPECT_FALSE(metric.formula.empty()) << metric.name;
    EXPECT_TRUE(metric.help.ends_with(".")) << metric.name;
    EXPECT_TRUE(!metric.at_threshold || metric.two_classes) << metric.name;
  }
}

TEST(MetricInfos, AMetricThatDoesNotApplyIsNotUnknown) {
  const auto message = [](const std::string& name) {
    try {
      require_metric(name, choice_metrics(Task::classify));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), "unknown_metric");
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("rmse"), testing::StartsWith("there is no rmse here; choose one of accuracy, "));
  EXPECT_THAT(message("aurok"), testing::HasSubstr("did you mean 'auroc'?"));
  EXPECT_EQ(message("auroc"), "");
}

TEST(HeadlineMetric, PrefersAurocThenAccuracy) {
  const auto all = [](const std::string&) { return true; };
  const auto none = [](const std::string&) { return false; };
  EXPECT_EQ(headline_metric(choice_metrics(Task::classify), all), "auroc");
  EXPECT_EQ(headline_metric(choice_metrics(Task::classify), none), "accuracy");
  EXPECT_EQ(headline_metric(choice_metrics(Task::regress), all), "rmse");
  EXPECT_EQ(headline_metric(std::vector<std::string>{"brier"}, all), "brier");
}

}  // namespace metrics_test
}  // namespace ecotone
