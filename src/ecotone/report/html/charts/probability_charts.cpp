#include "ecotone/report/html/charts/probability_charts.h"

namespace ecotone::report {

CurveChart square_chart(std::string x_title, std::string y_title, std::string description) {
  CurveChart chart;
  chart.x_title = std::move(x_title);
  chart.y_title = std::move(y_title);
  chart.description = std::move(description);
  chart.cover = {0, 1};
  chart.x_cover = {0, 1};
  chart.width = 380;
  chart.height = 330;
  chart.names = false;
  return chart;
}

ChartLine empty_line(std::size_t number, std::string name) {
  return {.number = number, .name = std::move(name), .x = {}, .y = {}, .low = {}, .high = {}};
}

std::optional<std::size_t> curved_pipeline(const Results& results, const Evaluation& evaluation) {
  const auto best = results.best(results.headline);
  if (best && evaluation.pipelines[*best].curves) return best;
  return {};
}

}  // namespace ecotone::report
