#include "ecotone/methods/sums/summed_domains.h"

#include <algorithm>

#include "ecotone/methods/domain_places.h"
#include "ecotone/methods/select/selection_view.h"
#include "ecotone/solve/alignment/summed_groups.h"

namespace ecotone {

SummedDomains summed_domains(const char* who, const RowSums& sums, ScatterKind kind, const Context& context) {
  SummedDomains all;
  const auto add = [&](const Moments& moments, Role role) {
    warn_lost_digits(who, moments, {.x = true}, context);
    all.names.insert(all.names.end(), moments.groups.begin(), moments.groups.end());
    all.role.insert(all.role.end(), moments.groups.size(), role);
    for (GroupMoments& group : summed_groups(moments, kind)) all.groups.push_back(std::move(group));
  };
  add(sums.moments, Role::source);
  if (sums.has_targets()) add(sums.targets, Role::target);
  return all;
}

void tell_class_shares(const char* who, const RowSums& sums, const Context& context) {
  if (sums.task != Task::classify || sums.classes.empty()) return;
  Matrix counts = Matrix::Zero(sums.moments.group_count(), std::ssize(sums.classes));
  for (Index c = 0; c < counts.cols(); ++c) {
    const Moments& own = sums.of_class[at(c)];
    for (Index g = 0; g < own.group_count(); ++g) {
      const auto domain = std::ranges::find(sums.moments.groups, own.groups[at(g)]);
      counts(domain - sums.moments.groups.begin(), c) = own.rows[g];
    }
  }
  tell_class_shares(who, counts, sums.classes, context);
}

}  // namespace ecotone
