#include "ecotone/methods/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "ecotone/base/json_number.h"
#include "ecotone/data/categories.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/weighted_sum.h"
#include "ecotone/solve/ratios/domain_auroc.h"

namespace ecotone {

namespace {

constexpr double separated = 0.99;         // no row of one sample looks like one of the other
constexpr double nearly_separated = 0.95;  // few do: the effective sample size decides

/// The features with one per level in place of codes, and their schema.
Dataset with_levels(const Features& x, const Schema& schema, const Context& context) {
  Dataset data;
  data.x = x;
  data.schema = schema;
  return schema.has_codes() ? levels_to_compare(std::move(data), context) : data;
}

/// A numeric column for each name, except where `known` has one of codes.
Schema schema_of_names(const std::vector<std::string>& names, const Schema& known) {
  std::vector<Column> codes;
  std::ranges::copy_if(known.columns, std::back_inserter(codes), &Column::coded);
  Schema schema;
  for (const std::string& name : names) {
    const auto column = std::ranges::find(codes, name, &Column::name);
    schema.columns.push_back(column != codes.end() ? *column : Column{name, ColumnKind::numeric, {}});
  }
  return schema;
}

/// New rows in the form that the ratio was fitted on. Rows without names have the columns of the schema.
Features new_rows_with_levels(const Features& x, const Schema& known, const Context& context) {
  std::vector<std::string> names = x.names();
  const bool nameless = names == Features(x.shared_storage(), {}).names();
  if (nameless && names.size() == known.feature_names().size()) names = known.feature_names();
  const Schema schema = schema_of_names(names, known);
  return schema.has_codes() ? with_levels(x, schema, context.observed_by(nullptr)).x : x;
}

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
  Dataset levels = with_levels(view.x, schema, context);
  TrainView compared = view;
  compared.x = levels.x;
  auto prepare =
      std::make_shared<const Model>(Model::fit(Pipeline::parse("impute | scale"), compared, levels.schema, context));
  Features x = prepare->transform({compared.x, view.domain, view.origin}, context);
  RatioFit fit = logistic_ratio(x, view.labelled(), {.who = who}, context);
  const double shift = std::log(static_cast<double>(view.labelled()) / static_cast<double>(x.rows() - view.labelled()));
  // ln(NS / NT) - s
  return {.log_weight = std::move(fit.log_weight),
          .x = std::move(x),
          .group = view.group,
          .schema = schema.has_codes() ? schema : Schema{},
          .prepare = std::move(prepare),
          .weights = -fit.classifier.weights.row(0).transpose(),
          .offset = shift - fit.classifier.offset[0]};
}

Vector TargetRatio::log_weight_of(const Batch& batch, const Context& context) const {
  Batch rows = batch;
  if (schema.has_codes()) rows.x = new_rows_with_levels(batch.x, schema, context);
  return weighted_sum(prepare->transform(rows, context), weights, offset, Task::regress, context).value;
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
