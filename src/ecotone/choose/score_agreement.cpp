#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/choose/score_kinds.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/stacked.h"

namespace ecotone {

namespace {

constexpr double mix = 0.55;              // share of the row whose class the mixture should have
constexpr Index permutations = 5;         // of the rows that are mixed
constexpr std::size_t fewest_voters = 3;  // of two, the more confident one wins

Index largest_class(const Matrix& probability, Index row) {
  Index best = 0;
  probability.row(row).maxCoeff(&best);
  return best;
}

/// The scores of candidates whose target predictions `score` judges.
template <class Score>
std::vector<CandidateScore> scores_of_predictions(CandidateFits& fits, const Score& estimate) {
  std::vector<CandidateScore> scores;
  for (std::size_t c = 0; c < fits.candidates().size(); ++c) {
    CandidateScore& score = scores.emplace_back();
    score.pipeline = fits.candidates()[c].text();
    const auto& each = fits.full()[c];
    if (each.error) {
      score.error_code = each.error->code();
      score.error = each.error->what();
      continue;
    }
    score.estimate = estimate(*each.value);
    if (scores.front().estimate) score.gain = *scores.front().estimate - *score.estimate;
  }
  return scores;
}

/// The target predictions of the candidates that could be fitted, and their numbers.
struct FittedPredictions {
  std::vector<Matrix> probability;
  std::vector<std::size_t> candidate;
};

FittedPredictions fitted_predictions(CandidateFits& fits) {
  FittedPredictions result;
  for (std::size_t c = 0; c < fits.candidates().size(); ++c)
    if (const auto& each = fits.full()[c]; each.value) {
      result.probability.push_back(each.value->on_target.probability);
      result.candidate.push_back(c);
    }
  return result;
}

/// Copies of one candidate vote once.
std::vector<Matrix> voters_of(const std::vector<Matrix>& candidates) {
  std::vector<Matrix> voters;
  for (const Matrix& own : candidates)
    if (std::ranges::find(voters, own) == voters.end()) voters.push_back(own);
  return voters;
}

}  // namespace

Agreement agreement_of(const std::vector<Matrix>& candidates) {
  return agreement_of(candidates, voters_of(candidates));
}

Agreement agreement_of(const std::vector<Matrix>& probability, const std::vector<Matrix>& voters) {
  if (probability.size() < 2)
    data_error("too_few_candidates", "ensemble: {} candidate{}; at least two are needed to agree", probability.size(),
               probability.size() == 1 ? "" : "s");
  Matrix mean = Matrix::Zero(probability.front().rows(), probability.front().cols());
  for (const Matrix& own : voters) mean += own;
  mean /= static_cast<double>(voters.size());
  Agreement result;
  for (const Matrix& own : probability) {
    Vector agrees(own.rows());
    for (Index i = 0; i < own.rows(); ++i) agrees[i] = largest_class(own, i) == largest_class(mean, i) ? 1 : 0;
    result.share.push_back(agrees.mean());
    result.distance.push_back((own - mean).rowwise().squaredNorm().mean());
    result.rows.push_back(std::move(agrees));
  }
  for (std::size_t c = 1; c < probability.size(); ++c) {
    const bool more = result.share[c] > result.share[result.chosen];
    const bool nearer =
        result.share[c] == result.share[result.chosen] && result.distance[c] < result.distance[result.chosen] - 1e-15;
    if (more || nearer) result.chosen = c;
  }
  return result;
}

std::vector<CandidateScore> score_ensemble(CandidateFits& fits) {
  const FittedPredictions fitted = fitted_predictions(fits);
  std::vector<CandidateScore> scores = scores_of_predictions(fits, [](const CandidateFits::Full&) { return 1.0; });
  if (fitted.probability.empty()) return scores;
  if (fits.candidates().size() < fewest_voters)
    data_error("too_few_candidates", "ensemble: it needs at least three candidates, got {}: two always nearly agree",
               fits.candidates().size());
  if (fitted.probability.size() < 2) return scores;
  const Agreement agreement = agreement_of(fitted.probability);
  for (std::size_t f = 0; f < fitted.candidate.size(); ++f) {
    CandidateScore& score = scores[fitted.candidate[f]];
    score.estimate = 1 - agreement.share[f];
    score.tie_break = agreement.distance[f];
    if (scores.front().estimate) score.gain = *scores.front().estimate - *score.estimate;
  }
  return scores;
}

void add_disagreement(std::vector<CandidateScore>& scores, CandidateFits& fits) {
  const FittedPredictions fitted = fitted_predictions(fits);
  const std::vector<Matrix> voters = voters_of(fitted.probability);
  if (voters.size() < fewest_voters || fitted.candidate.front() != 0) return;
  const Agreement agreement = agreement_of(fitted.probability, voters);
  for (std::size_t f = 1; f < fitted.candidate.size(); ++f) {
    const MeanError lost = mean_error(agreement.rows.front() - agreement.rows[f], Vector());
    scores[fitted.candidate[f]].agreement_loss = lost.mean;
    scores[fitted.candidate[f]].agreement_loss_error = lost.standard_error;
  }
}

double nuclear_norm(const Matrix& probability, const Context& context) {
  const Matrix gram = probability.transpose() * probability;
  Vector values = symmetric_eigen(gram, context).values;
  // What rounding leaves of 0 would be large as a root.
  for (double& value : values) value = value > 1e-14 * values[0] ? std::sqrt(value) : 0;
  return values.sum() / static_cast<double>(probability.rows());
}

std::vector<CandidateScore> score_nuclear(CandidateFits& fits) {
  return scores_of_predictions(
      fits, [&](const CandidateFits::Full& full) { return -nuclear_norm(full.on_target.probability, fits.context()); });
}

MixedAccuracy mixed_accuracy(std::span<const std::int32_t> predicted, std::span<const Index> permutation,
                             std::span<const std::int32_t> of_mixture) {
  double right_same = 0, same = 0, right_other = 0, other = 0;
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const bool right = of_mixture[i] == predicted[i];
    const bool alike = predicted[at(permutation[i])] == predicted[i];
    (alike ? same : other) += 1;
    (alike ? right_same : right_other) += right;
  }
  MixedAccuracy result;
  if (same > 0) result.same = right_same / same;
  if (other > 0) result.other = right_other / other;
  return result;
}

