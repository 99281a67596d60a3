#pragma once

#include "ecotone/methods/learn/gp/gp_options.h"
#include "ecotone/methods/method.h"
#include "ecotone/solve/gp/likelihood.h"

namespace ecotone {

/// Parameters, and how they were found.
struct GpChoice {
  GpParameters parameters;
  Index evaluations = 0;
  bool at_bound = false;
  Status status = {};
};

/// Those that the options give.
GpFixed given_parameters(const GpOptions& options);

/// Whether all labels are equal up to rounding: then there is nothing to learn parameters from.
bool constant_labels(ConstMatrixView y);
/// For such labels: a variance of the size of rounding, with the warning `constant_label`. `sigma` is the kernel's.
GpChoice choice_of_constant(const GpOptions& options, double sigma, ConstMatrixView y, const Context& context);

/// What a search found, with the warning `at_bound` where the likelihood is largest at the edge of the search.
GpChoice choice_of(const GpSearch& search, const Context& context);

/// By the likelihood of the problem; what the options give stays.
GpChoice choose_by_likelihood(const GpProblem& problem, const GpOptions& options, const Context& context);

}  // namespace ecotone
