#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/fit_cache.h"

/// The folds in which a method chooses its own options, such as `l2=auto` of logistic and the size of step, or learns
/// its probabilities. The stages before it are fitted again for every fold, without its held-out rows: a selection or a
/// scale that has seen them would make every penalty look better than it is.
namespace ecotone {

/// What the stages before a learner make of all labelled rows when they are fitted without a fold's held-out rows.
struct Refitted {
  Features x;
  Vector weight;  ///< of the fold's training rows, 0 elsewhere; empty: the weights of the learner's view
};

/// The folds of a learner's labelled rows and the features of each. Nothing is computed until it is asked for.
struct Refits {
  Index folds = 0;      ///< how many there are
  double per_fold = 0;  ///< values that a refit handles at least, a measure of its cost
  Index problems = 1;   ///< binary problems that choose in these folds, one after the other
  bool stages = false;  ///< whether there are stages to refit; if not, all folds have the features of the view
  std::function<std::vector<InnerFold>()> rows;
  /// The features of fold `number`. Passes on the errors of a stage that cannot be fitted without the held-out rows.
  std::function<Refitted(std::size_t number)> features;
  /// The same for folds of rows, regardless of domain; it has none itself. The cache of the fit must outlive it.
  std::function<Refits()> by_row;

  /// These labelled rows of the learner's view alone, ascending.
  Refits of_rows(std::vector<Index> chosen) const;
  /// The weights that the stages give multiplied by these factors, one per labelled row.
  Refits times(const Vector& factor) const;
};

/// The most values (rows x columns x folds x problems) that a default handles to choose something.
inline constexpr double affordable_values = 2e7;
inline bool can_afford_refits(const Refits& refits) {
  return refits.per_fold * static_cast<double>(refits.folds * refits.problems) <= affordable_values;
}

/// The labelled rows of a learner's view as fold `number` has them: features and training weights by the refitted
/// stages, while held-out rows keep the weights of the view. Nothing, with a warning (`fold_not_refitted`), if a stage
/// cannot be fitted without the held-out rows.
std::optional<TrainView> refitted_view(std::string_view who, const TrainView& view, const Refits& refits,
                                       const InnerFold& fold, std::size_t number, const Context& context);

/// Folds of a view whose features stay as they are: no stage stands before the learner. The view must outlive them.
Refits no_refits(const TrainView& view, const Context& context);

/// Refits of the given stages, all of those before the learner. `upstream` must outlive them, except for what it refers
/// to being moved from; a cache in order keeps the folds of small data for the next pipeline that begins with the same
/// stages.
Refits refits_of(std::shared_ptr<const Upstream> upstream, const Context& context, FitCache& cache);

}  // namespace ecotone
