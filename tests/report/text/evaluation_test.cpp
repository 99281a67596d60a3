#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "ecotone/base/error.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/report/json/json.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {
namespace table_test {

using testing::HasSubstr;
using testing::Not;

/// An evaluation with the given values of one metric: by pipeline, then domain.
Evaluation made_up(const std::string& metric, Task task, const std::vector<std::string>& domains,
                   const std::vector<std::string>& pipelines,
                   const std::vector<std::vector<std::optional<double>>>& values) {
  Evaluation evaluation;
  evaluation.task = task;
  evaluation.metrics = {metric};
  for (std::size_t p = 0; p < pipelines.size(); ++p) {
    PipelineScore score;
    score.pipeline = pipelines[p];
    for (std::size_t d = 0; d < domains.size(); ++d)
      score.domains.push_back({domains[d], static_cast<Index>(100 * (d + 1)), {{metric, values[p][d]}}});
    evaluation.pipelines.push_back(score);
  }
  compare_pipelines(evaluation);
  return evaluation;
}

Evaluation two_short() {
  return made_up("auroc", Task::classify, {"Basel", "北京", "Zürich"}, {"constant", "scale | logistic"},
                 {{0.5, 0.5, 0.5}, {0.8, std::nullopt, 0.7}});
}

void expect_fits(const std::string& table) {
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100) << line;
}

TEST(Table, IntervalsDoNotContradictTheirValues) {
  Evaluation evaluation = made_up("auroc", Task::classify, {"Basel", "Zürich"}, {"constant"}, {{0.99991, 0.8}});
  evaluation.pipelines[0].domains[0].intervals = {{"auroc", Bounds{0.99982, 1}}};
  evaluation.pipelines[0].domains[1].intervals = {{"auroc", Bounds{0.71234, 0.9}}};
  const std::string table = evaluation_table(evaluation, "auroc");
  EXPECT_THAT(table, HasSubstr("0.9999 [0.9998, 1.0000]\n"));
  EXPECT_THAT(table, HasSubstr("0.8000   [0.712, 0.900]\n"));
}

TEST(Table, ShortPipelinesHeadTheirColumns) {
  const std::string expected =
      "AUROC in each domain, trained on the others\n"
      "leave-one-domain-out · 3 domains, 600 rows · higher is better\n"
      "\n"
      "domain  rows  constant  scale | logistic\n"
      "────────────────────────────────────────\n"
      "Basel    100    0.5000            0.8000\n"
      "北京     200    0.5000                 -\n"
      "Zürich   300    0.5000            0.7000\n"
      "────────────────────────────────────────\n"
      "mean            0.5000            0.7500\n"
      "spread          0.0000            0.0707\n"
      "worst           0.5000            0.7000\n"
      "  in             Basel            Zürich\n"
      "\n"
      "difference from constant, paired over domains, with its 95% interval\n"
      "  scale | logistic  +0.2500  [-0.3853, +0.8853]  cannot be told apart\n";
  EXPECT_EQ(evaluation_table(two_short()), expected);
}

/// With intervals 0.01 either side and the prevalences 10%, 20%, ...
Evaluation with_intervals(Evaluation evaluation) {
  evaluation.classes = {"no", "yes"};
  for (PipelineScore& score : evaluation.pipelines)
    for (std::size_t d = 0; d < score.domains.size(); ++d) {
      DomainScore& domain = score.domains[d];
      const double share = 0.1 * static_cast<double>(d + 1);
      domain.prevalence = {1 - share, share};
      const auto& [name, value] = domain.metrics.front();
      domain.intervals = {{name, value ? std::optional(Bounds{*value - 0.01, *value + 0.01}) : std::nullopt}};
    }
  return evaluation;
}

TEST(Table, IntervalsStandBesideTheValues) {
  const std::string expected =
      "AUROC in each domain, trained on the others\n"
      "leave-one-domain-out · 3 domains, 600 rows · higher is better\n"
      "in brackets: the 95% interval by resampling the rows of the domain\n"
      "\n"
      "domain  rows  % yes               constant       scale | logistic\n"
      "─────────────────────────────────────────────────────────────────\n"
      "Basel    100   10.0  0.5000 [0.490, 0.510]  0.8000 [0.790, 0.810]\n"
      "北京     200   20.0  0.5000 [0.490, 0.510]       -\n"
      "Zürich   300   30.0  0.5000 [0.490, 0.510]  0.7000 [0.690, 0.710]\n"
      "─────────────────────────────────────────────────────────────────\n"
      "mean                 0.5000                 0.7500\n"
      "spread               0.0000                 0.0707\n"
      "worst                0.5000                 0.7000\n"
      "  in                  Basel                 Zürich\n";
  EXPECT_THAT(evaluation_table(with_intervals(two_short())), testing::StartsWith(expected));
}

