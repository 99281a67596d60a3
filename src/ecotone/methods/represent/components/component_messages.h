#pragma once

#include "ecotone/methods/represent/components/component_outputs.h"

namespace ecotone {

/// The facts that messages about a fit report.
struct ComponentFit {
  const ComponentKind& kind;
  const ComponentStageOptions& options;
  const Features& x;  ///< rows that were learned from
  const Kernel& kernel;
  const ChosenOutput& output;  ///< of supervised components
  const ComponentReport& report;
  bool equal_rows = false;  ///< all rows are the same
};

/// Warns about a fit that is not what was asked for: `no_components`, `fewer_components`, `complex_pair`,
/// `sigma_too_small`, `one_domain`, `weak_invariance`.
void warn_of_components(const ComponentFit& fit, const Context& context);

/// Notes options that were given but have no effect with this kernel, output kernel or route.
void note_unread_options(const ComponentFit& fit, const Context& context);

}  // namespace ecotone
