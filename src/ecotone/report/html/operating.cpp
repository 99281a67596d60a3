#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "ecotone/base/json.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/html/charts/probability_charts.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr std::size_t named_lines = 7;  // domains that have a colour of their own

/// Of one domain at one threshold, by weight of rows.
struct Confusion {
  double true_positive, false_positive, positives, negatives;

  static Confusion at(const DomainCurves& domain, std::size_t t) {
    return {domain.positive[t], domain.negative[t], domain.positive.front(), domain.negative.front()};
  }
  static Value share(double part, double whole) { return whole > 0 ? Value(part / whole) : std::nullopt; }
  Value sensitivity() const { return share(true_positive, positives); }
  Value specificity() const { return share(negatives - false_positive, negatives); }
  Value ppv() const { return share(true_positive, true_positive + false_positive); }
  Value npv() const {
    const double right = negatives - false_positive, wrong = positives - true_positive;
    return share(right, right + wrong);
  }
  Value flagged() const { return share(true_positive + false_positive, positives + negatives); }
  /// Of acting on those at or above the threshold t, in true positives per row.
  double net_benefit(double t) const {
    return (true_positive - false_positive * t / (1 - t)) / (positives + negatives);
  }
};

/// The domains of a chart, those with both classes: the worst first, so that it keeps its own colour.
std::vector<const DomainCurves*> drawn_domains(const ProbabilityCurves& curves, const std::string& worst) {
  std::vector<const DomainCurves*> domains;
  for (const DomainCurves& domain : curves.domains)
    if (domain.positive.front() > 0 && domain.negative.front() > 0) domains.push_back(&domain);
  std::ranges::stable_partition(domains, [&](const DomainCurves* domain) { return domain->domain == worst; });
  return domains;
}

/// Colours for few domains; of many only the worst stands out.
std::size_t domain_line(std::size_t place, std::size_t count) {
  if (count <= named_lines) return place == 0 ? 1 : place == 1 ? 0 : place;
  return place == 0 ? 1 : chart_lines - 1;
}

std::string domain_legend(const std::vector<const DomainCurves*>& domains) {
  std::string items;
  for (std::size_t d = 0; d < domains.size(); ++d)
    if (domains.size() <= named_lines || d == 0)
      items += fmt::format("<li>{} {}</li>", line_key(domain_line(d, domains.size())), escape(domains[d]->domain));
  if (domains.size() > named_lines) items += fmt::format("<li>{} all others</li>", line_key(chart_lines - 1));
  return fmt::format("<ul class=\"legend\">{}</ul>\n", items);
}

/// Points (x, y) of one domain at all thresholds, x ascending.
template <class Point>
ChartLine domain_curve(const DomainCurves& domain, std::size_t number, std::size_t thresholds, const Point& point) {
  ChartLine line = empty_line(number, domain.domain);
  line.thin = number == chart_lines - 1;
  for (std::size_t t = thresholds; t-- > 0;)
    if (const auto [x, y] = point(Confusion::at(domain, t)); x && y) {
      line.x.push_back(*x);
      line.y.push_back(*y);
    }
  return line;
}

void add_points(std::vector<std::vector<std::string>>& table, const CurveChart& chart) {
  for (const ChartLine& line : chart.lines)
    for (std::size_t i = 0; i < line.x.size(); ++i)
      table.push_back({line.name, plain_number(line.x[i]), plain_number(line.y[i])});
}

std::string curve_figure(std::string name, std::string caption, const CurveChart& chart, std::string_view x,
                         std::string_view y) {
  std::vector<std::vector<std::string>> table = {{"line", std::string(x), std::string(y)}};
  add_points(table, chart);
  return figure({.name = std::move(name),
                 .caption = std::move(caption),
                 .wide = curve_chart(chart),
                 .narrow = {},
                 .table = std::move(table)});
}

std::string roc_figure(const std::vector<const DomainCurves*>& domains, std::size_t thresholds) {
  CurveChart chart =
      square_chart("false positives", "true positives",
                   "ROC: share of positive rows found against share of negative rows flagged, a line for "
                   "each domain.");
  ChartLine chance = empty_line(chart_lines - 1, "chance");
  chance.x = chance.y = {0, 1};
  chart.lines.push_back(chance);
  for (std::size_t d = 0; d < domains.size(); ++d) {
    ChartLine line = domain_curve(*domains[d], domain_line(d, domains.size()), thresholds, [](const Confusion& c) {
      return std::pair<Value, Value>(c.false_positive / c.negatives, c.true_positive / c.positives);
    });
    // Above all probabilities nothing is flagged.
    line.x.insert(line.x.begin(), 0.0);
    line.y.insert(line.y.begin(), 0.0);
    chart.lines.push_back(std::move(line));
  }
  return curve_figure("roc", "<strong>ROC</strong>: how well rows are ranked", chart, "false_positive_rate",
                      "true_positive_rate");
}

