#include "ecotone/methods/requirements.h"

#include <cmath>

#include "ecotone/base/error.h"

namespace ecotone {

void require_classes(std::string_view who, const TrainView& view) {
  if (view.y.task == Task::classify) return;
  data_error("needs_classes",
             "{}: the label is a number to predict, not a class; use --task classify to treat its values as classes",
             who);
}

void require_two_classes(std::string_view who, const TrainView& view, std::string_view rows) {
  if (view.y.classes.size() != 1) return;
  data_error("one_class", "{}: all {} are of class '{}'; at least two classes are needed", who, rows,
             view.y.classes[0]);
}

void require_target(std::string_view who, const TrainView& view, Index sources) {
  if (sources < view.x.rows()) return;
  data_error("no_target", "{}: no target domain; name one with --target (fit) or use --protocol adapt (evaluate)", who);
}

void require_target(std::string_view who, const TrainView& view) { require_target(who, view, view.labelled()); }

void require_finite_features(std::string_view who, const Features& x, const Origin& origin, const Context& context) {
  const NonFinite found = find_non_finite(x, context);
  if (found.row < 0) return;
  const bool missing = std::isnan(found.value);
  data_error("non_finite", "{}: column '{}' is {} in row {}; {}", who, x.name(found.column),
             missing ? "not a number" : "infinite", origin_of(origin, found.row) + 1,
             missing ? "add impute before it" : "drop the row");
}

void require_finite_labels(std::string_view who, const Labels& y) {
  if (!y.value.allFinite()) data_error("non_finite", "{}: the labels hold an infinite value", who);
}

void require_label_range(std::string_view who, const TrainView& view, const Schema& schema) {
  for (Index i = 0; i < view.y.value.size(); ++i) {
    const double y = view.y.value[i];
    if (std::abs(y) <= largest_label || !std::isfinite(y)) continue;
    data_error("bad_label",
               "{}: the label{} is {} in row {}; divide all labels by one number, so that none exceeds {:g}", who,
               schema.label.empty() ? "" : fmt::format(" in column '{}'", schema.label), y,
               origin_of(view.origin, i) + 1, largest_label);
  }
}

void require_finite_scores(std::string_view who, ConstMatrixView scores, const Batch& batch, Index first) {
  for (Index i = 0; i < scores.rows(); ++i)
    if (!scores.row(i).allFinite())
      data_error("non_finite", "{}: the values of row {} are too large to predict from", who,
                 origin_of(batch.origin, first + i) + 1);
}

void require_binary_model(const StageInput& input) {
  if (input.task != Task::classify || input.classes.size() != 2)
    file_error("bad_model", "it needs two classes, got {}", input.classes.size());
}

void require_binary_or_regression_model(const StageInput& input) {
  if (input.task == Task::classify) require_binary_model(input);
}

}  // namespace ecotone
