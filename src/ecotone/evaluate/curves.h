#pragma once

#include <string>
#include <vector>

#include "ecotone/base/index.h"

namespace ecotone {

/// Rows with neighbouring probabilities of the second class; means by weight.
struct CalibrationBin {
  double predicted = 0;  ///< mean probability
  double observed = 0;   ///< share of the second class
  Index rows = 0;
};

/// What thresholds of the second class's probability do in one domain. Rows count by their weights, and once for each
/// repetition that held them out.
struct DomainCurves {
  std::string domain;
  std::vector<double> positive;      ///< weight of rows of the second class at or above each threshold
  std::vector<double> negative;      ///< the same of the first class
  std::vector<CalibrationBin> bins;  ///< up to ten of nearly equal size, by ascending probability
};

/// The probabilities that one pipeline gave to held-out rows of two classes, in a size that does not depend on the
/// number of rows: enough for ROC, precision and recall, net benefit and calibration at any of the thresholds.
struct ProbabilityCurves {
  std::vector<double> thresholds;     ///< ascending from 0, which all rows reach
  std::vector<DomainCurves> domains;  ///< in the order of the scores
};

}  // namespace ecotone
