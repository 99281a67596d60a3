#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/linear/linear.h"

/// Importance weights between two samples, estimated by a logistic classifier here, by nearest neighbours in
/// knn_ratio.h and by two Gaussian densities in gaussian_ratio.h. domain_auroc.h measures how well the samples can be
/// separated; joint.h learns labels and weights at once.
///
/// A weight says how many times more likely a row is in one sample than in the other. Throughout, the first `sources`
/// rows of x are the source sample (class +1) and the others the target sample (-1). Data error `empty_data` if a
/// sample has no rows.
namespace ecotone {

struct RatioOptions {
  double l2 = 1e-3;
  bool squares = false;  ///< the classifier uses each feature and its square
  const char* who = "weight.logistic";
  std::span<const std::int32_t> group = {};  ///< of each row of x (data/groups.h); empty: none
};

/// A classifier of source against target, and the weights that it gives the source rows.
struct RatioFit {
  LinearFit classifier;  ///< over the features, followed by their squares if requested
  Vector log_weight;     ///< ln(NS / NT) - s at each source row, (59.61)
};

RatioFit logistic_ratio(const Features& x, Index sources, const RatioOptions& options, const Context& context);

/// Scores of rows that the classifier has not seen.
struct HeldOutScores {
  Vector score;             ///< s of every row, from a fit without the fold of the row
  std::vector<Index> fold;  ///< of every row; without groups each fold has rows of both samples
};

/// Each sample is shuffled and dealt to `folds` folds, or to as many as the smaller one has rows; groups are dealt
/// whole. Empty if a sample has a single row or group: a fit without it would have only one class.
std::optional<HeldOutScores> held_out_scores(const Features& x, Index sources, const RatioOptions& options, Index folds,
                                             const Context& context);

/// The AUROC of the classifier: the probability that a source row scores above a target row of its fold, averaged over
/// folds with rows of both samples by their number of rows. Scores of different folds are not compared: a fit that
/// misses some source rows leans towards the target, so these very rows would score low. 1/2: it cannot tell the
/// samples apart.
double separation(const HeldOutScores& held_out, Index sources);

}  // namespace ecotone
