#pragma once

#include <functional>
#include <optional>

#include "ecotone/solve/gp/likelihood.h"

/// The search for parameters, for any computation of the likelihood.
namespace ecotone {

using GpObjective = std::function<std::optional<GpLikelihood>(const GpParameters&)>;

/// The units of starts and bounds.
struct GpScales {
  double variance = 1;  ///< mean square of Y without its known mean
  double diagonal = 1;  ///< mean of k(x, x)
  double values = 1;    ///< rows times outputs
  double sigma = 1;     ///< the kernel's own width
  bool has_width = false;
};

/// See maximise_likelihood.
GpSearch maximise_objective(const GpObjective& objective, const GpScales& scales, const GpSearchOptions& options,
                            const char* who, const Context& context);

}  // namespace ecotone
