#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/measure/shift.h"

namespace ecotone {

/// Count, mean and spread of every feature in every domain, over values that are not NaN.
struct DomainMoments {
  Matrix count, mean, m2;  ///< domains x features

  SampleMoments of(Index domain, Index feature) const {
    return {count(domain, feature), mean(domain, feature), m2(domain, feature)};
  }
  /// All domains but one (-1: all).
  SampleMoments without(Index domain, Index feature) const;
};

/// One pass over all rows. Data error `non_finite` when a value is infinite.
DomainMoments domain_moments(const Dataset& data, const Context& context);

}  // namespace ecotone
