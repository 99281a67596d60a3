#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ecotone/measure/metrics.h"
#include "ecotone/report/html/charts/strip_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

using Table = std::vector<std::vector<std::string>>;

std::string trust_figure(std::string name, const StripChart& chart, Table table) {
  return figure({.name = std::move(name),
                 .caption = {},
                 .wide = strip_chart(chart, wide_picture),
                 .narrow = strip_chart(chart, narrow_picture),
                 .table = std::move(table)});
}

std::string percent_text(double share) { return fmt::format("{:.4g}%", 100 * share); }

const NextDomain* next_of(const PipelineScore& score, std::string_view metric) {
  for (const auto& [name, next] : score.next)
    if (name == metric && next) return &*next;
  return nullptr;
}

const Bounds* confidence_of(const PipelineScore& score, std::string_view metric) {
  for (const auto& [name, bounds] : score.mean_interval)
    if (name == metric && bounds) return &*bounds;
  return nullptr;
}

std::string ends(const Bounds& bounds) { return fmt::format("{} to {}", number(bounds.low), number(bounds.high)); }

/// The domains as dots inside the interval for the next one.
StripRow next_row(const PipelineResult& pipeline, const NextDomain& next, std::size_t metric) {
  StripRow row{.tag = pipeline.name, .name = pipeline.pipeline, .figure = ends(next.reach)};
  row.band = {next.reach.low, next.reach.high};
  row.band_look = "interval unclear";
  row.mean = next.estimate;
  for (const DomainResult& domain : pipeline.domains)
    if (domain.metrics[metric])
      row.dots.push_back({.value = *domain.metrics[metric],
                          .name = domain.domain,
                          .note = fmt::format("{}: {}", domain.domain, number(domain.metrics[metric]))});
  return row;
}

/// A cell for every metric: the interval for the next domain, and that of the mean.
std::string next_table(const Results& results, const Evaluation& evaluation) {
  std::string head, body;
  for (std::size_t p = 0; p < results.pipelines.size(); ++p)
    if (!evaluation.pipelines[p].next.empty())
      head += fmt::format("<th scope=\"col\" class=\"num\">{}, mean</th><th scope=\"col\" class=\"num\">next {}</th>",
                          badge(results.pipelines[p]), results.unit);
  for (const MetricInfo* metric : results.metrics) {
    std::string cells;
    bool any = false;
    for (const PipelineScore& score : evaluation.pipelines) {
      if (score.next.empty()) continue;
      const NextDomain* next = next_of(score, metric->name);
      const Bounds* mean = confidence_of(score, metric->name);
      any = any || next != nullptr;
      cells += fmt::format("<td class=\"num\">{}{}</td><td class=\"num\">{}</td>", next ? number(next->estimate) : "–",
                           next && mean ? fmt::format("<small>{}</small>", ends(*mean)) : "",
                           next ? ends(next->reach) : "–");
    }
    if (any) body += fmt::format("<tr><th scope=\"row\">{}</th>{}</tr>\n", metric->title, cells);
  }
  return fmt::format(
      "<table>\n<caption>The mean with its 95% confidence interval, and the {} prediction interval for one new "
      "{}</caption>\n<thead><tr><th scope=\"col\">metric</th>{}</tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
      percent_text(0.9), results.unit, head, body);
}

}  // namespace