TEST(Table, IntervalsThatDoNotFitHaveATableOfTheirOwn) {
  std::vector<std::string> pipelines;
  for (int p = 0; p < 5; ++p) pipelines.push_back(fmt::format("logistic l2={}", p));
  const Evaluation plain = made_up("auroc", Task::classify, {"a", "b"}, pipelines,
                                   std::vector(5, std::vector<std::optional<double>>{0.6, 0.7}));
  const std::string table = evaluation_table(with_intervals(plain));
  EXPECT_THAT(table, Not(HasSubstr("in brackets")));
  EXPECT_THAT(table, HasSubstr("\n95% interval by resampling the rows of the domain\n\ndomain  rows"));
  EXPECT_THAT(table, HasSubstr("a        100  [0.590, 0.610]  [0.590, 0.610]"));
  expect_fits(table);
}

TEST(Table, PrevalenceOfSeveralClassesAndOfNumbers) {
  Evaluation evaluation = made_up("auroc", Task::classify, {"a", "b"}, {"constant"}, {{0.5, 0.5}});
  evaluation.classes = {"x", "y", "z"};
  evaluation.pipelines[0].domains[0].prevalence = {0.25, 0.25, 0.5};
  const std::string shares = evaluation_table(evaluation);
  EXPECT_THAT(shares, HasSubstr("% x/y/z"));
  EXPECT_THAT(shares, HasSubstr("25/25/50"));
  evaluation.classes = {"a rather long name", "y", "z"};
  EXPECT_THAT(evaluation_table(evaluation), Not(HasSubstr("%")));
  Evaluation numbers = made_up("rmse", Task::regress, {"a"}, {"constant"}, {{1.5}});
  numbers.pipelines[0].domains[0].prevalence = {12.5};
  EXPECT_THAT(evaluation_table(numbers), HasSubstr("label mean"));
  EXPECT_THAT(evaluation_table(numbers), HasSubstr("12.5"));
}

TEST(Table, ThresholdsAreSummedUp) {
  Evaluation evaluation = made_up("f1", Task::classify, {"a", "b"}, {"constant", "logistic"}, {{0.5, 0.5}, {0.6, 0.7}});
  evaluation.classes = {"no", "yes"};
  evaluation.threshold = "f1";
  evaluation.pipelines[0].thresholds = {{"a", std::nullopt}, {"b", std::nullopt}};
  evaluation.pipelines[1].thresholds = {{"a", 0.25}, {"b", 0.375}};
  const std::string table = evaluation_table(evaluation);
  EXPECT_THAT(table, HasSubstr("\nthreshold of 'yes' by f1, within the training rows of each split\n"
                               "  constant  none could be chosen\n"
                               "  logistic  0.2500 to 0.3750\n"));
}

TEST(Table, AMetricWithABestValueHasNoBetter) {
  const std::string table =
      evaluation_table(made_up("calibration_slope", Task::classify, {"a", "b", "c"}, {"constant", "logistic"},
                               {{1.30, 1.31, 1.32}, {0.8, 0.81, 0.82}}));
  EXPECT_THAT(table, HasSubstr("1 is best\n"));
  EXPECT_THAT(table, HasSubstr("lower\n"));
  EXPECT_THAT(table, Not(HasSubstr("better")));
  EXPECT_THAT(table, HasSubstr("worst           1.3200    0.8000\n"));
}

TEST(Table, LongPipelinesAreLetteredWithALegend) {
  const std::string longer = "impute strategy=median indicator=true | scale | logistic l2=0.01";
  const Evaluation evaluation =
      made_up("auroc", Task::classify, {"a", "b", "c"}, {"constant", longer, longer + " | " + longer},
              {{0.5, 0.5, 0.5}, {0.80, 0.81, 0.79}, {0.40, 0.41, 0.39}});
  const std::string table = evaluation_table(evaluation);
  EXPECT_THAT(table, HasSubstr("\n  A  constant\n  B  " + longer + "\n  C  impute strategy=median"));
  EXPECT_THAT(table, HasSubstr("domain  rows       A       B       C\n"));
  EXPECT_THAT(table, HasSubstr("difference from A, paired"));
  EXPECT_THAT(table, HasSubstr("  B  +0.3000  [+0.2752, +0.3248]  better\n"));
  EXPECT_THAT(table, HasSubstr("  C  -0.1000  [-0.1248, -0.0752]  worse\n"));
  expect_fits(table);
}

