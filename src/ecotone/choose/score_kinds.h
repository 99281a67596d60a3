#pragma once

#include <vector>

#include "ecotone/choose/candidate_fits.h"

/// The scorers, one function each; scorer.cpp chooses.
namespace ecotone {

/// Losses of rows (or of domains) per candidate.
using Losses = std::vector<Attempt<Vector>>;

/// Means of losses and their paired gains over the first candidate; weights as in mean_error.
std::vector<CandidateScore> paired_scores(const CandidateFits& fits, const Losses& losses, ConstVectorView weights);

/// sum_i a_i l_i / sum_i a_i over source rows that the fit did not see, a_i ~ p_target(x_i) / p_source(x_i).
std::vector<CandidateScore> score_importance(CandidateFits& fits);
/// mean(a l) + eta mean(a) - eta, with eta = -cov(a l, a) / var(a).
std::vector<CandidateScore> score_control_variate(CandidateFits& fits);
/// Loss on source labels of the pipeline refitted on the target rows with the labels that the candidate predicted.
std::vector<CandidateScore> score_reverse(CandidateFits& fits);
/// The same on all source rows, whose labels the candidate has seen but the refitted pipeline has not. Its loss is
/// simple_loss.
std::vector<CandidateScore> score_circular(CandidateFits& fits);
/// Errors for classification, squared errors for regression.
RowLoss simple_loss(Task task);
/// Mean entropy of the predicted probabilities of the target rows.
std::vector<CandidateScore> score_entropy(CandidateFits& fits);
/// Minus the soft neighbourhood density of the predicted probabilities of the target rows.
std::vector<CandidateScore> score_density(CandidateFits& fits);
/// How often a candidate's class is not that of the mean of all candidates' probabilities (EnsV).
std::vector<CandidateScore> score_ensemble(CandidateFits& fits);
/// Minus the batch nuclear norm of the predicted probabilities of the target rows.
std::vector<CandidateScore> score_nuclear(CandidateFits& fits);
/// How often mixtures of two target rows are not of the class of the larger part (MixVal).
std::vector<CandidateScore> score_mixval(CandidateFits& fits);
/// How much less than the reference each candidate agrees with the mean of all, if there are at least three.
void add_disagreement(std::vector<CandidateScore>& scores, CandidateFits& fits);
/// Mean loss on source domains treated as the target.
std::vector<CandidateScore> score_transfer(CandidateFits& fits);

/// The largest number of target rows that `density` uses; more are sampled.
inline constexpr Index most_density_rows = 2000;
/// Minus the mean over rows of the entropy of softmax_j(p_i . p_j / 0.05) over the other rows, p of unit length.
double negative_density(const Matrix& probability, const Context& context);
/// How candidates agree with the mean of the voters' probabilities. Data error `too_few_candidates` with fewer than two
/// candidates.
struct Agreement {
  std::vector<double> share;     ///< of rows whose class is that of the mean
  std::vector<double> distance;  ///< mean squared distance from it
  std::vector<Vector> rows;      ///< 1 where they agree
  std::size_t chosen = 0;        ///< the largest share, then the least distance, then the first
};
Agreement agreement_of(const std::vector<Matrix>& candidates, const std::vector<Matrix>& voters);
/// The same without copies, which would vote twice.
Agreement agreement_of(const std::vector<Matrix>& candidates);
/// Sum of the singular values of rows x classes, divided by the rows.
double nuclear_norm(const Matrix& probability, const Context& context);
/// How often the mixture of row i and row permutation_i is predicted to be of the class of row i.
struct MixedAccuracy {
  std::optional<double> same;   ///< of pairs of one class
  std::optional<double> other;  ///< of pairs of two
  double mean() const;
};
MixedAccuracy mixed_accuracy(std::span<const std::int32_t> predicted, std::span<const Index> permutation,
                             std::span<const std::int32_t> of_mixture);
/// The estimate u_i of every row whose mean is the control variate estimate: a l + eta (a - 1).
Vector control_variate_terms(ConstVectorView ratio, ConstVectorView loss);
/// The number of folds of `transfer` in this view: source domains that can be treated as the target, at most 20. Those
/// of fewer rows than columns + 1 are left out if two others remain.
Index transfer_folds(const TrainView& view, const Context& context);
/// How many of these source domains do not overlap the others (overlap.h).
Index domains_apart(CandidateFits& fits);
/// Whole source domains in at most `most` folds; no folds if there are fewer than three domains, or if holding out a
/// fold leaves one class.
std::vector<InnerFold> whole_domain_folds(const TrainView& view, Index most, const Context& context);

}  // namespace ecotone
