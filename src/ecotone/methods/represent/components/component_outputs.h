#pragma once

#include <cstdint>
#include <vector>

#include "ecotone/methods/represent/components/components.h"

namespace ecotone {

/// The label kernel of a fit, and what it needs from the labels.
struct ChosenOutput {
  OutputKernel kernel = OutputKernel::delta;  ///< never automatic
  double sigma = 0;                           ///< of rbf
  std::vector<std::int32_t> classes;          ///< of delta: the class of each row
  Index count = 0;                            ///< of delta: classes
  bool constant = false;                      ///< all labels are equal
};

/// delta for classification unless a numeric kernel is asked for; rbf for regression. Records the choice in the report.
/// If there are nearly as many classes as rows: warning `many_classes`, or for regression the option error
/// `bad_option`, because rbf is meant for that.
ChosenOutput choose_output(const ComponentKind& kind, const Labels& y, const ComponentStageOptions& options,
                           ComponentReport& report, const Context& context);

/// The factor G of L = G G' for the exact routes.
OutputFactor factor_of(const ChosenOutput& output, const Labels& y, const Context& context);

}  // namespace ecotone
