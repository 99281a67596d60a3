#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A support vector machine that wanders from labelled source rows to target rows without labels (bruzzone2010).
struct DasvmProblem {
  ConstMatrixView x;                    ///< source rows, then target rows
  std::span<const double> y = {};       ///< -1 or +1 of each source row
  std::span<const double> weight = {};  ///< of each source row, not negative; empty: all 1
  Kernel kernel = {};
  double cost = 1;          ///< C
  Index rho = 10;           ///< rows that enter and leave per class and round
  Index max_rounds = 0;     ///< 0: two times what removing all source rows takes, and 200
  double tolerance = 1e-3;  ///< of the largest violation of the optimality conditions of every machine
  bool circular = true;     ///< validate by adapting back
  const char* who = "dasvm";
};

/// Why rounds ended.
enum class DasvmStop {
  settled,              ///< nothing was added, removed or changed
  no_target_in_margin,  ///< no target row lies inside the margin of the source rows' machine: there is no way to begin
  one_class,            ///< the next machine would have had rows of one class
  max_rounds,
  not_converged  ///< a machine did not reach the tolerance: the journey ends there
};
std::string_view dasvm_stop_name(DasvmStop stop);
std::span<const std::string_view> dasvm_stop_names();

/// What one round did.
struct DasvmRound {
  Index added = 0;    ///< target rows that got a label
  Index removed = 0;  ///< source rows that were dropped
  Index flipped = 0;  ///< target rows that lost their label because the score's sign changed
};

/// Where the wandering ended.
struct DasvmFit {
  Vector beta;                      ///< of each row of x
  double offset = 0;                ///< added to sum_i beta_i k(x_i, x)
  std::vector<double> labels;       ///< -1 or +1 of each target row, by the last machine
  std::vector<DasvmRound> history;  ///< of each round
  DasvmStop stop = DasvmStop::settled;
  bool on_target = false;  ///< the last machine was fitted on the target rows; else they got one class
  double kkt = 0;          ///< largest violation of the optimality conditions of the last machine
  bool converged = false;  ///< all machines on the way there
  /// Adapted back from the target with its labels: the weighted part of source rows that get their true labels. None
  /// where a machine, there or back, did not converge.
  std::optional<double> circular_accuracy;
  /// The mean of that part over both classes: 1/2 where all rows get one class, however many are of it.
  std::optional<double> circular_balanced;

  /// Whether all target rows got one class.
  bool one_label() const;
};

/// 1. A machine of the source rows with cost C. Then rounds: 2. of the target rows without label and with |f| < 1 the
/// rho of the largest |f| on each side get the label sign(f); 3. the rho source rows of each class with the largest |f|
/// are dropped; 4. a label whose row has f of the other sign is taken back before, and not given in that round; 5. the
/// costs of labelled target rows rise with their age a from C/10 to C, C (0.1 + 0.9 min(1, a/m)^2), those of source
/// rows fall, C (1 - 0.9 min(1, round/m)^2), m = max(2, ceil(sources / (2 rho))); 6. the machine is fitted again; until
/// nothing is added, dropped or taken back. 7. The last machine is fitted on the target rows with the signs of f as
/// labels and cost C. Where |f| ties the earlier row wins.
/// Data errors: shape_mismatch, empty_data, no_target, non_finite, bad_label, negative_weight, zero_weights, one_class.
/// Option errors: bad_option. The same bytes for any number of threads.
DasvmFit fit_dasvm(const DasvmProblem& problem, const Context& context);

}  // namespace ecotone
