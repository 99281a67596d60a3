#pragma once

#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/trust/explain.h"

namespace ecotone {

/// Rows of one side: what a model loses on each, and how much each counts among the rows that both sides could have.
struct SharedSide {
  const std::vector<Index>& row;
  const Vector& loss;
  const Vector& weight;
};

/// Adds the columns with which the difference of losses varies, and the regions that contribute most to it, upwards or,
/// where the shift says that the target costs less by it, downwards. Numbers are cut into quarters of the shared rows,
/// with missing values apart; categories of less than a twentieth are taken together. Regions need ten effective rows
/// on each side. Where all losses of a side are equal, its standard error is still that of a mean of so many rows.
void find_disagreement(Explanation& explanation, const Dataset& data, const SharedSide& source,
                       const SharedSide& target);

}  // namespace ecotone
