#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A support vector machine adapted from labelled source rows to unlabelled target rows by self-training
/// (bruzzone2010).
struct DasvmProblem {
  ConstMatrixView x;                    ///< source rows, then target rows
  std::span<const double> y = {};       ///< -1 or +1 for each source row
  std::span<const double> weight = {};  ///< of each source row, nonnegative; empty: all 1
  Kernel kernel = {};
  double cost = 1;          ///< C
  Index rho = 10;           ///< rows that are added and removed per class and round
  Index max_rounds = 0;     ///< 0: twice the rounds that removing all source rows takes, plus 200
  double tolerance = 1e-3;  ///< for the largest violation of the optimality conditions in every fit
  bool circular = true;     ///< validate by adapting back
  const char* who = "dasvm";
};

/// Why self-training stopped.
enum class DasvmStop {
  settled,              ///< nothing was added, removed or changed
  no_target_in_margin,  ///< no target row lies inside the margin of the source model: self-training cannot start
  one_class,            ///< the next fit would have had rows of only one class
  max_rounds,
  not_converged  ///< a fit did not reach the tolerance: self-training stops there
};
std::string_view dasvm_stop_name(DasvmStop stop);
std::span<const std::string_view> dasvm_stop_names();

/// The changes made in one round.
struct DasvmRound {
  Index added = 0;    ///< target rows that got a label
  Index removed = 0;  ///< source rows that were removed
  Index flipped = 0;  ///< target rows that lost their label because the sign of the score changed
};

/// The result of self-training.
struct DasvmFit {
  Vector beta;                      ///< of each row of x
  double offset = 0;                ///< added to sum_i beta_i k(x_i, x)
  std::vector<double> labels;       ///< -1 or +1 for each target row, by the last model
  std::vector<DasvmRound> history;  ///< of each round
  DasvmStop stop = DasvmStop::settled;
  bool on_target = false;  ///< the last model was fitted on the target rows; otherwise they all got one class
  double kkt = 0;          ///< largest violation of the optimality conditions in the last fit
  bool converged = false;  ///< all fits converged
  /// Weighted accuracy on the source rows after adapting back from the target with its predicted labels. Empty if a
  /// fit, in either direction, did not converge.
  std::optional<double> circular_accuracy;
  /// The same averaged over both classes: 1/2 if all rows get one class, however many belong to it.
  std::optional<double> circular_balanced;

  /// Whether all target rows got one class.
  bool one_label() const;
};

/// 1. A support vector machine is fitted on the source rows with cost C. Then in each round: 2. of the unlabelled
/// target rows with |f| < 1, the rho with the largest |f| on each side get the label sign(f); 3. the rho source rows of
/// each class with the largest |f| are removed; 4. before that, a label whose row now has f of the other sign is
/// withdrawn, and not given again in that round; 5. the costs of labelled target rows rise with their age a from C/10
/// to C, C (0.1 + 0.9 min(1, a/m)^2), those of source rows fall, C (1 - 0.9 min(1, round/m)^2), m = max(2, ceil(sources
/// / (2 rho))); 6. the model is fitted again. Rounds end when nothing is added, removed or withdrawn. 7. The last model
/// is fitted on the target rows with the signs of f as labels and cost C. If |f| ties, the earlier row wins. Data
/// errors: shape_mismatch, empty_data, no_target, non_finite, bad_label, negative_weight, zero_weights, one_class.
/// Option errors: bad_option. The bytes of the result do not depend on the number of threads.
DasvmFit fit_dasvm(const DasvmProblem& problem, const Context& context);

}  // namespace ecotone