double MixedAccuracy::mean() const {
  if (same && other) return (*same + *other) / 2;
  return same ? *same : other.value_or(0);
}

std::vector<CandidateScore> score_mixval(CandidateFits& fits) {
  if (fits.schema().has_codes())
    data_error(
        "coded_columns",
        "mixval: it mixes rows, and codes of categories cannot be mixed; read the data with one feature per category");
  const Context& context = fits.context();
  const Batch target = fits.target_batch();
  // Missing values are imputed first: a mixture with nothing is nothing.
  const Model impute = Model::fit(Pipeline::parse("impute"), fits.view(), fits.schema(), context);
  const Matrix x = impute.transform(target, context).to_matrix();
  const std::vector<std::string> names = impute.features();
  return scores_of_predictions(fits, [&](const CandidateFits::Full& full) {
    double sum = 0;
    for (Index p = 0; p < permutations; ++p) {
      Random random = context.random("mixval", static_cast<std::uint64_t>(p));
      const std::vector<Index> order = random.permutation(x.rows());
      const Matrix mixed = mix * x + (1 - mix) * Matrix(x(order, Eigen::all));
      const Prediction of_mixture = full.model->predict({Features::dense(mixed, names), target.domain}, context);
      sum += mixed_accuracy(full.on_target.index, order, of_mixture.index).mean();
    }
    return 1 - sum / static_cast<double>(permutations);
  });
}

}  // namespace ecotone
