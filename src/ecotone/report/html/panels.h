#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ecotone/report/html/html.h"
#include "ecotone/report/html/page.h"

/// The panels of the page.
namespace ecotone::report {

/// A part of the page with a heading and a place in the contents. Without HTML there is none.
struct Panel {
  std::string id;
  std::string title;
  std::string html;
};

// ---- of an evaluation
/// Ranking and probabilities together in one sentence, how certain it is, and why the worst domain is.
std::string answer(const Results& results, const Report& report);
/// What a pipeline scores at a known site beside a new one.
Panel cost_panel(const Results& results, const Evaluation& evaluation);
/// Where the next domain is expected: a bar for every pipeline.
Panel next_panel(const Results& results, const Evaluation& evaluation);
/// What sets or intervals cover in each domain, and how large they are; empty if no pipeline makes any.
Panel coverage_panel(const Results& results, const Evaluation& evaluation);
/// One strip per pipeline: a dot for each domain, the mean and the spread around it.
Panel dot_panel(const Results& results);
/// One strip per pipeline after the reference: the paired difference and its interval around zero.
Panel difference_panel(const Results& results);
/// The headline metric by domain and pipeline.
Panel domain_panel(const Results& results, const Report& report);
/// Mean and spread of every metric by pipeline.
Panel metric_panel(const Results& results);
/// What a threshold does in each domain, with a slider; ROC, precision and recall, net benefit.
/// `full` has the domains that are not shown, too.
Panel operating_panel(const Results& results, const Evaluation& evaluation, const Evaluation& full);
/// Observed shares against probabilities, domain by domain.
Panel calibration_panel(const Results& results, const Evaluation& evaluation);
/// What the models of the best pipeline use, and how stable that is.
Panel usage_panel(const Results& results, const Evaluation& evaluation);
/// Weights, boosting and decision regions of the pipeline fitted on all rows.
Panel whole_model_panel(const WholeModel& whole);
/// The pipelines' exact text.
Panel pipeline_panel(const Results& results);
/// What the protocol, the metric and the intervals mean.
Panel reading_panel(const Results& results);
/// Intended use and limits, from what is known.
Panel card_panel(const Results& results, const Report& report);
/// The intended use alone, for results that are no scores.
Panel use_panel(const Report& report);

// ---- of other results
/// What to expect in targets, a sentence for each.
std::string expectation_answer(const std::vector<Expectation>& expectations);
/// All estimators and metrics; `number_of_it` tells several apart.
Panel expectation_panel(const Expectation& expectation, std::size_t number_of_it);
/// What targets cost and what to do about it.
std::string explanation_answer(const std::vector<Explanation>& explanations);
/// The parts of the difference as bars, and the regions that disagree.
Panel explanation_panel(const Explanation& explanation, std::size_t number_of_it);
/// How the farthest domain differs.
std::string shift_answer(const Diagnosis& diagnosis);
/// Where the domains differ: columns, kernel distances, missing values, labels, advice.
Panel shift_panel(const Report& report);
/// Rows in the plane, before and after domains are made alike.
Panel projection_panel(const Projections& projections);
/// Who is in the data.
/// `full` has the domains that are not shown, too.
Panel population_panel(const Population& population, const Population& full);
/// The points of a search and the one that was chosen.
Panel tuning_panel(const Tuning& tuning);
/// The features that were taken, in one sentence.
std::string selection_answer(const FeatureSelection& selection);
/// The path of a selector, or one for each of several classes: T and losses by step.
Panel selection_panel(const FeatureSelection& selection);
/// Which columns a model uses most, in one sentence, and whether any means opposite things in two domains.
std::string effects_answer(const ColumnEffects& effects);
/// One strip per column: what is lost in each domain when it is shuffled.
Panel importance_panel(const ColumnEffects& effects);
/// Small charts of the score over the values of a column, a line for each domain.
Panel dependence_panel(const ColumnEffects& effects);
/// What the splits of boosted trees took off the training loss, by column and domain; empty for other models.
Panel gains_panel(const ColumnEffects& effects);
/// Published numbers beside ours; `number_of_it` tells several apart.
Panel reproduction_panel(const Reproduction& reproduction, std::size_t number_of_it);
/// Where the results come from.
Panel provenance_panel(const std::vector<Provenance>& provenance);
std::vector<Panel> simulation_panels(const LabelSimulation& simulation);
std::string simulation_answer(const LabelSimulation& simulation);
/// Items of the list below the title.
std::string simulation_facts(const LabelSimulation& simulation);

// ---- what panels are made of
/// What a domain is called on this page.
std::string domain_word(const Report& report);
/// Sentences of advice that a page shows.
inline constexpr std::ptrdiff_t most_advice = 60;
/// The anchor of what is said about a domain in the shift panel; empty if nothing is.
std::string why_anchor(const Report& report, const std::string& domain);
/// " (95% interval 0.6810 to 0.7900)" of a metric in a domain; empty if there is none.
std::string interval_text(const DomainResult& domain, std::size_t metric);
/// The letter of a pipeline as a badge.
std::string badge(const PipelineResult& pipeline);
/// A table in a frame that scrolls sideways on narrow screens, with a button that saves it as CSV.
std::string framed(std::string_view label, const std::string& table);
/// "3 domains", "1 domain".
std::string plural(std::size_t count, std::string_view noun);
std::string plural(std::string_view noun);
/// The text with its first letter made large.
std::string capitalised(std::string text);

// ---- the page around them
struct PageParts {
  std::string title;
  std::string facts;   ///< items of a list below the title; HTML, as are the next two
  std::string answer;  ///< before the contents
  std::vector<Panel> panels;
};
std::string whole_page(const PageParts& parts);

}  // namespace ecotone::report
