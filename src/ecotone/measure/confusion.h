#pragma once

#include <functional>
#include <optional>

#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Weights of rows by truth and prediction.
struct Confusion {
  double true_positive = 0;
  double false_positive = 0;
  double true_negative = 0;
  double false_negative = 0;

  double positive() const { return true_positive + false_negative; }
  double negative() const { return true_negative + false_positive; }
  /// Adds a row.
  void add(bool truth, bool predicted, double weight) {
    if (truth)
      (predicted ? true_positive : false_negative) += weight;
    else
      (predicted ? false_positive : true_negative) += weight;
  }
};

/// Each is undefined where it would divide by 0.
std::optional<double> sensitivity(const Confusion& c);  ///< TP / (TP + FN)
std::optional<double> specificity(const Confusion& c);  ///< TN / (TN + FP)
std::optional<double> ppv(const Confusion& c);          ///< TP / (TP + FP)
std::optional<double> npv(const Confusion& c);          ///< TN / (TN + FN)
std::optional<double> f1(const Confusion& c);           ///< 2 TP / (2 TP + FP + FN)

/// The cut t in (0, 1) for which "positive where p >= t" has the largest value over weighted rows; of equally good ones
/// the nearest to 0.5. Cuts are the middles between neighbouring probabilities, or 0.5 where it lies between them.
/// Empty if no cut has a value. `positive` holds 0 or 1.
std::optional<double> best_cut(ConstVectorView probability, ConstVectorView positive, ConstVectorView weight,
                               const std::function<std::optional<double>(const Confusion&)>& value);

}  // namespace ecotone
