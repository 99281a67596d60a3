#pragma once

#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/sums/row_sums.h"
#include "ecotone/solve/alignment/group_moments.h"

/// What stages that align domains read from sums.
namespace ecotone {

/// All domains of sums: those with labels, then those of the target.
struct SummedDomains {
  std::vector<std::string> names;
  Roles role;
  std::vector<GroupMoments> groups;
};

/// Warns (`lost_digits`) where raw sums keep too few digits.
SummedDomains summed_domains(const char* who, const RowSums& sums, ScatterKind kind, const Context& context);

/// See tell_class_shares of rows (domain_places.h).
void tell_class_shares(const char* who, const RowSums& sums, const Context& context);

}  // namespace ecotone
