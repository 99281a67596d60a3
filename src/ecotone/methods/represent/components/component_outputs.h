#pragma once

#include <cstdint>
#include <vector>

#include "ecotone/methods/represent/components/components.h"

namespace ecotone {

/// The kernel of the labels that a fit takes, and what it reads of them.
struct ChosenOutput {
  OutputKernel kernel = OutputKernel::delta;  ///< never automatic
  double sigma = 0;                           ///< of rbf
  std::vector<std::int32_t> classes;          ///< of delta: the class of each row
  Index count = 0;                            ///< of delta: classes
  bool constant = false;                      ///< all labels are equal
};

/// Classes as delta unless numbers are asked for; numbers as rbf. Says in the report what was chosen. Where classes are
/// nearly as many as rows: warning `many_classes`, or the option error `bad_option` of numbers, which rbf is for.
ChosenOutput choose_output(const ComponentKind& kind, const Labels& y, const ComponentStageOptions& options,
                           ComponentReport& report, const Context& context);

/// L = G G' of the exact routes.
OutputFactor factor_of(const ChosenOutput& output, const Labels& y, const Context& context);

}  // namespace ecotone
