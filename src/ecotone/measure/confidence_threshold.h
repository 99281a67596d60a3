#pragma once

#include <span>

#include "ecotone/measure/row_weights.h"

namespace ecotone {

/// Average thresholded confidence (garg2022): the share of rows above the score that as many labelled rows exceed as
/// are classified correctly.
struct ConfidenceThreshold {
  double threshold = 0;
  double share_at = 0;  ///< how much a row exactly at the threshold counts

  /// The accuracy that it expects of rows with these scores.
  double accuracy(std::span<const double> score) const;
};
/// `correct` holds 1 for rows that are classified correctly and 0 for others. Scores have no NaN, and the weights are
/// not all 0.
ConfidenceThreshold confidence_threshold(std::span<const double> score, std::span<const double> correct,
                                         RowWeights weight = {});

}  // namespace ecotone
