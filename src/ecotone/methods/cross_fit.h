#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"

/// Refits within a training view, for penalties, calibration and anything else that must be judged on rows that a fit
/// has not seen, without touching rows outside the view.
namespace ecotone {

/// One fold of the labelled rows of a training view. Both lists ascend; together they hold all labelled rows except
/// pairs with a held-out partner and rows whose group is held out.
struct InnerFold {
  std::vector<Index> train;
  std::vector<Index> held;
};

/// The largest number of row folds for a view with one source domain.
inline constexpr Index most_row_folds = 5;

/// Folds of the labelled rows by whole domains: one per source domain, in the order of the domains; beyond `most`
/// domains, the largest first, each goes to the fold with the fewest rows. With one source domain: up to
/// `most_row_folds` random folds of rows, keyed by the context's seed, each with about its share of every class. Fewer
/// than two labelled rows give no fold. Groups are never cut: folds of rows are of whole groups, and rows of other
/// domains whose group has held-out rows are not trained on, which may leave none.
std::vector<InnerFold> inner_folds(const TrainView& view, const Context& context, Index most = 10);
/// How many folds that gives.
Index inner_fold_count(const TrainView& view, Index most = 10);

/// `folds` random folds of the labelled rows, regardless of domain, keyed by the context's seed, each with about its
/// share of every class. Fewer rows than folds: one fold per row; fewer than two rows give no fold. Groups count as
/// one row each and are dealt whole.
std::vector<InnerFold> row_folds(const TrainView& view, Index folds, const Context& context);

/// These labelled rows (numbers below view.labelled()) and all target rows as a view. Classes and domains are those
/// that occur in it; a domain without a labelled row is a target.
TrainView view_of_rows(const TrainView& view, std::span<const Index> labelled_rows);
/// The same with these rows, of whatever role, as the unlabelled ones.
TrainView view_of_rows(const TrainView& view, std::span<const Index> labelled_rows,
                       std::span<const Index> unlabelled_rows);
/// The labelled rows whose weight is not 0.
std::vector<Index> weighted_rows(const TrainView& view);
/// The view without labelled rows of weight 0. Data error `zero_weights` if none is left.
TrainView rows_with_weight(const char* who, const TrainView& view);

/// The columns under the schema's names, which match them with refits that drop levels.
TrainView with_schema_names(TrainView view, const Schema& schema, const Context& context);

/// The stages before one that follows a learner, and what they were fitted on.
struct Upstream {
  Pipeline pipeline;      ///< ends in the learner
  const TrainView& view;  ///< the input of its first stage
  const Schema& schema;   ///< of the view's columns
  const Vector& weight;   ///< row weights as passed to the learner; empty: all 1
  /// What the stages, fitted on the whole view, predict for rows with its columns.
  std::function<Prediction(const Batch&, const Context&)> predict = {};
};

class Model;

struct CrossFitOptions {
  Index most_folds = 10;     ///< of whole domains; 0: as many as there are domains
  bool keep_models = false;  ///< for more predictions by the same fits
};

/// Predictions for labelled rows, each from a fit without the row's fold.
struct CrossFit {
  /// Which entries are known, in the shape of the probabilities.
  using Known = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

  std::vector<Index> rows;  ///< the labelled rows that have them, ascending: those of the folds that could be fitted
  Matrix score;             ///< one row for each: one column for two classes (of the second), else one per class
  Matrix probability;       ///< one column per class of the view
  Known known;              ///< false: the fit had no row of this class; its score is `unknown_score`
  std::vector<std::int32_t> predicted;                    ///< classes
  Vector value;                                           ///< regression: the predictions
  Vector variance;                                        ///< regression: of the learner, if it has one for every row
  std::vector<Index> fold;                                ///< of each row, among those that were fitted
  Index folds = 0;                                        ///< that were fitted
  bool by_domain = false;                                 ///< whether folds are whole domains
  std::vector<std::shared_ptr<const Model>> models = {};  ///< of each fold, if kept
};

/// Score of a class that a fit had no row of: ln 1e-300, as for a probability of 0.
inline constexpr double unknown_score = -690.77552789821368;

/// Refits all stages for every fold and predicts the held-out rows. A fold whose training rows have one class is
/// skipped with a warning (`fold_one_class`); one whose training rows lack a class gets a warning (`fold_lacks_class`).
/// Data error `no_cross_fit` if no fold can be fitted; errors of a fit name the fold.
CrossFit cross_fit(const Upstream& upstream, std::string_view who, const Context& context,
                   const CrossFitOptions& options = {});

}  // namespace ecotone
