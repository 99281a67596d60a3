#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"

namespace ecotone {

/// A column that should perhaps not be a feature.
struct SuspiciousColumn {
  std::string column;
  std::string code;  ///< `label_leak`: it tells the label almost exactly; `id_like`: it has another value in every row
  std::string message;  ///< what was found and what to do
};

/// Looks at one column after the other, in the rows of source domains; labels of targets are not used. Fewer than 30
/// rows say nothing. Of long or wide tables rows at equal distances are taken, at most 20,000 rows and 10 million
/// values; tables of more than 20,000 columns are not looked at.
std::vector<SuspiciousColumn> suspicious_columns(const Dataset& data, const Context& context);

/// Warns of each; if `strict`, data error `suspicious_columns` instead, also for columns that reading has left out.
void warn_suspicious(const Dataset& data, bool strict, const Context& context);

}  // namespace ecotone