TEST(Table, VerdictsOfSeveralComparisonsAreAdjusted) {
  // p of both is 0.034, adjusted 0.068: the intervals exclude 0 and nothing can be told.
  const std::vector<std::optional<double>> better = {0.60, 0.62, 0.56};
  const std::vector<std::optional<double>> base = {0.5, 0.5, 0.5};
  const std::string one =
      evaluation_table(made_up("auroc", Task::classify, {"a", "b", "c"}, {"A1", "B1"}, {base, better}));
  EXPECT_THAT(one, HasSubstr("better\n"));
  EXPECT_THAT(one, Not(HasSubstr("Holm")));
  const Evaluation two = made_up("auroc", Task::classify, {"a", "b", "c"}, {"A1", "B1", "C1"}, {base, better, better});
  EXPECT_GT(*two.pipelines[1].difference[0].second->low, 0);
  EXPECT_DOUBLE_EQ(*two.pipelines[1].difference[0].second->p_adjusted, 2 * *two.pipelines[1].difference[0].second->p);
  EXPECT_THAT(evaluation_table(two), HasSubstr("adjusted for 2 comparisons by Holm's method; intervals are not)\n"));
  EXPECT_THAT(evaluation_table(two), Not(HasSubstr("better\n  ")));
  EXPECT_THAT(evaluation_table(two), HasSubstr("cannot be told apart\n"));
}

TEST(Table, SaysWhatWasChosenAndWhatCouldNotBeFitted) {
  Evaluation evaluation =
      made_up("auroc", Task::classify, {"a", "b"}, {"logistic l2=0", "constant", "logistic l2={1,2}"},
              {{std::nullopt, std::nullopt}, {0.5, 0.5}, {0.7, 0.8}});
  evaluation.pipelines[0].error = Error(ErrorKind::data, "separable", "\"logistic l2=0\" with a held out: too\nbad");
  evaluation.pipelines[2].chosen = {{"a", "logistic l2=1", 0.6}, {"b", "logistic l2=1", 0.6}};
  evaluation.choice_metric = evaluation.pipelines[2].choice_metric = "log_loss";
  for (PipelineScore& score : evaluation.pipelines)
    score.mean = score.spread = {}, score.difference.clear(), score.worst.clear();
  compare_pipelines(evaluation);
  EXPECT_EQ(evaluation.reference, 1U);
  const std::string table = evaluation_table(evaluation);
  EXPECT_THAT(table, HasSubstr("difference from constant, paired"));
  EXPECT_THAT(table, HasSubstr("not fitted\n  logistic l2=0"));
  EXPECT_THAT(table, HasSubstr("with a held out: too\\nbad\n"));
  EXPECT_THAT(table, HasSubstr("logistic l2=0 could not be fitted, so the others are compared with constant\n"));
  EXPECT_THAT(table, HasSubstr("chosen within the training rows of each split, by log loss\n"));
  EXPECT_THAT(table, HasSubstr("by log loss\n  logistic l2=1: 2 of 2 (a, b)\n"));
  expect_fits(table);
}

TEST(Table, ManyPipelinesContinueBelow) {
  std::vector<std::string> pipelines;
  std::vector<std::vector<std::optional<double>>> values;
  for (int p = 0; p < 30; ++p) {
    pipelines.push_back(fmt::format("logistic l2={}", p));
    values.push_back({0.5 + 0.01 * p, 0.6});
  }
  const std::string table =
      evaluation_table(made_up("auroc", Task::classify, {std::string(80, 'x'), "b"}, pipelines, values));
  expect_fits(table);
  EXPECT_THAT(table, HasSubstr("AD  logistic l2=29"));
  EXPECT_THAT(table, HasSubstr("0.7900"));  // the last pipeline's first domain
  EXPECT_THAT(table, HasSubstr("xxx…"));
}

