#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/html/charts/probability_charts.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr std::size_t most_calibrated = 12;  // domains with a picture of their own

/// The domain's slope and intercept; where it stands among the others.
struct Calibrated {
  const DomainCurves* curves;
  Value slope, intercept;

  double distance() const { return slope ? std::abs(*slope - 1) : -1; }
};

std::string calibration_figure(const Calibrated& domain) {
  CurveChart chart = square_chart("probability", "observed share",
                                  fmt::format("Calibration in {}: observed share of the second class against the "
                                              "probability.",
                                              domain.curves->domain));
  chart.width = 260;
  chart.height = 240;
  ChartLine ideal = empty_line(chart_lines - 1, "ideal"), own = empty_line(0, domain.curves->domain);
  ideal.x = ideal.y = {0, 1};
  std::vector<std::vector<std::string>> table = {{"predicted", "observed", "rows"}};
  for (const CalibrationBin& bin : domain.curves->bins) {
    own.x.push_back(bin.predicted);
    own.y.push_back(bin.observed);
    chart.description += fmt::format(" At {:.2f}: {:.2f}.", bin.predicted, bin.observed);
    table.push_back({plain_number(bin.predicted), plain_number(bin.observed), fmt::format("{}", bin.rows)});
  }
  own.dots = true;
  chart.lines = {ideal, own};
  return figure({.name = "calibration-" + domain.curves->domain,
                 .caption = fmt::format("<strong>{}</strong><br />slope {}, intercept {}",
                                        escape(domain.curves->domain), number(domain.slope), number(domain.intercept)),
                 .wide = curve_chart(chart),
                 .narrow = {},
                 .table = std::move(table)});
}

}  // namespace

Panel calibration_panel(const Results& results, const Evaluation& evaluation) {
  const auto best = curved_pipeline(results, evaluation);
  if (!best) return {};
  const PipelineScore& score = evaluation.pipelines[*best];
  std::vector<Calibrated> domains;
  for (std::size_t d = 0; d < score.curves->domains.size(); ++d)
    if (!score.curves->domains[d].bins.empty())
      domains.push_back({&score.curves->domains[d], value_of(score.domains[d].metrics, "calibration_slope"),
                         value_of(score.domains[d].metrics, "calibration_intercept")});
  std::ranges::stable_sort(domains, std::ranges::greater{}, &Calibrated::distance);
  const std::size_t all = domains.size();
  if (all == 0) return {};
  if (all > most_calibrated) domains.resize(most_calibrated);
  std::string figures;
  for (const Calibrated& domain : domains) figures += calibration_figure(domain);
  return {"calibration", "Do the probabilities mean what they say?",
          fmt::format("<p class=\"note\">{} <code>{}</code>: rows in bins of nearly equal size by probability. On the "
                      "dashed line, 30 of 100 rows with a probability of 30% are <strong>{}</strong>. A slope below 1 "
                      "means too extreme, an intercept below 0 too high. The worst comes first{}.</p>\n<div "
                      "class=\"small-charts calibrations\">\n{}</div>\n",
                      badge(results.pipelines[*best]), escape(results.pipelines[*best].pipeline),
                      escape(results.classes[1]),
                      all > domains.size() ? fmt::format(", {} of {}", domains.size(), plural(all, results.unit)) : "",
                      figures)};
}

}  // namespace ecotone::report