Panel next_panel(const Results& results, const Evaluation& evaluation) {
  const MetricInfo& metric = results.metric();
  StripChart chart{.description = fmt::format("Where {} of the next {} is expected.", metric.title, results.unit),
                   .axis_title = std::string(metric.title),
                   .rows = {}};
  Table data = {{"pipeline", "metric", "mean", "mean_low", "mean_high", "next_low", "next_high", "by"}};
  bool cheap = false;
  Index domains = 0;
  for (std::size_t p = 0; p < results.pipelines.size(); ++p) {
    const PipelineScore& score = evaluation.pipelines[p];
    const NextDomain* next = next_of(score, metric.name);
    if (next == nullptr) continue;
    domains = std::max(domains, next->domains);
    cheap = cheap || score.next_by == NextDomainBy::cheap;
    chart.rows.push_back(next_row(results.pipelines[p], *next, results.headline));
    chart.description += fmt::format(" Pipeline {}: {}.", results.pipelines[p].name, ends(next->reach));
    const Bounds* mean = confidence_of(score, metric.name);
    data.push_back({score.pipeline, std::string(metric.name), plain_number(next->estimate),
                    mean ? plain_number(mean->low) : "", mean ? plain_number(mean->high) : "",
                    plain_number(next->reach.low), plain_number(next->reach.high),
                    score.next_by == NextDomainBy::cheap ? "cheap" : "replay"});
  }
  if (chart.rows.empty()) return {};
  return {"next", fmt::format("Expected at the next {}", results.unit),
          fmt::format("<p class=\"note\"><i class=\"key-mean\"></i> mean of these {0} · the bar: where 90% of new "
                      "{0} lie that differ as these {1} do. It is an interval for one new {2}, not for the mean, and "
                      "comes from letting every {2} play the next one{3}.</p>\n{4}{5}",
                      plural(results.unit), domains, results.unit,
                      cheap ? " (with models that had seen it, so it is a little too narrow)" : "",
                      trust_figure("next", chart, std::move(data)),
                      framed("Expected at the next one, by metric", next_table(results, evaluation)))};
}

namespace {

std::optional<std::size_t> metric_place(const Results& results, std::string_view name) {
  for (std::size_t m = 0; m < results.metrics.size(); ++m)
    if (results.metrics[m]->name == name) return m;
  return std::nullopt;
}

StripRow set_row(const PipelineResult& pipeline, std::size_t metric) {
  StripRow row{.tag = pipeline.name, .name = pipeline.pipeline, .figure = number(pipeline.mean[metric])};
  row.mean = pipeline.mean[metric];
  for (const DomainResult& domain : pipeline.domains)
    if (domain.metrics[metric])
      row.dots.push_back({.value = *domain.metrics[metric],
                          .name = domain.domain,
                          .note = fmt::format("{}: {}", domain.domain, number(domain.metrics[metric])),
                          .foremost = pipeline.worst[metric] && pipeline.worst[metric]->domain == domain.domain});
  return row;
}

}  // namespace

Panel coverage_panel(const Results& results, const Evaluation& evaluation) {
  const bool classes = evaluation.task == Task::classify;
  const auto covered = metric_place(results, classes ? "set_coverage" : "interval_coverage");
  const auto size = metric_place(results, classes ? "set_size" : "interval_width");
  if (!covered || !size) return {};
  StripChart coverage{.description = fmt::format("Share of rows that sets cover in each {}.", results.unit),
                      .axis_title = "coverage",
                      .rows = {}};
  StripChart sizes{.description = fmt::format("How large sets are in each {}.", results.unit),
                   .axis_title = std::string(results.metrics[*size]->title),
                   .rows = {}};
  Table data = {{"pipeline", "domain", "coverage", "size"}};
  std::set<double> levels;
  for (std::size_t p = 0; p < results.pipelines.size(); ++p) {
    const PipelineResult& pipeline = results.pipelines[p];
    if (!pipeline.mean[*covered]) continue;
    levels.insert(evaluation.pipelines[p].set_level.value_or(0));
    coverage.rows.push_back(set_row(pipeline, *covered));
    sizes.rows.push_back(set_row(pipeline, *size));
    coverage.description += fmt::format(" Pipeline {}: mean {}.", pipeline.name, number(pipeline.mean[*covered]));
    sizes.description += fmt::format(" Pipeline {}: mean {}.", pipeline.name, number(pipeline.mean[*size]));
    for (const DomainResult& domain : pipeline.domains)
      data.push_back({pipeline.pipeline, domain.domain,
                      domain.metrics[*covered] ? plain_number(*domain.metrics[*covered]) : "",
                      domain.metrics[*size] ? plain_number(*domain.metrics[*size]) : ""});
  }
  if (coverage.rows.empty()) return {};
  if (levels.size() == 1 && *levels.begin() > 0) coverage.line = *levels.begin();
  std::string promises;
  for (std::size_t p = 0; p < results.pipelines.size(); ++p)
    if (!evaluation.pipelines[p].promise.empty())
      promises += fmt::format("<p class=\"note\">{} promises: {}.</p>\n", badge(results.pipelines[p]),
                              escape(evaluation.pipelines[p].promise));
  Table again = data;
  return {"coverage", classes ? "What prediction sets cover" : "What prediction intervals cover",
          fmt::format("<p class=\"note\">One dot for each {0}, whose rows no model had seen{1}. A promise holds on "
                      "average over new {2}: in a single {0} it may be missed. Coverage means little without the size "
                      "of the {3}, which stands below.</p>\n{6}{4}{5}",
                      results.unit,
                      coverage.line ? fmt::format("; the line is the level of {}", percent_text(*coverage.line)) : "",
                      plural(results.unit), classes ? "sets" : "intervals",
                      trust_figure("coverage", coverage, std::move(data)),
                      trust_figure("set-size", sizes, std::move(again)), promises)};
}

