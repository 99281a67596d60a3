#pragma once

#include <string_view>

#include "ecotone/data/dataset.h"
#include "ecotone/methods/method.h"

/// What stages require of the rows they are fitted on, of the values they predict and of the models they load, in the
/// same words everywhere. `who` is the method that the message names.
namespace ecotone {

/// Data error `needs_classes` when the label is a number.
void require_classes(std::string_view who, const TrainView& view);
/// Data error `one_class` when there is only one class; `rows` says which rows were looked at.
void require_two_classes(std::string_view who, const TrainView& view, std::string_view rows = "labelled rows");
/// Data error `no_target` when all rows of the view are among its first `sources` rows.
void require_target(std::string_view who, const TrainView& view, Index sources);
/// The same where the source rows are the labelled ones.
void require_target(std::string_view who, const TrainView& view);

/// Data error `non_finite`, which names the row and column of the first NaN or infinity.
void require_finite_features(std::string_view who, const Features& x, const Origin& origin, const Context& context);
/// Data error `non_finite` when a label to predict by regression is infinite.
void require_finite_labels(std::string_view who, const Labels& y);
/// Data error `bad_label` when a label to predict by regression exceeds `largest_label`.
void require_label_range(std::string_view who, const TrainView& view, const Schema& schema);
/// Data error `non_finite`, which names the first row of the batch whose scores are not all finite. The scores are
/// those of the rows from `first` on.
void require_finite_scores(std::string_view who, ConstMatrixView scores, const Batch& batch, Index first = 0);

/// File error `bad_model` when a model is not one of two classes.
void require_binary_model(const StageInput& input);
/// The same, but a regression model will do.
void require_binary_or_regression_model(const StageInput& input);

}  // namespace ecotone
