#pragma once

#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/protocol.h"

namespace ecotone {

/// The rows of a data set that tuning may see, ascending.
struct TuneRows {
  std::vector<Index> labelled;  ///< of source domains
  std::vector<Index> target;    ///< whose features alone may be used
};

/// The rows by the roles of the data set. Pairs with a partner outside the source domains are in neither list.
TuneRows rows_by_role(const Dataset& data);
/// The rows of a split: its source rows that have a label, and its target rows.
TuneRows rows_of_split(const Dataset& data, const Split& split);

/// The folds that points are scored on: one per source domain. Of rows if there is one domain, and of whole groups from
/// all domains if groups span domains, so that without those of a held-out one no rows or one class would be left.
struct TuneFolds {
  std::vector<Split> plain;     ///< for points that do not adapt: rows of targets are in every fit
  std::vector<Split> adapting;  ///< for points that do: the held-out domain serves as the target
  bool by_domain = true;
};

/// Warns (`folds_of_rows`) when there is one source domain, and a note tells of folds of groups; `adapting`: whether a
/// point adapts. Data errors: `no_labels`, `no_folds`.
TuneFolds tune_folds(const Dataset& data, const TuneRows& rows, bool adapting, const Context& context);

}  // namespace ecotone
