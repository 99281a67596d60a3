#pragma once

#include "ecotone/methods/fit_cache.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// fit_svm for one of many fits on one view, in order (see FitCache). Fits with equal rows and kernel share one Gram
/// matrix if it takes at most a gigabyte and fits in the free memory. Fits with equal labels, too, start at the
/// coefficients of the previous one, scaled by the costs. Other caches, and larger data: fit_svm. `groups` may be null.
SvmFit fit_svm_in_grid(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups,
                       FitCache& cache, const Context& context);

}  // namespace ecotone
