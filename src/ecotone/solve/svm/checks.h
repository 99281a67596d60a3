#pragma once

#include <vector>

#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// Options, and that there are as many labels and weights as rows: the first of the errors of fit_svm.
void check_svm_problem(const SvmProblem& problem, Index rows);
/// Labels and weights.
void check_svm_labels(const SvmProblem& problem);
/// The rows that have a cost. Data errors `zero_weights`, `one_class`.
std::vector<Index> svm_rows_with_cost(const SvmProblem& problem);

}  // namespace ecotone
