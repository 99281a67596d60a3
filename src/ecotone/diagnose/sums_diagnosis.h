#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/methods/sums/parts.h"

namespace ecotone {

/// How domains differ, from sums over their rows alone: no test, no classifier.
struct SumsDiagnosis {
  std::string pipeline;
  std::vector<std::string> domains;
  std::vector<Index> rows;           ///< of each domain
  std::vector<std::string> classes;  ///< empty: labels are numbers, or there are none
  Matrix class_share;                ///< domains x classes
  /// Standardised mean differences of every domain from all others, features with the largest first; none where the
  /// sums are of features that were drawn.
  std::vector<std::string> features;
  std::vector<std::vector<std::optional<double>>> smd;  ///< by feature, then domain
  std::optional<Matrix> mmd2;  ///< unbiased squared MMD between domains, by features that were drawn for their rows
};

SumsDiagnosis diagnose_parts(const std::vector<SumsPart>& parts, const Context& context);

}  // namespace ecotone
