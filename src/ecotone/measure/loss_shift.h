#pragma once

#include <span>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// A sample whose rows are `target` with probability pi, and what a model loses on each.
struct LossSample {
  ConstVectorView pi;
  ConstVectorView loss;
};

/// How much more a model loses in the target than in the source, in three parts that add up to it (DISDE, cai2023):
/// what other rows explain on the way to the rows that both could have (the shared law S), what another relation of
/// labels to features explains among those, and what the rows explain that only the target has.
struct LossShift {
  double source = 0, target = 0;        ///< mean losses
  double shared_source = 0;             ///< mean loss of source rows under the shared law
  double shared_target = 0;             ///< of target rows
  Vector source_weight, target_weight;  ///< pi / ((1 - a) pi + a (1 - pi)), a the share of target rows, and likewise
  double source_rows = 0, target_rows = 0;  ///< effective sample sizes of the weights

  double x_source_to_shared() const { return shared_source - source; }
  double y_given_x() const { return shared_target - shared_source; }
  double x_shared_to_target() const { return target - shared_target; }
  double total() const { return target - source; }
  /// Of y_given_x and of the two others, each from the two means that it compares.
  double y_given_x_error = 0;
  double x_source_to_shared_error = 0;
  double x_shared_to_target_error = 0;
  double total_error = 0;  ///< of total()
};

/// `pi` of both samples comes from one classifier that saw all rows as they are. Data errors: `empty_data`,
/// `shape_mismatch`, `non_finite`, `no_overlap` if all weights of a sample are 0.
LossShift loss_shift(const LossSample& source, const LossSample& target);

}  // namespace ecotone
