#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Decodes the predictions of binary learners for one row into one of several classes.
namespace ecotone {

/// A row's class, one probability per class (they sum to 1) and one decision value per class.
struct Decoded {
  Index cls = 0;
  Vector probability;
  Vector score;
};

/// One versus all: the class with the largest score (59.28), the smaller index among equal ones. `positive` are the
/// learners' probabilities of their class; normalised they are the probabilities.
Decoded decode_ova(ConstVectorView score, ConstVectorView positive);

/// One versus one: the results of the pairs (0,1), (0,2), .., (R-2,R-1) for a row. A score >= 0 is a vote for the
/// first.
struct PairVotes {
  Vector votes;            ///< of each class
  Vector sum_probability;  ///< sum of the pairwise probabilities of each class

  /// Whether several classes have the most votes.
  bool tied() const;
  /// Most votes, then the larger sum of probabilities, then the smaller index.
  Index winner() const;
  /// One of the classes with the most votes.
  Index winner(Random& random) const;
};
PairVotes pair_votes(ConstVectorView score, ConstVectorView positive, Index classes);

/// Class probabilities from pairwise ones (Wu, Lin, Weng 2004, second method): the minimum of
/// sum_{i<j} (r_ji p_i - r_ij p_j)^2 over sum p = 1, r_ij the probability of i in the pair (i, j).
Vector couple_pairs(ConstVectorView positive, Index classes, const Context& context);

/// Error-correcting output codes: Hamming distance of the signs (a score of 0 is +1) to each class's row of the code.
Vector code_distances(const Matrix& code, ConstVectorView score);
/// Summed logistic loss of the scores for each class's row: L_r = sum_c ln(1 + exp(-C_rc s_c)).
Vector code_losses(const Matrix& code, ConstVectorView score);
/// p_r = exp(-L_r / d) / sum_k exp(-L_k / d), d the mean distance of the code's rows. The log-odds of two classes are
/// then the mean, not the sum, over the columns that separate them, so that a longer code does not make probabilities
/// more extreme.
Vector loss_probability(ConstVectorView loss, double mean_row_distance);

/// The first of the largest entries.
Index first_largest(ConstVectorView values);

}  // namespace ecotone