namespace {

/// Mean error in the replays; of errors such as RMSE, which are compared as factors, one.
std::string replayed_error(const EstimatedValue& value, const ExpectedMetric& metric) {
  if (!value.error) return "–";
  return find_metric(metric.metric)->scale(2).logarithmic ? fmt::format("× {:.3f}", std::exp(*value.error))
                                                          : number(*value.error);
}

std::string estimator_rows(const ExpectedMetric& metric) {
  std::string body;
  for (const EstimatedValue& value : metric.estimators)
    body += fmt::format(
        "<tr><th scope=\"row\">{}{}</th><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td "
        "class=\"num\">{}</td></tr>\n",
        estimator_name(value.estimator), value.doubtful ? " <small>doubtful: few effective rows</small>" : "",
        number(value.estimate), value.interval ? ends(*value.interval) : "–",
        value.conformal ? ends(*value.conformal) : "–", replayed_error(value, metric));
  return body;
}

std::string note_line(const std::string& words) { return fmt::format("<p class=\"note\">{}.</p>\n", escape(words)); }

const ExpectedMetric* most_estimated(const Expectation& expectation) {
  const ExpectedMetric* best = nullptr;
  for (const ExpectedMetric& metric : expectation.metrics)
    if (best == nullptr || metric.estimators.size() > best->estimators.size()) best = &metric;
  return best;
}

}  // namespace

std::string expectation_answer(const std::vector<Expectation>& expectations) {
  std::string sentences;
  bool care = false;
  for (const Expectation& expectation : expectations) {
    const ExpectedMetric& metric = *most_estimated(expectation);
    const EstimatedValue& value = metric.estimators.front();
    care = care || expectation.unlike_sources();
    sentences += fmt::format(
        "<p class=\"lead\">In <strong>{}</strong> expect {} {}{}.</p>\n", escape(expectation.target),
        find_metric(metric.metric)->title, brief(value.estimate),
        value.interval ? fmt::format("; the {} prediction interval is {} to {}", percent_text(expectation.level),
                                     brief(value.interval->low), brief(value.interval->high))
                       : "");
    if (expectation.too_few_rows()) sentences += note_line(expectation.few_rows_words());
    if (!expectation.compared()) sentences += note_line(expectation.not_compared_words());
    if (expectation.unlike_sources())
      sentences += fmt::format(
          "<p>Do not rely on it: {} lies where no source row does, and only {} of {} source domains are as far from "
          "the "
          "others.</p>\n",
          escape(expectation.target), expectation.apart, expectation.domains);
  }
  return fmt::format("<section class=\"answer{}\" aria-label=\"The answer\">\n{}</section>\n", care ? " care" : "",
                     sentences);
}

