#pragma once

#include <cstdint>
#include <span>

#include "ecotone/base/index.h"

/// How far one column alone tells a label: a column that tells it almost exactly often holds it under another name.
namespace ecotone {

/// How well one number per row tells the classes.
struct ClassTelling {
  Index rows = 0;
  Index errors = 0;    ///< rows told wrongly by the best rule on the column
  Index baseline = 0;  ///< rows told wrongly by the most frequent class

  /// The column removes 99% of the errors, of at least 10.
  bool nearly_exact() const { return baseline >= 10 && errors * 100 <= baseline; }
};

/// The better of two rules: every class takes one interval of the values; or, if a value occurs ten times on average,
/// every value stands for its most frequent class. Missing values (NaN) count as one value of their own. `classes` are
/// 0 .. n_classes - 1.
ClassTelling class_telling(std::span<const double> values, std::span<const std::int32_t> classes, Index n_classes);

/// The larger of the absolute linear and rank correlations of the rows in which the column has a value; 0 if those are
/// fewer than 30 or than half of all.
double number_telling(std::span<const double> values, std::span<const double> label);

}  // namespace ecotone
