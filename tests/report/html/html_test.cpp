#include "ecotone/report/html/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "ecotone/report/html/page.h"
#include "report/html/balance.h"

namespace ecotone {
namespace html_test {

using test::balance_error;
using testing::HasSubstr;
using testing::Not;

using Number = std::optional<double>;

Metrics metrics(Number accuracy, Number auroc) { return {{"accuracy", accuracy}, {"auroc", auroc}}; }

DomainScore domain(const std::string& name, Number auroc, double accuracy) {
  return {.domain = name, .rows = 120, .metrics = metrics(accuracy, auroc)};
}

/// With the p-value that the interval has.
Difference interval(double mean, double low, double high) {
  const double p = low > 0 || high < 0 ? 0.01 : 0.5;
  return {{.mean = mean, .low = low, .high = high}, p, p};
}

Evaluation two_pipelines() {
  Evaluation evaluation;
  evaluation.metrics = {"accuracy", "auroc"};
  evaluation.pipelines = {
      {.pipeline = "constant",
       .domains = {domain("Basel", 0.5, 0.6), domain("Turin", 0.5, 0.7), domain("one class", {}, 1.0)},
       .mean = metrics(0.7667, 0.5),
       .spread = metrics(0.2082, 0.0),
       .difference = {},
       .worst = {{"accuracy", WorstDomain{0.6, "Basel"}}, {"auroc", WorstDomain{0.5, "Basel"}}}},
      {.pipeline = "scale | logistic",
       .domains = {domain("Basel", 0.8, 0.7), domain("Turin", 0.82, 0.75), domain("one class", {}, 0.9)},
       .mean = metrics(0.7833, 0.81),
       .spread = metrics(0.1041, 0.0141),
       .difference = {{"accuracy", interval(0.0167, -0.2418, 0.2752)}, {"auroc", interval(0.31, 0.1829, 0.4371)}},
       .worst = {{"accuracy", WorstDomain{0.7, "Basel"}}, {"auroc", WorstDomain{0.8, "Basel"}}}}};
  return evaluation;
}

std::string page_of(const Evaluation& evaluation, const std::string& title) {
  Report report;
  report.title = title;
  report.evaluation = evaluation;
  return test::without_scripts(html_report(report));
}

TEST(HtmlReport, IsWellFormedAndSelfContained) {
  const std::string page = page_of(two_pipelines(), "Two hospitals");
  EXPECT_EQ(balance_error(page), "");
  EXPECT_THAT(page, testing::StartsWith("<!DOCTYPE html>\n<html lang=\"en\">"));
  EXPECT_THAT(page, HasSubstr("<title>Two hospitals</title>"));
  EXPECT_THAT(page_of(two_pipelines(), ""), HasSubstr("<h1>What a new domain costs</h1>"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("prefers-color-scheme: dark"));
  for (const char* outside : {"http://", "https://", "<link", "<img", "src=", "url(", "@import", " style="})
    EXPECT_THAT(page, Not(HasSubstr(outside)));
}

TEST(HtmlReport, AnswersInWords) {
  const std::string page = page_of(two_pipelines(), "t");
  EXPECT_THAT(
      page,
      HasSubstr("<b class=\"tag\">B</b> <code>scale | logistic</code> ranks rows well on unseen domains (mean AUROC "
                "<strong>0.81</strong> over 2 domains, from 0.8 to 0.82)."));
  // Differences 0.30 and 0.32: 0.31 +- 12.7062 x 0.0141421 / sqrt(2)
  EXPECT_THAT(page, HasSubstr("the difference is <strong>+0.3100</strong> on average"));
  EXPECT_THAT(page, HasSubstr("interval from +0.1829 to +0.4371"));
  EXPECT_THAT(page, HasSubstr("excludes zero"));
  EXPECT_THAT(page, HasSubstr("Its hardest domain is <strong>Basel</strong> with 0.8."));
}

TEST(HtmlReport, ShowsIntervalsPrevalenceWorstAndThresholds) {
  Evaluation evaluation = two_pipelines();
  evaluation.classes = {"no", "<yes>"};
  evaluation.threshold = "youden";
  evaluation.pipelines[1].domains[1].intervals = {{"accuracy", std::nullopt}, {"auroc", Bounds{0.7512, 0.8634}}};
  for (PipelineScore& score : evaluation.pipelines) score.domains[1].prevalence = {0.625, 0.375};
  evaluation.pipelines[1].thresholds = {{"Basel", 0.41}, {"Turin", std::nullopt}};
  const std::string page = page_of(evaluation, "t");
  EXPECT_EQ(balance_error(page), "");
  EXPECT_THAT(page, HasSubstr("0.8200<small>0.7512 to 0.8634</small>"));
  EXPECT_THAT(page, HasSubstr("<title>Turin: 0.8200 (95% interval 0.7512 to 0.8634)</title>"));
  EXPECT_THAT(page, HasSubstr("share of &lt;yes&gt;</th>"));
  EXPECT_THAT(page, HasSubstr("<td class=\"num rows\">37.5%</td>"));
  EXPECT_THAT(page, HasSubstr("<th scope=\"row\">worst</th><td class=\"num\">0.8000<small>Basel</small>"));
  EXPECT_THAT(page, HasSubstr("Threshold by youden"));
  EXPECT_THAT(page, HasSubstr("<li>Basel held out: 0.4100</li>"));
}

TEST(HtmlReport, WhenTheFirstIsBestItIsComparedWithTheNext) {
  Evaluation evaluation = two_pipelines();
  std::swap(evaluation.pipelines[0], evaluation.pipelines[1]);
  evaluation.pipelines[0].difference.clear();
  evaluation.pipelines[1].difference = {{"auroc", interval(-0.31, -0.4371, -0.1829)}};
  const std::string page = page_of(evaluation, "t");
  EXPECT_THAT(page, HasSubstr("<b class=\"tag\">A</b> <code>scale | logistic</code> ranks rows well"));
  EXPECT_THAT(page, HasSubstr("the difference is <strong>+0.3100</strong>"));
  EXPECT_THAT(page, HasSubstr("<text class=\"figure worse\""));
  EXPECT_EQ(balance_error(page), "");
}

TEST(HtmlReport, TablesHaveCaptionsAndScopes) {
  const std::string page = page_of(two_pipelines(), "t");
  EXPECT_THAT(page, HasSubstr("<caption>AUROC by domain and pipeline"));
  EXPECT_THAT(page,
              HasSubstr("<th scope=\"row\">Basel <b class=\"worst\">worst</b></th><td class=\"num best\">0.8000"));
  EXPECT_THAT(page, HasSubstr("<rect width=\"82.0\" height=\"3\">"));
  EXPECT_THAT(page, HasSubstr("not defined"));
}

TEST(HtmlReport, UserTextIsEscapedEverywhere) {
  const std::string attack = "<script>alert('x')</script>\"&";
  Evaluation evaluation = two_pipelines();
  for (PipelineScore& score : evaluation.pipelines) {
    score.pipeline = attack;
    for (DomainScore& one : score.domains) one.domain = attack;
  }
  const std::string page = page_of(evaluation, attack);
  EXPECT_THAT(html_report(evaluation, attack), Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("<title>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&amp;</title>"));
  EXPECT_EQ(balance_error(page), "");
}

TEST(HtmlReport, OnePipelineOneDomainAndNothingDefined) {
  Evaluation evaluation = two_pipelines();
  evaluation.pipelines.pop_back();
  EXPECT_THAT(page_of(evaluation, "t"), Not(HasSubstr("Difference from the first")));
  EXPECT_EQ(balance_error(page_of(evaluation, "t")), "");
  PipelineScore& only = evaluation.pipelines.front();
  only.mean = only.spread = metrics({}, {});
  for (DomainScore& one : only.domains) one.metrics = metrics({}, {});
  const std::string page = page_of(evaluation, "t");
  EXPECT_THAT(page, HasSubstr("nothing to compare"));
  EXPECT_EQ(balance_error(page), "");
  only.domains.clear();
  EXPECT_EQ(balance_error(page_of(evaluation, "t")), "");
}

TEST(HtmlReport, RegressionIsAboutRmse) {
  const Metrics values = {{"rmse", 123456.5}, {"mae", 123456.5}, {"r2", -3.0}};
  Evaluation evaluation;
  evaluation.protocol = Protocol::k_fold;
  evaluation.task = Task::regress;
  evaluation.metrics = {"rmse", "mae", "r2"};
  evaluation.pipelines = {
      {.pipeline = "constant", .domains = {{"a", 5, values}}, .mean = values, .spread = {}, .difference = {}}};
  const std::string page = page_of(evaluation, "t");
  EXPECT_THAT(page, HasSubstr("RMSE in each domain"));
  EXPECT_THAT(page, HasSubstr("−3.0000"));
  EXPECT_EQ(balance_error(page), "");
}

TEST(HtmlReport, SpeaksOfBlocksOfTimeAndGroups) {
  Evaluation evaluation = two_pipelines();
  evaluation.protocol = Protocol::forward;
  evaluation.forward = {"day", 2, 30, {}};
  evaluation.groups = {"<patient>", 12};
  const std::string page = page_of(evaluation, "t");
  EXPECT_THAT(page, HasSubstr("Forward in time"));
  EXPECT_THAT(page, HasSubstr("Its hardest block"));
  EXPECT_THAT(page, HasSubstr("12 groups by &lt;patient&gt;"));
  EXPECT_THAT(page, testing::Not(HasSubstr("over domains")));
  EXPECT_EQ(balance_error(page), "");
}

TEST(HtmlReport, DifferencesWithoutAnIntervalAreWritten) {
  Evaluation evaluation = two_pipelines();
  evaluation.pipelines[1].difference[1].second = Difference{{.mean = 0.31, .low = {}, .high = {}}, {}, {}};
  const std::string page = page_of(evaluation, "t");
  EXPECT_THAT(page, HasSubstr("+0.3100"));
  EXPECT_EQ(balance_error(page), "");
}

TEST(HtmlReport, VerdictsGoByTheAdjustedPValue) {
  Evaluation evaluation = two_pipelines();
  EXPECT_THAT(page_of(evaluation, "t"), HasSubstr("<text class=\"figure better\""));
  EXPECT_THAT(page_of(evaluation, "t"), Not(HasSubstr("(Holm)")));
  evaluation.pipelines.push_back(evaluation.pipelines[1]);
  for (std::size_t p : {1U, 2U}) evaluation.pipelines[p].difference[1].second->p_adjusted = 0.06;
  const std::string page = page_of(evaluation, "t");
  EXPECT_THAT(page, Not(HasSubstr("<text class=\"figure better\"")));
  EXPECT_THAT(page, HasSubstr("<text class=\"figure unclear\""));
  EXPECT_THAT(page, HasSubstr("adjusted for 2 comparisons (Holm); the intervals are not"));
}

TEST(HtmlReport, SaysWhatWasChosenAndWhatCouldNotBeFitted) {
  Evaluation evaluation = two_pipelines();
  evaluation.pipelines[1].choice_metric = "log_loss";
  evaluation.pipelines[1].chosen = {{"Basel", "logistic l2=0.1", 0.6}, {"<Turin>", "logistic l2=1", 0.7}};
  PipelineScore failed = evaluation.pipelines[0];
  failed.error = Error(ErrorKind::data, "separable", "\"logistic\" with <Basel> held out: no");
  failed.mean = failed.spread = metrics({}, {});
  for (DomainScore& one : failed.domains) one.metrics = metrics({}, {});
  evaluation.pipelines.insert(evaluation.pipelines.begin(), failed);
  evaluation.reference = 1;
  const std::string page = page_of(evaluation, "t");
  EXPECT_EQ(balance_error(page), "");
  EXPECT_THAT(page, HasSubstr("by log loss"));
  EXPECT_THAT(page, HasSubstr("&lt;Turin&gt; held out: <code>logistic l2=1</code>"));
  EXPECT_THAT(page, HasSubstr("Not fitted:</strong> &quot;logistic&quot; with &lt;Basel&gt; held out: no"));
  EXPECT_THAT(page, HasSubstr("Difference from pipeline B"));
  EXPECT_THAT(page, HasSubstr("C minus B"));
  EXPECT_THAT(page, Not(HasSubstr("Pipeline A")));
}

TEST(Escape, EntitiesAndBrokenText) {
  EXPECT_EQ(report::escape("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(report::escape("Zürich 北京"), "Zürich 北京");
  EXPECT_EQ(report::escape(std::string("\x01\xFFz", 3)), "\xEF\xBF\xBD\xEF\xBF\xBDz");
}

TEST(Number, ForReaders) {
  EXPECT_EQ(report::number(0.81234), "0.8123");
  EXPECT_EQ(report::number(-0.25), "−0.2500");
  EXPECT_EQ(report::number(123456.0), "1.235e+05");
  EXPECT_EQ(report::number(-1e-17), "0.0000");
  EXPECT_EQ(report::number({}), "–");
  EXPECT_EQ(report::number(std::numeric_limits<double>::quiet_NaN()), "–");
  EXPECT_EQ(report::signed_number(0.5), "+0.5000");
  EXPECT_EQ(report::signed_number(0.0), "0.0000");
}

}  // namespace html_test
}  // namespace ecotone
