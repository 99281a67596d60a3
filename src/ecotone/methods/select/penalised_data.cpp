#include "ecotone/methods/select/penalised_data.h"

#include <set>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/methods/cross_fit.h"

namespace ecotone {

std::vector<double> penalty_mixes(std::string_view who, PenaltyKind kind, Index domains,
                                  std::vector<double> automatic) {
  if (kind == PenaltyKind::ridge) return {0.0};
  if (domains < 5)
    data_error("needs_five_domains",
               "{}: penalty={} compares domains and misleads with few of them: it needs five with labels, got {}; use "
               "penalty=ridge",
               who, kind == PenaltyKind::variance ? "variance" : "auto", domains);
  if (kind == PenaltyKind::variance) return {1.0};
  return automatic;
}

Index labelled_domains(const TrainView& view) {
  const auto end = view.domain.index.begin() + view.labelled();
  return static_cast<Index>(std::set<std::int32_t>(view.domain.index.begin(), end).size());
}

LeaveOutView leave_out_view(const TrainView& view, GroupShares shares, const Context& context) {
  if (labelled_domains(view) != 1 || view.labelled() < 2) return {view, false, shares};
  LeaveOutView result{view, true, GroupShares::pooled};
  Domains& domain = result.view.domain;
  const std::vector<InnerFold> folds = row_folds(view, most_row_folds, context);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    for (const Index row : folds[f].held)
      domain.index[static_cast<std::size_t>(row)] = static_cast<std::int32_t>(domain.names.size());
    domain.names.push_back(fmt::format("fold {} of the rows", f + 1));
    result.view.role.push_back(Role::source);
  }
  return result;
}

}  // namespace ecotone