std::string precision_figure(const std::vector<const DomainCurves*>& domains, std::size_t thresholds) {
  CurveChart chart =
      square_chart("recall (sensitivity)", "precision (PPV)", "Precision against recall, a line for each domain.");
  for (std::size_t d = 0; d < domains.size(); ++d)
    chart.lines.push_back(domain_curve(*domains[d], domain_line(d, domains.size()), thresholds, [](const Confusion& c) {
      return std::pair<Value, Value>(c.sensitivity(), c.ppv());
    }));
  return curve_figure("precision-recall", "<strong>Precision and recall</strong>: how many flagged rows are right",
                      chart, "recall", "precision");
}

/// Mean over the domains of the net benefit of the model and of flagging all.
std::string benefit_figure(const ProbabilityCurves& curves, const std::vector<const DomainCurves*>& domains) {
  constexpr double last_threshold = 0.95;
  CurveChart chart =
      square_chart("threshold", "net benefit",
                   "Net benefit of flagging by the model, of flagging everyone and of flagging nobody, by "
                   "the threshold; means over domains.");
  chart.cover = {0};
  ChartLine model = empty_line(0, "model"), all = empty_line(1, "everyone"),
            none = empty_line(chart_lines - 1, "nobody");
  double top = 0;
  for (std::size_t t = 0; t < curves.thresholds.size() && curves.thresholds[t] <= last_threshold; ++t) {
    const double threshold = curves.thresholds[t];
    double by_model = 0, by_all = 0;
    for (const DomainCurves* domain : domains) {
      const Confusion here = Confusion::at(*domain, t);
      by_model += here.net_benefit(threshold) / static_cast<double>(domains.size());
      const Confusion everyone{here.positives, here.negatives, here.positives, here.negatives};
      by_all += everyone.net_benefit(threshold) / static_cast<double>(domains.size());
    }
    top = std::max(top, by_model);
    model.x.push_back(threshold);
    model.y.push_back(by_model);
    all.x.push_back(threshold);
    all.y.push_back(by_all);
  }
  none.x = {0, last_threshold};
  none.y = {0, 0};
  chart.lines = {none, all, model};
  std::vector<std::vector<std::string>> table = {{"line", "threshold", "net_benefit"}};
  add_points(table, chart);
  // Far below zero there is nothing to see.
  const double floor = -std::max(0.05, top / 2);
  for (ChartLine& line : chart.lines)
    for (double& value : line.y) value = std::max(value, floor);
  return figure({.name = "decision-curve",
                 .caption = fmt::format("<strong>Decision curve</strong>: {} the model, {} flag everyone, {} nobody",
                                        line_key(0), line_key(1), line_key(chart_lines - 1)),
                 .wide = curve_chart(chart),
                 .narrow = {},
                 .table = std::move(table)});
}

/// The threshold nearest to the share of positive rows: there the slider begins.
std::size_t first_threshold(const ProbabilityCurves& curves) {
  double positives = 0, all = 0;
  for (const DomainCurves& domain : curves.domains) {
    positives += domain.positive.front();
    all += domain.positive.front() + domain.negative.front();
  }
  const double wanted = all > 0 ? positives / all : 0.5;
  const auto distance = [&](double threshold) { return std::abs(threshold - wanted); };
  return static_cast<std::size_t>(std::ranges::min_element(curves.thresholds, {}, distance) -
                                  curves.thresholds.begin());
}

std::string percent(const Value& value) { return value ? fmt::format("{:.1f}%", 100 * *value) : "–"; }

std::string operating_rows(const ProbabilityCurves& curves, std::size_t t) {
  std::string rows;
  for (const DomainCurves& domain : curves.domains) {
    const Confusion c = Confusion::at(domain, t);
    rows += fmt::format("<tr><th scope=\"row\">{}</th>", escape(domain.domain));
    for (const Value& value : {c.sensitivity(), c.specificity(), c.ppv(), c.npv(), c.flagged()})
      rows += fmt::format("<td class=\"num\">{}</td>", percent(value));
    rows += "</tr>\n";
  }
  return rows;
}