Panel expectation_panel(const Expectation& expectation, std::size_t number_of_it) {
  StripChart chart{
      .description = fmt::format("What to expect in {}.", expectation.target), .axis_title = "", .rows = {}};
  Table data = {
      {"metric", "estimator", "estimate", "low", "high", "conformal_low", "conformal_high", "replayed_error"}};
  const ExpectedMetric* shown = most_estimated(expectation);
  chart.axis_title = std::string(find_metric(shown->metric)->title);
  for (const ExpectedMetric& metric : expectation.metrics)
    for (const EstimatedValue& value : metric.estimators) {
      const auto end = [](const std::optional<Bounds>& bounds, bool low) {
        return bounds ? plain_number(low ? bounds->low : bounds->high) : "";
      };
      data.push_back({metric.metric, std::string(estimator_name(value.estimator)), plain_number(value.estimate),
                      end(value.interval, true), end(value.interval, false), end(value.conformal, true),
                      end(value.conformal, false), value.error ? plain_number(*value.error) : ""});
    }
  for (const EstimatedValue& value : shown->estimators) {
    StripRow row{.tag = "", .name = std::string(estimator_name(value.estimator)), .figure = number(value.estimate)};
    if (value.interval) row.band = {value.interval->low, value.interval->high};
    row.band_look = "interval unclear";
    row.dots.push_back({.value = value.estimate,
                        .name = value.interval ? ends(*value.interval) : "",
                        .note = number(value.estimate),
                        .foremost = true});
    chart.rows.push_back(std::move(row));
    chart.description += fmt::format(" {}: {}.", estimator_name(value.estimator), number(value.estimate));
  }
  std::string body;
  for (const ExpectedMetric& metric : expectation.metrics) {
    const EstimatedValue& value = metric.estimators.front();
    body +=
        fmt::format("<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td><td class=\"num\">{}</td><td>{}</td></tr>\n",
                    find_metric(metric.metric)->title, number(value.estimate),
                    value.interval ? ends(*value.interval) : "–", estimator_name(value.estimator));
  }
  const std::string metrics = fmt::format(
      "<table>\n<caption>Every metric with its {} prediction interval</caption>\n<thead><tr><th "
      "scope=\"col\">metric</th><th scope=\"col\" class=\"num\">expected</th><th scope=\"col\" "
      "class=\"num\">interval</th><th scope=\"col\">by</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
      percent_text(expectation.level), body);
  const std::string estimators = fmt::format(
      "<table>\n<caption>{} by every estimator</caption>\n<thead><tr><th scope=\"col\">estimator</th><th scope=\"col\" "
      "class=\"num\">expected</th><th scope=\"col\" class=\"num\">interval</th><th scope=\"col\" "
      "class=\"num\">conformal</th><th scope=\"col\" class=\"num\">error in replays</th></tr></thead>\n<tbody>\n{}"
      "</tbody>\n</table>\n",
      find_metric(shown->metric)->title, estimator_rows(*shown));
  const std::string more =
      expectation.more.for_half
          ? fmt::format("With {} domains like these the intervals would be half as wide.", *expectation.more.for_half)
          : fmt::format(
                "No number of domains like these makes the intervals half as wide: very many would leave {} of "
                "the width, which is how much domains differ.",
                percent_text(expectation.more.narrowest));
  const std::string suffix = number_of_it > 1 ? fmt::format("-{}", number_of_it) : "";
  return {"expected" + suffix, fmt::format("Expected in {}", escape(expectation.target)),
          fmt::format("<p class=\"note\"><code>{}</code> on {} without labels, from {} source domains that each played "
                      "the target{}. The bar is where the value of one new domain lies that differs as these do. "
                      "{}</p>\n{}{}{}",
                      escape(expectation.pipeline), plural(static_cast<std::size_t>(expectation.rows), "row"),
                      expectation.domains,
                      expectation.by == NextDomainBy::cheap ? " (cheaply, so a little too narrow)" : "", more,
                      trust_figure("expected" + suffix, chart, std::move(data)), framed("Expected metrics", metrics),
                      framed("Estimators", estimators))};
}

namespace {

/// "0.1 more", "0.1 less" or "as much".
std::string cost_words(double more) {
  if (more == 0) return "as much";
  return fmt::format("{} {}", brief(std::abs(more)), more > 0 ? "more" : "less");
}

}  // namespace

std::string explanation_answer(const std::vector<Explanation>& explanations) {
  std::string sentences;
  for (const Explanation& explanation : explanations) {
    if (explanation.shift)
      sentences += fmt::format("<p class=\"lead\"><strong>{}</strong> costs {}: {} there, {} in the sources.</p>\n",
                               escape(explanation.target), cost_words(explanation.shift->total()),
                               brief(explanation.shift->target), brief(explanation.shift->source));
    sentences += fmt::format("<p>{}</p>\n", escape(explanation.advice()));
  }
  return fmt::format("<section class=\"answer\" aria-label=\"The answer\">\n{}</section>\n", sentences);
}

