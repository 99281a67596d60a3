#pragma once

#include "ecotone/evaluate/diagnose.h"
#include "ecotone/evaluate/domain_moments.h"
#include "ecotone/evaluate/shift_sample.h"

namespace ecotone {

/// Everything that comparing two samples needs.
struct ComparisonPlan {
  const Dataset& data;
  const DomainMoments& moments;
  const ShiftSample& sample;
  const DiagnoseOptions& options;
  double sigma;
};

/// Domain a with domain b, or with all others (b = -1). `number` keys its random streams. All features are in the
/// result, in their order.
Comparison compare_domains(const ComparisonPlan& plan, Index a, Index b, Index number, const Context& context);

}  // namespace ecotone
