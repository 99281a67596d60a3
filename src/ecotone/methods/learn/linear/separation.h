#pragma once

#include <string>
#include <vector>

#include "ecotone/solve/linear/linear.h"

namespace ecotone {

/// Which columns separate the classes of a problem that has no optimum without a penalty, in words: columns that do so
/// alone, if only with ties ("column 'drug=b' has the same value in all rows but 3, which are all of class 'yes'"),
/// otherwise too many columns for the rows, or the columns whose weights grow most as the penalty shrinks.
std::string separation_text(const LinearProblem& problem, const std::vector<std::string>& classes,
                            const Context& context);

}  // namespace ecotone
