#pragma once

#include <vector>

#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// Checks the options, and that labels and weights match the number of rows: the first errors of fit_svm.
void check_svm_problem(const SvmProblem& problem, Index rows);
/// Checks labels and weights.
void check_svm_labels(const SvmProblem& problem);
/// The rows that have a positive cost. Data errors `zero_weights`, `one_class`.
std::vector<Index> svm_rows_with_cost(const SvmProblem& problem);

}  // namespace ecotone
