#pragma once

#include <string>

#include "ecotone/data/dataset.h"

namespace ecotone {

/// The weight of each class according to `text`. `none`: 1. `balanced`: W / (R W_r) of R classes, W the weight of all
/// labelled rows and W_r that of the class. Otherwise `name:weight,name:weight`; classes not named keep 1. Option
/// errors: `unknown_class`, `bad_option`; data error `zero_weights` if a class to balance has no weight.
Vector class_weights(const std::string& who, const TrainView& view, const std::string& text);

/// The row weights times the weight of each row's class.
Vector class_weighted_rows(const std::string& who, const TrainView& view, const std::string& text);

}  // namespace ecotone
