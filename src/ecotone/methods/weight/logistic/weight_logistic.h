#pragma once

#include <tuple>

#include "ecotone/methods/weight/weighting.h"

namespace ecotone {

/// Importance weights (59.61) of source rows from a logistic classifier of source against target.
struct WeightLogisticOptions : WeightOptions {
  double l2 = 1e-3;
  bool squares = false;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{field("l2", &WeightLogisticOptions::l2,
                         "Penalty l2 ||v||^2 added to the classifier's mean loss, as l2 of logistic", at_least(0.0)),
                   field("squares", &WeightLogisticOptions::squares,
                         "Give the classifier each feature and its square, so that weights have Gaussian form")},
        WeightOptions::fields());
  }
};

}  // namespace ecotone