TEST(Table, LowerIsBetterTurnsTheWords) {
  const std::string table = evaluation_table(made_up("rmse", Task::regress, {"a", "b", "c"}, {"constant", "linear"},
                                                     {{1200.0, 1300.0, 1250.0}, {900.0, 1010.0, 955.0}}));
  EXPECT_THAT(table, HasSubstr("RMSE in each domain"));
  EXPECT_THAT(table, HasSubstr("lower is better"));
  EXPECT_THAT(table, HasSubstr("a        100      1200     900"));
  EXPECT_THAT(table, HasSubstr("better\n"));
  EXPECT_THAT(table, Not(HasSubstr("worse")));
}

TEST(Table, OnePipelineHasNoDifferences) {
  const std::string table = evaluation_table(made_up("auroc", Task::classify, {"a", "b"}, {"constant"}, {{0.5, 0.5}}));
  EXPECT_THAT(table, Not(HasSubstr("difference")));
  EXPECT_THAT(table, HasSubstr("mean            0.5000\n"));
}

TEST(Table, OneDomainSaysThatThereIsNoInterval) {
  Evaluation evaluation = made_up("auroc", Task::classify, {"a"}, {"constant", "logistic"}, {{0.5}, {0.75}});
  evaluation.protocol = Protocol::k_fold;
  const std::string table = evaluation_table(evaluation);
  EXPECT_THAT(table, HasSubstr("1 domain, 100 rows"));
  EXPECT_THAT(table, HasSubstr("+0.2500  one domain: no interval"));
}

TEST(Table, BlocksOfTimeStandWhereDomainsWould) {
  Evaluation evaluation =
      made_up("auroc", Task::classify, {"1 to 4", "5 to 9"}, {"constant", "logistic"}, {{0.5, 0.5}, {0.75, 0.7}});
  evaluation.protocol = Protocol::forward;
  evaluation.forward = {"day", 2, 30, {{"1 to 4", 1, 4, 10}, {"5 to 9", 5, 9, 20}}};
  evaluation.groups = {"patient", 12};
  const std::string table = evaluation_table(evaluation);
  EXPECT_THAT(table, HasSubstr("AUROC in each block of time, trained on rows before it\n"
                               "forward · 2 blocks, 300 rows · higher is better\n"
                               "trained on the last 30 · gap of 2 before each block\n"
                               "12 groups by patient, each on one side of a split\n\nblock "));
  EXPECT_THAT(table, HasSubstr("paired over blocks"));
  EXPECT_THAT(table, Not(HasSubstr("domain")));
  expect_fits(table);
  const Json json = to_json(evaluation);
  EXPECT_EQ(json["forward"]["blocks"][1]["trained_rows"], 20);
  EXPECT_EQ(json["forward"]["window"], 30);
  EXPECT_EQ(json["groups"]["groups"], 12);
  evaluation.forward->window = 0;
  EXPECT_TRUE(to_json(evaluation)["forward"]["window"].is_null());
}

TEST(Table, ManyDomainsAreCutAndCounted) {
  std::vector<std::string> domains;
  std::vector<std::optional<double>> values(75, 0.5);
  for (int d = 0; d < 75; ++d) domains.push_back(fmt::format("p{}", d));
  const std::string table = evaluation_table(made_up("auroc", Task::classify, domains, {"constant"}, {values}));
  EXPECT_THAT(table, HasSubstr("p59 "));
  EXPECT_THAT(table, Not(HasSubstr("p60 ")));
  EXPECT_THAT(table, HasSubstr("(15 more domains are in the mean; --json lists them)"));
}

TEST(Table, DomainNamesCannotBreakTheTerminal) {
  const std::string table = evaluation_table(made_up("auroc", Task::classify, {"a\x1B[2Jb\nc"}, {"constant"}, {{0.5}}));
  EXPECT_THAT(table, Not(HasSubstr("\x1B")));
  EXPECT_THAT(table, HasSubstr("a?[2Jb?c"));
}

TEST(Table, HeadlineFallsBackToAccuracy) {
  Evaluation evaluation = two_short();
  EXPECT_EQ(headline_metric(evaluation), "auroc");
  evaluation.metrics = {"accuracy", "auroc"};
  for (auto& score : evaluation.pipelines) score.mean = {{"accuracy", 0.5}, {"auroc", std::nullopt}};
  EXPECT_EQ(headline_metric(evaluation), "accuracy");
}

TEST(Table, UnknownMetricIsRefused) {
  try {
    evaluation_table(two_short(), "auc");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), "unknown_metric");
    EXPECT_EQ(error.kind(), ErrorKind::option);
  }
}

}  // namespace table_test
}  // namespace ecotone
