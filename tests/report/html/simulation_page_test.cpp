#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ecotone/report/html/html.h"
#include "report/html/balance.h"
#include "report/simulation_support.h"

namespace ecotone::test {
namespace simulation_page_test {

using testing::HasSubstr;
using testing::Not;

std::string page_of(const LabelSimulation& simulation, const std::string& title) {
  Report report;
  report.title = title;
  report.simulation = simulation;
  return without_scripts(html_report(report));
}

TEST(SimulationPage, IsWellFormedAndSelfContained) {
  for (const std::size_t further : {0, 4}) {
    LabelSimulation simulation = simulated_labelling();
    for (std::size_t i = 0; i < further; ++i)
      simulation.curves.insert(simulation.curves.begin(), simulated_curve("margin k=" + std::to_string(i), 0.005, 50));
    const std::string page = page_of(simulation, "<b>");
    EXPECT_EQ(balance_error(page), "");
    EXPECT_THAT(page, HasSubstr("<h1>&lt;b&gt;</h1>"));
    EXPECT_THAT(page, HasSubstr("Turin &lt;&amp;&gt;"));
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
    for (const char* outside : {"http://", "https://", "<link", "<img", "src=", "url(", "@import", " style="})
      EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(SimulationPage, SaysInWordsWhatTheCurvesShow) {
  const std::string page = page_of(simulated_labelling(), "");
  EXPECT_THAT(page, HasSubstr("<h1>What labels are worth</h1>"));
  EXPECT_THAT(page, HasSubstr("least_confidence reaches 95% of the accuracy with all labels after 34 labels (median of "
                              "3 runs), random after 76."));
  EXPECT_THAT(page, HasSubstr("aria-label=\"Accuracy on held-out rows by the number of labels. A least_confidence: "
                              "0.600 at 10 labels,"));
  EXPECT_THAT(page, HasSubstr("<td class=\"num\">2 of 3</td>"));
  EXPECT_THAT(page, HasSubstr("0.900<small>0.870 to 0.920</small>"));
}

/// One line and one band for each strategy; with many strategies the bands are in charts of their own.
TEST(SimulationPage, DrawsALineAndABandForEachStrategy) {
  const auto count = [](const std::string& page, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = page.find(part); at != std::string::npos; at = page.find(part, at + 1)) ++found;
    return found;
  };
  LabelSimulation simulation = simulated_labelling();
  const std::string few = page_of(simulation, "");
  EXPECT_EQ(count(few, "<polygon class=\"band"), 3U);
  EXPECT_EQ(count(few, "<svg class=\"chart\""), 2U);  // values and coverage
  simulation.curves.insert(simulation.curves.begin(), simulated_curve("margin", 0.005, 50));
  const std::string many = page_of(simulation, "");
  EXPECT_EQ(count(many, "<svg class=\"chart\""), 5U);
  EXPECT_EQ(count(many, "<polygon class=\"band"), 6U);
}

TEST(SimulationPage, HasNoAuditSectionWithoutAudits) {
  LabelSimulation simulation = simulated_labelling();
  for (StrategyCurve& curve : simulation.curves)
    for (CurvePoint& point : curve.points) point.coverage.reset();
  EXPECT_THAT(page_of(simulation, ""), Not(HasSubstr("How far the audit can be trusted")));
}

}  // namespace simulation_page_test
}  // namespace ecotone::test
