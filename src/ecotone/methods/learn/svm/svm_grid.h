#pragma once

#include "ecotone/methods/fit_cache.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// fit_svm for one of many fits on one view, in order (see FitCache): those with equal rows and kernel share one Gram
/// matrix, where it takes at most a gigabyte and a quarter of the free memory, and those with equal labels, too, start
/// at the coefficients of the one before, scaled by the costs. Other caches, and larger data: fit_svm. `groups` may be
/// null.
SvmFit fit_svm_in_grid(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups,
                       FitCache& cache, const Context& context);

}  // namespace ecotone
