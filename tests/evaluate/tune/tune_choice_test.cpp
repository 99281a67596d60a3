#include "ecotone/evaluate/tune/tune_choice.h"

#include "ecotone/measure/intervals.h"
#include "evaluate/support.h"

namespace ecotone::test {
namespace tune_choice_test {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Values = std::vector<double>;

/// The choice between pipelines with these values of a metric on each fold; `constant`: those of a constant prediction.
Tuning chosen(const std::vector<std::string>& texts, const std::vector<Values>& folds, const Values& constant,
              const std::string& metric = "log_loss") {
  const auto scores = [&](const Values& values) {
    std::vector<FoldScore> result;
    for (const double value : values) result.push_back({{{metric, value}}, "", ""});
    return result;
  };
  const auto points = pipelines(texts);
  Tuning tuning;
  tuning.metric = metric;
  for (std::size_t f = 0; f < constant.size(); ++f) tuning.folds.push_back(fmt::format("site{}", f));
  for (std::size_t p = 0; p < points.size(); ++p)
    tuning.points.push_back(summary_of(points[p], scores(folds[p]), metric));
  choose_point(tuning, points, scores(constant));
  return tuning;
}

const Values distant = {9, 9, 9, 9, 9};

TEST(TuneChoice, TakesTheLargestPenaltyWithinOneStandardError) {
  const std::vector<std::string> texts = {"logistic l2=0.01", "logistic l2=0.1", "logistic l2=1", "logistic l2=10"};
  // Differences from the best: 0.1 is 0.008 +- 0.0107 worse, 1 is 0.024 +- 0.0103, 10 is 0.3.
  std::vector<Values> folds = {{0.5, 0.6, 0.4, 0.5, 0.5},
                               {0.52, 0.57, 0.43, 0.52, 0.5},
                               {0.55, 0.6, 0.4, 0.53, 0.54},
                               {0.8, 0.9, 0.7, 0.8, 0.8}};
  const Tuning tuning = chosen(texts, folds, distant);
  EXPECT_EQ(tuning.best, 0U);
  EXPECT_EQ(tuning.chosen, 1U);
  EXPECT_NEAR(*tuning.points[1].difference, 0.008, 1e-12);
  EXPECT_NEAR(*tuning.points[1].difference_se, *standard_error(Values{0.02, -0.03, 0.03, 0.02, 0}), 1e-12);
  EXPECT_GT(*tuning.points[2].difference, *tuning.points[2].difference_se);
  // A cost is the reverse of a penalty.
  const Tuning costs = chosen({"svm C=100", "svm C=10", "svm C=1", "svm C=0.1"}, folds, distant);
  EXPECT_EQ(costs.chosen, 1U);
  // Four folds do not tell a standard error.
  for (Values& values : folds) values.pop_back();
  EXPECT_EQ(chosen(texts, folds, Values(4, 9)).chosen, 0U);
}

TEST(TuneChoice, IsTheBestMeanAmongPipelinesThatDifferInMore) {
  const std::vector<Values> folds = {{0.5, 0.6, 0.4, 0.5, 0.5}, {0.52, 0.57, 0.43, 0.52, 0.5}};
  EXPECT_EQ(chosen({"scale | logistic l2=0.01", "logistic l2=0.1"}, folds, distant).chosen, 0U);
  // Neither is simpler where one penalty is larger and another smaller.
  EXPECT_EQ(chosen({"logistic l1=0.1 l2=0.1", "logistic l1=1 l2=0.01"}, folds, distant).chosen, 0U);
  EXPECT_EQ(chosen({"logistic l1=0.1 l2=0.1", "logistic l1=1 l2=0.1"}, folds, distant).chosen, 1U);
  // With one fold there is no standard error.
  EXPECT_EQ(chosen({"logistic l2=0.01", "logistic l2=0.1"}, {{0.5}, {0.5001}}, {9}).chosen, 0U);
}

TEST(TuneChoice, OneDomainWhereAllFailDoesNotDecide) {
  // The last domain has another unit: overconfident models lose without bound there, and the largest penalty least.
  const std::vector<std::string> texts = {"logistic l2=0.01", "logistic l2=0.1", "logistic l2=1"};
  const std::vector<Values> folds = {{0.50, 0.52, 0.48, 14}, {0.51, 0.54, 0.49, 7}, {0.6, 0.61, 0.57, 1.5}};
  const Tuning tuning = chosen(texts, folds, {0.65, 0.66, 0.64, 0.7});
  EXPECT_EQ(tuning.chosen, 0U);
  EXPECT_NEAR(*tuning.points[0].score, (0.50 + 0.52 + 0.48 + 0.7 + 0.16) / 4, 1e-12);
  EXPECT_NEAR(*tuning.points[0].mean, (0.50 + 0.52 + 0.48 + 14) / 4, 1e-12);
  Recorder recorder;
  warn_of_bounds(tuning, Context({.threads = 1, .observer = &recorder}));
  EXPECT_THAT(recorder.warnings,
              ElementsAre(HasSubstr("worse_than_constant: tune: with site3 held out every pipeline")));
  // Without the bound it would.
  EXPECT_EQ(chosen(texts, folds, {20, 20, 20, 20}).chosen, 2U);
  // Metrics with bounds of their own have no other.
  const Tuning ranks = chosen(texts, folds, distant, "auroc");
  EXPECT_TRUE(ranks.bound.empty());
  EXPECT_EQ(ranks.best, 0U);
}

TEST(TuneChoice, EqualScoresAreToldApartByTheLossesBeyondTheBound) {
  const Values constant(6, 0.69);
  const std::vector<Values> folds = {Values(6, 0.9), Values(6, 0.8), Values(6, 0.7)};
  EXPECT_EQ(chosen({"svm sigma=0.5", "svm sigma=2", "svm sigma=8"}, folds, constant).chosen, 2U);
  EXPECT_EQ(chosen({"svm sigma=8", "svm sigma=2", "svm sigma=0.5"}, {folds[2], folds[1], folds[0]}, constant).chosen,
            0U);
  // Among penalties the largest is still taken.
  EXPECT_EQ(chosen({"logistic l2=1", "logistic l2=0.1", "logistic l2=0.01"}, folds, constant).chosen, 0U);
}

TEST(TuneChoice, NoiseIsNotMuchWorseThanAConstant) {
  const auto warnings = [](const Values& losses) {
    Recorder recorder;
    warn_of_bounds(chosen({"logistic l2=1", "logistic l2=2"}, {losses, losses}, {0.691, 0.703, 0.695}),
                   Context({.threads = 1, .observer = &recorder}));
    return recorder.warnings;
  };
  EXPECT_THAT(warnings({0.701, 0.727, 0.71}), ElementsAre());
  EXPECT_THAT(warnings({0.701, 0.727, 0.8}), ElementsAre(HasSubstr("with site2 held out")));
}

std::vector<std::string> edges(const std::vector<std::string>& texts, std::size_t choice) {
  Recorder recorder;
  warn_at_edges(pipelines(texts), choice, Context({.threads = 1, .observer = &recorder}));
  return recorder.warnings;
}

TEST(TuneChoice, WarnsAtTheEdgeAndSuggestsTheNextValues) {
  const std::vector<std::string> grid = {"scale | logistic l2=0.001", "scale | logistic l2=0.01",
                                         "scale | logistic l2=0.1"};
  EXPECT_THAT(edges(grid, 0),
              ElementsAre("edge_of_grid: tune: the choice logistic l2=0.001 is the smallest value tried; "
                          "try l2={0.0001,1e-05} as well"));
  EXPECT_THAT(edges(grid, 1), ElementsAre());
  EXPECT_THAT(edges(grid, 2), ElementsAre(HasSubstr("l2=0.1 is the largest value tried; try l2={1,10} as well")));
  EXPECT_THAT(edges({"svm C=1 sigma=1", "svm C=3 sigma=1", "svm C=1 sigma=2", "svm C=3 sigma=2"}, 3),
              ElementsAre(HasSubstr("C={9,27}"), HasSubstr("sigma={4,8}")));
  // No suggestion is more than ten times the value before it.
  EXPECT_THAT(edges({"svm sigma=0.2", "svm sigma=3"}, 1), ElementsAre(HasSubstr("sigma={30,300} as well")));
  EXPECT_THAT(edges({"svm sigma=0.2", "svm sigma=3"}, 0), ElementsAre(HasSubstr("sigma={0.02,0.002} as well")));
}

TEST(TuneChoice, SuggestsWholeNumbersThatTheOptionAccepts) {
  const auto rounds = [](const std::vector<int>& values, std::size_t choice) {
    std::vector<std::string> texts;
    for (const int value : values) texts.push_back(fmt::format("adaboost rounds={}", value));
    const auto found = edges(texts, choice);
    return found.empty() ? "" : found.front().substr(found.front().find(" is the ") + 8);
  };
  EXPECT_EQ(rounds({10, 50, 200}, 0), "smallest value tried; try rounds={2} as well");
  EXPECT_EQ(rounds({10, 50, 200}, 2), "largest value tried; try rounds={800,3200} as well");
  EXPECT_EQ(rounds({10, 20, 30}, 2), "largest value tried; try rounds={40,50} as well");
  EXPECT_EQ(rounds({10, 20, 30}, 0), "smallest value tried; try rounds={5,3} as well");
  EXPECT_EQ(rounds({10, 1000}, 1), "largest value tried; try rounds={10000,100000} as well");
  EXPECT_EQ(rounds({2, 20, 200}, 0), "smallest value tried");
  EXPECT_EQ(rounds({1, 2}, 0), "");
}

TEST(TuneChoice, IsQuietWhereAnEndIsNatural) {
  EXPECT_THAT(edges({"logistic l2=0.1"}, 0), ElementsAre());
  EXPECT_THAT(edges({"logistic l2=0", "logistic l2=0.1"}, 0), ElementsAre());
  EXPECT_THAT(edges({"logistic l2=0", "logistic l2=0.1"}, 1), ElementsAre(HasSubstr("try l2={1,10}")));
  EXPECT_THAT(edges({"impute strategy=mean | constant", "impute strategy=median | constant"}, 0), ElementsAre());
  // Other pipelines and points that differ in more are no values of this axis.
  EXPECT_THAT(edges({"logistic l2=0.1", "scale | logistic l2=1", "logistic l1=1 l2=1", "constant"}, 0), ElementsAre());
}

}  // namespace tune_choice_test
}  // namespace ecotone::test
