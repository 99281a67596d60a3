#include "ecotone/report/html/html.h"

#include <fmt/format.h>

#include "ecotone/report/html/panels.h"
#include "ecotone/report/html/report_page.h"
#include "ecotone/report/html/shown.h"

namespace ecotone {

namespace report {

namespace {

std::string evaluation_facts(const Results& results) {
  Index rows = 0;
  const auto& domains = results.pipelines.front().domains;
  for (const auto& domain : domains) rows += domain.rows;
  const auto fact = [](auto count, std::string_view noun) {
    return fmt::format("<li><b>{}</b> {}</li>", count, count == 1 ? std::string(noun) : plural(noun));
  };
  return fmt::format("<li>Protocol <b>{}</b></li>{}{}{}", escape(results.protocol), fact(domains.size(), results.unit),
                     fact(rows, "labelled row"), fact(results.pipelines.size(), "pipeline"));
}

/// Base64 of bytes in hexadecimal, as policies want hashes.
std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  unsigned bits = 0;
  int held = 0;
  for (const char c : hex) {
    bits = (bits << 4U) | static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10);
    held += 4;
    if (held < 6) continue;
    held -= 6;
    text += digits[(bits >> static_cast<unsigned>(held)) & 63U];
  }
  if (held > 0) text += digits[(bits << static_cast<unsigned>(6 - held)) & 63U];
  while (text.size() % 4 != 0) text += '=';
  return text;
}

std::string section(const Panel& panel) {
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"h-{0}\">\n<h2 id=\"h-{0}\">{1}</h2>\n{2}</section>\n",
                     panel.id, panel.title, panel.html);
}

/// The results, which speak of domains as the user does.
Results worded_results(const Report& report) {
  Results results = results_of(*report.evaluation);
  if (results.unit == "domain") results.unit = domain_word(report);
  return results;
}

/// The panels of an evaluation in the order in which they are asked for. Sentences are about all domains, `shown` has
/// those that are drawn.
void add_evaluation(PageParts& parts, const Report& report, const Results& results, const Shown& shown) {
  const Evaluation& some = *shown.report.evaluation;
  Results drawn = worded_results(shown.report);
  drawn.omitted = shown.domains;
  parts.facts += evaluation_facts(results);
  parts.answer += answer(results, report);
  for (Panel& panel : std::vector{next_panel(results, *report.evaluation), cost_panel(results, *report.evaluation),
                                  dot_panel(drawn), coverage_panel(drawn, some), difference_panel(results),
                                  domain_panel(drawn, report), operating_panel(drawn, some, *report.evaluation),
                                  calibration_panel(results, *report.evaluation), usage_panel(drawn, some),
                                  report.whole ? whole_model_panel(*report.whole) : Panel(), metric_panel(results)})
    parts.panels.push_back(std::move(panel));
}

std::string title_of(const Report& report) {
  if (!report.title.empty()) return report.title;
  if (report.evaluation)
    return report.evaluation->protocol == Protocol::k_fold    ? "Scores at known sites"
           : report.evaluation->protocol == Protocol::forward ? "Scores of the time to come"
                                                              : "What a new domain costs";
  if (!report.expectations.empty()) return "What to expect in a new domain";
  if (!report.explanations.empty()) return "Why a domain costs more";
  if (report.effects) return "What the model makes of its columns";
  if (report.simulation) return "What labels are worth";
  if (report.selection) return "Features that hold across domains";
  if (!report.reproductions.empty()) return "Published and ours";
  if (report.tuning) return "What a search chose";
  return "Where the domains differ";
}

}  // namespace

