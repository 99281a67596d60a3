#pragma once

#include <optional>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/linear/linear.h"

/// How many times likelier a row is in one sample than in another. Everywhere the first `sources` rows of x are the
/// source sample (the class +1) and the others the target sample (-1). Data error `empty_data` when one has no row.
namespace ecotone {

struct RatioOptions {
  double l2 = 1e-3;
  bool squares = false;  ///< the classifier sees each feature and its square
  const char* who = "weight.logistic";
};

/// A classifier of source against target and the weights that it gives the source rows.
struct RatioFit {
  LinearFit classifier;  ///< of the features, and their squares behind them when asked for
  Vector log_weight;     ///< ln(NS / NT) - s at each source row, (59.61)
};

RatioFit logistic_ratio(const Features& x, Index sources, const RatioOptions& options, const Context& context);

/// Scores of rows that the classifier has not seen.
struct HeldOutScores {
  Vector score;             ///< s of every row, from a fit without the row's fold
  std::vector<Index> fold;  ///< of every row; each fold has rows of both samples
};

/// Each sample is dealt, shuffled, to `folds` folds, or to as many as the smaller one has rows. Empty when a sample has
/// a single row: a fit without it has nothing to tell apart.
std::optional<HeldOutScores> held_out_scores(const Features& x, Index sources, const RatioOptions& options, Index folds,
                                             const Context& context);

/// The AUROC of the classifier: the probability that a source row scores above a target row of its fold, the mean over
/// folds by their rows. Scores of different folds are not compared: a fit that misses some sources leans to the target,
/// and so the sources that it is asked about would score low. 1/2: it cannot tell them apart.
double separation(const HeldOutScores& held_out, Index sources);

}  // namespace ecotone
