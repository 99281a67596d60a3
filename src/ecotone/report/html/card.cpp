#include <fmt/format.h>

#include <algorithm>

#include "ecotone/evaluate/probability_check.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr Index few_rows = 100;
constexpr std::size_t few_domains = 5;
constexpr std::size_t most_limits = 12;

std::string item(std::string_view head, const std::string& text) {
  return fmt::format("<dt>{}</dt><dd>{}</dd>\n", head, text);
}

std::string intended_use(const Report& report) {
  if (!report.intended_use.empty()) return escape(report.intended_use);
  return "Not stated: say it with <code>--intended-use TEXT</code>. What was measured supports one use alone: rows "
         "like "
         "these, at sites like these.";
}

std::vector<std::string> small_domains(const PipelineResult& pipeline) {
  std::vector<std::string> names;
  for (const DomainResult& domain : pipeline.domains)
    if (domain.rows < few_rows) names.push_back(domain.domain);
  return names;
}

/// What is known to limit the results, each a sentence.
std::vector<std::string> limits_of_results(const Results& results, const Report& report, std::size_t best) {
  std::vector<std::string> limits;
  const PipelineResult& pipeline = results.pipelines[best];
  const std::string& unit = results.unit;
  if (pipeline.domains.size() < few_domains)
    limits.push_back(fmt::format("Only {} {} scored: the next one may differ from all of them.",
                                 plural(pipeline.domains.size(), unit), pipeline.domains.size() == 1 ? "was" : "were"));
  if (const auto names = small_domains(pipeline); !names.empty())
    limits.push_back(fmt::format("{} fewer than {} labelled rows, so {} figures are uncertain: {}.",
                                 names.size() == 1 ? "One has" : fmt::format("{} have", names.size()), few_rows,
                                 names.size() == 1 ? "its" : "their",
                                 escape(fmt::format("{}", fmt::join(names, ", ")))));
  if (const auto check = check_probabilities(report.evaluation->pipelines[best])) {
    if (!check->failing().empty())
      limits.push_back(
          fmt::format("The probabilities are worse than guessing in {}: recalibrate them there, or use the "
                      "ranking alone.",
                      plural(check->failing().size(), unit)));
    if (check->shape() != ProbabilityShape::right)
      limits.push_back(
          fmt::format("The probabilities are off (calibration slope {}): recalibrate them, or use the "
                      "ranking alone.",
                      brief(check->slope)));
  }
  if (report.diagnosis && results.protocol != "k-fold")
    for (const Comparison& one : report.diagnosis->against_rest)
      if (one.apart() && limits.size() < most_limits)
        limits.push_back(
            fmt::format("{} hardly overlaps with the others: results for it are extrapolation.", escape(one.a)));
  if (results.protocol == "k-fold")
    limits.push_back("No domain was held out: nothing here says how the model does in a new one.");
  limits.emplace_back(
      "What was measured on past data holds while the data stay alike; measure again after a change of "
      "equipment, coding or population.");
  return limits;
}

}  // namespace

Panel card_panel(const Results& results, const Report& report) {
  const auto best = results.best(results.headline);
  if (!best) return {};
  const PipelineResult& pipeline = results.pipelines[*best];
  std::string items = item("Model", fmt::format("{} <code>{}</code>", badge(pipeline), escape(pipeline.pipeline)));
  items += item("Intended use", intended_use(report));
  Index rows = 0;
  for (const DomainResult& domain : pipeline.domains) rows += domain.rows;
  items += item("Measured on", fmt::format("{} rows of {}, by {}", rows, plural(pipeline.domains.size(), results.unit),
                                           escape(results.protocol)));
  if (!results.classes.empty()) items += item("Answers", escape(fmt::format("{}", fmt::join(results.classes, ", "))));
  std::string limits;
  for (const std::string& limit : limits_of_results(results, report, *best)) limits += "<li>" + limit + "</li>\n";
  items += item("Limits", fmt::format("<ul>\n{}</ul>", limits));
  return {"card", "Intended use and limits", fmt::format("<dl class=\"card\">\n{}</dl>\n", items)};
}

Panel use_panel(const Report& report) {
  return {"card", "Intended use",
          report.intended_use.empty() ? "" : fmt::format("<p>{}</p>\n", escape(report.intended_use))};
}

}  // namespace ecotone::report
