#pragma once

#include "ecotone/diagnose/diagnose.h"
#include "ecotone/diagnose/domain_moments.h"
#include "ecotone/diagnose/sample.h"

namespace ecotone {

/// Everything needed to compare two samples.
struct ComparisonPlan {
  const Dataset& data;
  const DomainMoments& moments;
  const ShiftSample& sample;
  const DiagnoseOptions& options;
  double sigma;
  const std::vector<bool>& category;  ///< by feature: whether it is the 0/1 indicator of a category
};

/// Domain a with domain b, or with all others (b = -1). The two domains key its random streams, so that nothing depends
/// on the other comparisons or on which domain comes first. All features are in the result, in their order.
Comparison compare_domains(const ComparisonPlan& plan, Index a, Index b, const Context& context);

}  // namespace ecotone