/// The first few pipelines, and the best.
bool in_slider(const Results& results, const Evaluation& evaluation, std::size_t p) {
  constexpr std::size_t most_sliding = 8;
  return evaluation.pipelines[p].curves && (p < most_sliding || results.best(results.headline) == p);
}

/// What the slider works with; also what a reader may audit. Nothing in it can end the element.
std::string slider_data(const Results& results, const Evaluation& evaluation) {
  const auto rounded = [](const std::vector<double>& values) {
    Json list = Json::array();
    for (const double value : values) list.push_back(std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr));
    return list;
  };
  Json pipelines = Json::array();
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
    const auto& curves = evaluation.pipelines[p].curves;
    if (!in_slider(results, evaluation, p)) continue;
    Json domains = Json::array();
    for (const DomainCurves& domain : curves->domains)
      domains.push_back(
          {{"name", domain.domain}, {"positive", rounded(domain.positive)}, {"negative", rounded(domain.negative)}});
    pipelines.push_back({{"letter", results.pipelines[p].name},
                         {"pipeline", results.pipelines[p].pipeline},
                         {"thresholds", curves->thresholds},
                         {"domains", std::move(domains)}});
  }
  std::string text = pipelines.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (std::size_t i = 0; (i = text.find('<', i)) != std::string::npos;) text.replace(i, 1, "\\u003c");
  return text;
}

std::string pipeline_choice(const Results& results, const Evaluation& evaluation, std::size_t best) {
  std::string items;
  std::size_t place = 0;
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p)
    if (in_slider(results, evaluation, p))
      items += fmt::format("<option value=\"{}\"{}>{} {}</option>", place++, p == best ? " selected=\"selected\"" : "",
                           results.pipelines[p].name, escape(results.pipelines[p].pipeline));
  return place < 2 ? "" : fmt::format("<label>Pipeline <select id=\"which-pipeline\">{}</select></label> ", items);
}

std::string worst_of(const Results& results, std::size_t p) {
  const auto& worst = results.pipelines[p].worst[results.headline];
  return worst ? worst->domain : "";
}

}  // namespace

Panel operating_panel(const Results& results, const Evaluation& evaluation, const Evaluation& full) {
  const auto best = curved_pipeline(results, evaluation);
  if (!best) return {};
  const ProbabilityCurves& curves = *evaluation.pipelines[*best].curves;
  const ProbabilityCurves& all = *full.pipelines[*best].curves;
  const std::size_t start = first_threshold(all);
  const std::string positive = escape(results.classes[1]);
  std::string html = fmt::format(
      "<p class=\"note\">Rows at or above the threshold of the probability of <strong>{}</strong> are flagged. Move it "
      "to see what that does in each {}: a threshold that suits one may fail the next.</p>\n"
      "<p class=\"slider\">{}<label>Threshold <input type=\"range\" id=\"threshold\" min=\"0\" max=\"{}\" value=\"{}\" "
      "/></label> <output id=\"threshold-value\">{}</output></p>\n",
      positive, results.unit, pipeline_choice(results, evaluation, *best), curves.thresholds.size() - 1, start,
      curves.thresholds[start]);
  html += framed("Operating point",
                 fmt::format("<table id=\"at-threshold\">\n<caption>At this threshold{}</caption>\n<thead><tr><th "
                             "scope=\"col\">{}</th><th scope=\"col\" class=\"num\">sensitivity</th><th scope=\"col\" "
                             "class=\"num\">specificity</th><th scope=\"col\" class=\"num\">PPV</th><th scope=\"col\" "
                             "class=\"num\">NPV</th><th scope=\"col\" class=\"num\">flagged</th></tr></thead>\n"
                             "<tbody>\n{}</tbody>\n</table>\n",
                             results.omitted, results.unit, operating_rows(curves, start)));
  html +=
      fmt::format("<script type=\"application/json\" id=\"curves\">{}</script>\n", slider_data(results, evaluation));
  const auto domains = drawn_domains(curves, worst_of(results, *best));
  if (!domains.empty()) {
    html +=
        fmt::format("<h3>{} <code>{}</code> over all thresholds</h3>\n{}<div class=\"small-charts\">\n",
                    badge(results.pipelines[*best]), escape(results.pipelines[*best].pipeline), domain_legend(domains));
    html += roc_figure(domains, curves.thresholds.size()) + precision_figure(domains, curves.thresholds.size()) +
            benefit_figure(all, drawn_domains(all, ""));
    html += "</div>\n";
  }
  return {"operating", "Operating point", html};
}

}  // namespace ecotone::report