std::string whole_page(const PageParts& parts) {
  const std::string title = escape(parts.title);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n<meta "
      "http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{}'; script-src "
      "'sha256-{}'; base-uri 'none'; form-action 'none'\" />\n<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\" />\n<meta name=\"generator\" content=\"ecotone\" />\n<title>{}</title>\n<style>",
      base64_of_hex(report_page_css_hash()), base64_of_hex(report_page_js_hash()), title);
  page += report_page_css();
  page += fmt::format(
      "</style>\n</head>\n<body>\n<main>\n<header>\n<p class=\"brand\">ecotone</p>\n<h1>{}</h1>\n"
      "<ul class=\"facts\">{}</ul>\n</header>\n{}",
      title, parts.facts, parts.answer);
  std::string contents, sections;
  for (const Panel& panel : parts.panels) {
    if (panel.html.empty()) continue;
    contents += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", panel.id, panel.title);
    sections += section(panel);
  }
  page +=
      fmt::format("<nav aria-label=\"Contents\">\n<ul class=\"contents\">\n{}</ul>\n</nav>\n{}", contents, sections);
  page += "<footer>Made by ecotone. The page needs nothing from outside.</footer>\n</main>\n<script>";
  page += report_page_js();
  return page + "</script>\n</body>\n</html>\n";
}

}  // namespace report

namespace {

/// The panels that belong to no single result.
void add_background(report::PageParts& parts, const Report& shown, const Report& full) {
  parts.panels.push_back(report::shift_panel(shown));
  if (shown.projections) parts.panels.push_back(report::projection_panel(*shown.projections));
  if (shown.population) parts.panels.push_back(report::population_panel(*shown.population, *full.population));
}

}  // namespace

std::string html_report(const Report& report) {
  report::PageParts parts;
  parts.title = report::title_of(report);
  std::optional<report::Results> results;
  if (report.evaluation) results = report::worded_results(report);
  const report::Shown shown = report::shown_part(report, results ? &*results : nullptr);
  if (results) report::add_evaluation(parts, report, *results, shown);
  if (!report.expectations.empty()) parts.answer += report::expectation_answer(report.expectations);
  for (std::size_t i = 0; i < report.expectations.size(); ++i)
    parts.panels.push_back(report::expectation_panel(report.expectations[i], i + 1));
  if (!report.explanations.empty()) parts.answer += report::explanation_answer(report.explanations);
  for (std::size_t i = 0; i < report.explanations.size(); ++i)
    parts.panels.push_back(report::explanation_panel(report.explanations[i], i + 1));
  if (report.effects) {
    parts.answer += report::effects_answer(*report.effects);
    parts.panels.push_back(report::importance_panel(*report.effects));
    parts.panels.push_back(report::dependence_panel(*report.effects));
    parts.panels.push_back(report::gains_panel(*report.effects));
  }
  if (report.simulation) {
    parts.facts += report::simulation_facts(*report.simulation);
    parts.answer += report::simulation_answer(*report.simulation);
    for (report::Panel& panel : report::simulation_panels(*report.simulation)) parts.panels.push_back(std::move(panel));
  }
  if (report.selection) {
    parts.answer += report::selection_answer(*report.selection);
    parts.panels.push_back(report::selection_panel(*report.selection));
  }
  for (std::size_t i = 0; i < report.reproductions.size(); ++i)
    parts.panels.push_back(report::reproduction_panel(report.reproductions[i], i + 1));
  if (report.tuning) parts.panels.push_back(report::tuning_panel(*report.tuning));
  if (report.diagnosis && parts.answer.empty()) parts.answer = report::shift_answer(*report.diagnosis);
  add_background(parts, shown.report, report);
  parts.panels.push_back(results ? report::card_panel(*results, report) : report::use_panel(report));
  if (results) {
    const report::Results drawn = report::worded_results(shown.report);
    parts.panels.push_back(report::pipeline_panel(drawn));
    parts.panels.push_back(report::reading_panel(*results));
  }
  parts.panels.push_back(report::provenance_panel(report.provenance));
  return report::whole_page(parts);
}

std::string html_report(const Evaluation& evaluation, const std::string& title) {
  Report report;
  report.title = title;
  report.evaluation = evaluation;
  return html_report(report);
}

std::string html_report(const LabelSimulation& simulation, const std::string& title) {
  Report report;
  report.title = title;
  report.simulation = simulation;
  return html_report(report);
}

}  // namespace ecotone
