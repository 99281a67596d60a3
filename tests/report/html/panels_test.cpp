// The panels of a page on a real evaluation: their figures are those of the result.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ecotone/data/generate/generate.h"
#include "ecotone/evaluate/known_site.h"
#include "ecotone/evaluate/probability_check.h"
#include "ecotone/report/html/html.h"
#include "ecotone/report/json/json.h"
#include "report/html/balance.h"

namespace ecotone::test {
namespace panels_test {

using testing::HasSubstr;
using testing::Not;

/// The clinics with scores at known and new sites, the diagnosis and the population.
const Report& clinics() {
  static const Report report = [] {
    const Context context({.seed = 1});
    const Dataset data = generate("clinics", {}, context);
    const std::vector<Pipeline> pipelines = {Pipeline::parse("impute | constant"),
                                             Pipeline::parse("impute | scale | logistic l2=0.01")};
    EvaluateOptions options;
    options.resamples = 0;
    options.curves = true;
    Report made;
    made.evaluation = evaluate(data, pipelines, options, context);
    options.protocol = Protocol::k_fold;
    add_known_site(*made.evaluation, evaluate(data, pipelines, options, context));
    made.diagnosis = diagnose(data, {.permutations = 49, .targets = {}}, context);
    made.population = population_of(data, context);
    made.projections = projections_of(data, context);
    made.whole = whole_model(data, pipelines[1], context);
    Provenance from;
    from.version = "1.2";
    from.commit = "abc";
    from.command = "ecotone evaluate '<x>'";
    made.provenance = {from};
    return made;
  }();
  return report;
}

const std::string& page() {
  static const std::string html = html_report(clinics());
  return html;
}

TEST(Panels, ThePageIsSmallAndWellFormed) {
  EXPECT_EQ(balance_error(without_scripts(page())), "");
  EXPECT_LT(page().size(), 1'000'000U);
  EXPECT_THAT(page(), HasSubstr("script-src 'sha256-"));
  EXPECT_THAT(without_scripts(page()), Not(HasSubstr(" style=")));
  for (const char* id : {"cost", "dots", "difference", "domains", "operating", "calibration", "inside", "metrics",
                         "shift", "population", "card", "pipelines", "reading", "provenance"})
    EXPECT_THAT(page(), HasSubstr(fmt::format("<section id=\"{}\"", id)));
}

/// One hospital has creatinine in another unit: its probabilities are worse than guessing, and the page says why.
TEST(Panels, TheAnswerWarnsOfProbabilitiesAndNamesTheCause) {
  const auto check = check_probabilities(clinics().evaluation->pipelines[1]);
  ASSERT_TRUE(check);
  ASSERT_TRUE(check->worse());
  EXPECT_THAT(page(), HasSubstr("but its probabilities need care</strong>: they are worse than guessing"));
  EXPECT_THAT(page(), HasSubstr("differs mostly in creatinine (another unit?)</a>"));
}

TEST(Panels, TheCostIsNewMinusKnown) {
  const PipelineScore& score = clinics().evaluation->pipelines[1];
  ASSERT_TRUE(score.known);
  const double cost = *value_of(score.mean, "auroc") - *value_of(score.known->mean, "auroc");
  for (const auto& [name, interval] : score.known->cost) {
    if (name != "auroc") continue;
    ASSERT_TRUE(interval);
    EXPECT_NEAR(interval->mean, cost, 1e-12);
    EXPECT_LT(*interval->low, cost);
    EXPECT_GT(*interval->high, cost);
  }
  EXPECT_LT(cost, 0);
}

/// Figures at a threshold are those of the rows: at 0 all are flagged.
TEST(Panels, TheCurvesCountRows) {
  const PipelineScore& score = clinics().evaluation->pipelines[1];
  ASSERT_TRUE(score.curves);
  const ProbabilityCurves& curves = *score.curves;
  EXPECT_EQ(curves.thresholds.front(), 0);
  EXPECT_LE(curves.thresholds.size(), 105U);
  for (std::size_t d = 0; d < curves.domains.size(); ++d) {
    const DomainCurves& domain = curves.domains[d];
    EXPECT_EQ(domain.domain, score.domains[d].domain);
    const auto rows = static_cast<double>(score.domains[d].rows);
    EXPECT_EQ(domain.positive.front() + domain.negative.front(), rows);
    EXPECT_NEAR(domain.positive.front() / rows, score.domains[d].prevalence[1], 1e-12);
    EXPECT_TRUE(std::ranges::is_sorted(domain.positive, std::ranges::greater{}));
    Index binned = 0;
    double observed = 0;
    for (const CalibrationBin& bin : domain.bins) {
      binned += bin.rows;
      observed += bin.observed * static_cast<double>(bin.rows);
    }
    EXPECT_EQ(binned, score.domains[d].rows);
    EXPECT_NEAR(observed, domain.positive.front(), 1e-6);
  }
}

TEST(Panels, TheDataAreThoseOfTheResult) {
  const Population& population = *clinics().population;
  EXPECT_EQ(population.domains, clinics().diagnosis->domains);
  Index rows = 0;
  for (const Index each : population.rows) rows += each;
  EXPECT_EQ(rows, clinics().diagnosis->rows);
  EXPECT_EQ(clinics().diagnosis->map.size(), population.domains.size());
  EXPECT_GT(clinics().diagnosis->map_share, 0.5);
  const ShiftTable& shifts = clinics().diagnosis->shifts;
  EXPECT_EQ(shifts.domains.size(), population.domains.size());
  EXPECT_EQ(shifts.features.front(), clinics().diagnosis->feature_shift.front().feature);
}

/// Of very many domains the page shows the hardest, and stays small.
TEST(Panels, ManyDomainsFitOnAPage) {
  constexpr std::size_t copies = 60;
  Report many = clinics();
  const auto multiply = [&](auto& items) {
    const auto once = items;
    for (std::size_t copy = 1; copy < copies; ++copy)
      for (auto item : once) {
        item.domain += fmt::format(" {}", copy);
        items.push_back(std::move(item));
      }
  };
  for (PipelineScore& score : many.evaluation->pipelines) {
    multiply(score.domains);
    multiply(score.known->domains);
    multiply(score.curves->domains);
  }
  for (std::size_t copy = 1; copy < copies; ++copy)
    for (std::size_t d = 0; d < 8; ++d) {
      many.population->domains.push_back(fmt::format("{} {}", many.population->domains[d], copy));
      many.population->rows.push_back(many.population->rows[d]);
      many.population->labelled.push_back(many.population->labelled[d]);
      many.population->class_share.push_back(many.population->class_share[d]);
      for (ColumnSummary& column : many.population->columns) column.of_domain.push_back(column.of_domain[d]);
    }
  const std::string html = html_report(many);
  EXPECT_THAT(html, HasSubstr(fmt::format("<th scope=\"row\">rows</th><td class=\"num\">{}</td>", 60 * 3340)));
  EXPECT_THAT(html, HasSubstr("450 further domains are not shown"));
  EXPECT_LT(html.size(), 2'000'000U);
  EXPECT_EQ(balance_error(without_scripts(html)), "");
  EXPECT_THAT(html, HasSubstr("the 60 hardest of 480 hospitals"));
  EXPECT_THAT(html, HasSubstr("over 480 hospitals"));
}

/// A document holds everything that the page shows, and gives the same page.
TEST(Panels, ThePageOfADocumentIsTheSame) {
  const Json document = Json::parse(document_of(clinics()).dump());
  Report read;
  add_document(read, document, "results.json");
  EXPECT_EQ(document_of(read), document);
  EXPECT_EQ(html_report(read), page());
}

}  // namespace panels_test
}  // namespace ecotone::test
