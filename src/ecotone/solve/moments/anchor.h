#pragma once

#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/moments/moments.h"

namespace ecotone {

/// A linear model of numbers.
struct AnchorFit {
  Vector weights;
  double offset = 0;
};

/// Anchor regression with the groups as anchors, from their moments alone: least squares in which errors that a group
/// shares count `gamma` times. gamma = 1: ridge regression of all rows; 0: within groups; large: between groups.
/// Minimises the mean squared error so counted plus l2 |w|^2. Data errors `no_gram`, and `singular` if columns depend
/// on each other and l2 is too small to tell them apart.
AnchorFit anchor_regression(const Moments& moments, double gamma, double l2, std::string_view who,
                            const Context& context);

/// Mean squared error of a model in every group; NaN where a group has no weight.
Vector group_squared_errors(const Moments& moments, const AnchorFit& fit);

/// For each gamma the mean, over groups with weight, of the squared error in a group that the fit has not seen. At
/// least two groups must have weight.
Vector anchor_left_out_errors(const Moments& moments, const std::vector<double>& gammas, double l2,
                              std::string_view who, const Context& context);

}  // namespace ecotone
