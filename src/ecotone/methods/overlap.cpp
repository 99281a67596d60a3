#include "ecotone/methods/overlap.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "ecotone/base/json_number.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/weighted_sum.h"
#include "ecotone/solve/ratios/domain_auroc.h"

namespace ecotone {

namespace {

constexpr double separated = 0.99;         // no row of one sample looks like one of the other
constexpr double nearly_separated = 0.95;  // few do: the effective sample size decides

}  // namespace

bool Overlap::enough() const {
  const double found = auroc.value_or(1);
  if (found > separated) return false;
  return found <= nearly_separated || ess_raw >= static_cast<double>(cols + 1);
}

std::string Overlap::words() const {
  return fmt::format("AUROC {} of a classifier of source against target, raw effective sample size {:.1f} of {} row{}",
                     auroc ? fmt::format("{:.3f}", *auroc) : "unknown", ess_raw, rows, rows == 1 ? "" : "s");
}

Json Overlap::to_json() const {
  return {{"auroc", json_number(auroc)}, {"ess_raw", ess_raw}, {"rows", rows}, {"columns", cols}};
}

TargetRatio target_ratio(const TrainView& view, const Schema& schema, const char* who, const Context& context) {
  auto prepare = std::make_shared<const Model>(Model::fit(Pipeline::parse("impute | scale"), view, schema, context));
  Features x = prepare->transform({view.x, view.domain, view.origin}, context);
  RatioFit fit = logistic_ratio(x, view.labelled(), {.who = who}, context);
  const double shift = std::log(static_cast<double>(view.labelled()) / static_cast<double>(x.rows() - view.labelled()));
  // ln(NS / NT) - s
  return {.log_weight = std::move(fit.log_weight),
          .x = std::move(x),
          .group = view.group,
          .prepare = std::move(prepare),
          .weights = -fit.classifier.weights.row(0).transpose(),
          .offset = shift - fit.classifier.offset[0]};
}

Vector TargetRatio::log_weight_of(const Batch& batch, const Context& context) const {
  return weighted_sum(prepare->transform(batch, context), weights, offset, Task::regress, context).value;
}

Overlap overlap_of(const TargetRatio& ratio, const Context& context) {
  const Index rows = ratio.log_weight.size();
  const Vector weights = (ratio.log_weight.array() - ratio.log_weight.maxCoeff()).exp();
  return {.auroc = domain_auroc(ratio.x, rows, {.who = "overlap", .group = ratio.group}, context),
          .ess_raw = effective_sample_size(weights),
          .rows = rows,
          .cols = ratio.x.cols()};
}

}  // namespace ecotone
