#pragma once

#include "ecotone/methods/model.h"

namespace ecotone {

/// Warns (`one_class_predicted`) when a fitted model gives all labelled rows of its training view one class although it
/// knows several. Learners that ignore the features do so by design and are not looked at. Rows are predicted in
/// blocks until a second class appears, which for most models is in the first.
void warn_one_answer(const Model& model, const TrainView& view, const Context& context);

}  // namespace ecotone
