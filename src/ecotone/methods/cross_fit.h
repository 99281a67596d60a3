#pragma once

#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"

/// Refits inside a training view: for penalties, calibration and whatever else must be judged on rows that a fit has
/// not seen, without touching rows outside the view.
namespace ecotone {

/// One fold of the labelled rows of a training view. Both lists ascend; together they are all labelled rows.
struct InnerFold {
  std::vector<Index> train;
  std::vector<Index> held;
};

/// Most folds of rows that a view with one source domain is cut into.
inline constexpr Index most_row_folds = 5;

/// Folds of the labelled rows by whole domains: one per source domain, in the order of the domains; beyond `most`
/// domains, the largest first, each goes to the fold with the fewest rows. With one source domain: up to
/// `most_row_folds` random folds of rows, keyed by the context's seed, each with about its share of every class. Fewer
/// than two labelled rows give no fold.
std::vector<InnerFold> inner_folds(const TrainView& view, const Context& context, Index most = 10);

/// These labelled rows (numbers below view.labelled()) and all target rows as a view. Classes and domains are those
/// that occur in it; a domain without a labelled row is a target.
TrainView view_of_rows(const TrainView& view, std::span<const Index> labelled_rows);

}  // namespace ecotone