Panel explanation_panel(const Explanation& explanation, std::size_t number_of_it) {
  const std::string suffix = number_of_it > 1 ? fmt::format("-{}", number_of_it) : "";
  const bool less = explanation.shift && explanation.shift->total() < 0;
  const std::string title = fmt::format("Why {} costs {}", escape(explanation.target), less ? "less" : "more");
  if (!explanation.error.empty())
    return {"why" + suffix, title, fmt::format("<p class=\"note\">Refused: {}.</p>\n", escape(explanation.error))};
  const LossShift& shift = *explanation.shift;
  struct Part {
    const char* name;
    double value, error;
  };
  const Part parts[] = {{"other rows: sources to shared", shift.x_source_to_shared(), shift.x_source_to_shared_error},
                        {"another relation, among shared rows", shift.y_given_x(), shift.y_given_x_error},
                        {"other rows: shared to target", shift.x_shared_to_target(), shift.x_shared_to_target_error}};
  StripChart chart{.description = fmt::format("The parts of what {} costs.", explanation.target),
                   .axis_title = fmt::format("difference in {}", loss_name(explanation.loss)),
                   .rows = {},
                   .line = 0.0};
  Table data = {{"part", "value", "standard_error"}};
  for (const Part& part : parts) {
    const bool clear = std::abs(part.value) > 2 * part.error;
    StripRow row{.tag = "", .name = part.name, .figure = signed_number(part.value)};
    row.figure_look = !clear ? "figure unclear" : part.value > 0 ? "figure worse" : "figure better";
    row.band = std::minmax(0.0, part.value);
    row.band_look = !clear ? "interval unclear" : part.value > 0 ? "interval worse" : "interval better";
    row.dots.push_back({.value = part.value,
                        .name = fmt::format("± {}", brief(2 * part.error)),
                        .note = fmt::format("{}, standard error {}", signed_number(part.value), number(part.error)),
                        .look = !clear           ? "dot unclear"
                                : part.value > 0 ? "dot worse"
                                                 : "dot better",
                        .foremost = true});
    chart.rows.push_back(std::move(row));
    chart.description += fmt::format(" {}: {}.", part.name, signed_number(part.value));
    data.push_back({part.name, plain_number(part.value), plain_number(part.error)});
  }
  std::string body;
  for (const DisagreeingRegion& region : explanation.regions)
    body += fmt::format(
        "<tr><th scope=\"row\">{}</th><td class=\"num\">{}</td><td class=\"num\">{}</td><td class=\"num\">{}</td><td "
        "class=\"num\">{}<small>± {}</small></td></tr>\n",
        escape(region.words), fmt::format("{:.0f}%", 100 * region.share), number(region.source), number(region.target),
        signed_number(region.difference), brief(2 * region.error));
  const std::string regions = fmt::format(
      "<table>\n<caption>Where both sides have rows and disagree, the largest contributions "
      "first</caption>\n<thead><tr>"
      "<th scope=\"col\">region</th><th scope=\"col\" class=\"num\">share</th><th scope=\"col\" "
      "class=\"num\">sources</th><th scope=\"col\" class=\"num\">target</th><th scope=\"col\" "
      "class=\"num\">difference</th></tr></thead>\n<tbody>\n{}</tbody>\n</table>\n",
      body);
  return {"why" + suffix, title,
          fmt::format(
              "<p class=\"note\"><code>{}</code>, {} of the sources by models that had not seen their domain, {} "
              "of the target{}. The three parts add up to the difference; the middle one is about rows that "
              "both sides could have{}.</p>\n{}{}",
              escape(explanation.pipeline), plural(static_cast<std::size_t>(explanation.source_rows), "row"),
              plural(static_cast<std::size_t>(explanation.target_rows), "row"),
              explanation.auroc ? fmt::format("; a classifier tells them apart with AUROC {}", brief(explanation.auroc))
                                : "",
              explanation.divisible ? "" : "; they are so few that the division says little",
              trust_figure("why" + suffix, chart, std::move(data)),
              body.empty() ? "" : framed("Regions that disagree", regions))};
}

}  // namespace ecotone::report
