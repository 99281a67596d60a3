#include <algorithm>
#include <cmath>

#include "ecotone/choose/score_kinds.h"
#include "ecotone/measure/weights.h"

namespace ecotone {

namespace {

/// The given row weights scaled to mean 1; all 1 if there are none.
Vector given_weights(const TrainView& view) {
  if (view.weight.size() == 0) return Vector::Ones(view.labelled());
  if (view.weight.sum() <= 0) data_error("zero_weights", "scorer: all row weights are 0");
  return normalised(view.weight);
}

}  // namespace

std::vector<CandidateScore> score_importance(CandidateFits& fits) {
  const TargetRatio& ratio = fits.ratio();
  // Half of the 20 (M + 1) rows that stages flatten to: estimating one mean needs fewer rows than a fit, and the rows
  // near the target decide it.
  const Flattened flat = flatten_to_ess(ratio.log_weight, 10.0 * static_cast<double>(ratio.x.cols() + 1));
  const Vector weights = flat.weights.cwiseProduct(given_weights(fits.view()));
  Losses losses;
  for (const auto& each : fits.held_out())
    losses.push_back({each.value ? std::optional(each.value->loss) : std::nullopt, each.error});
  return paired_scores(fits, losses, weights);
}

Vector control_variate_terms(ConstVectorView ratio, ConstVectorView loss) {
  // E a = 1, so mean(a) - 1 is noise correlated with that of mean(a l): eta removes it with the least variance.
  const Vector product = ratio.cwiseProduct(loss);
  const Vector centred = ratio.array() - ratio.mean();
  const double variance = centred.squaredNorm();
  const double eta = variance > 0 ? -centred.dot((product.array() - product.mean()).matrix()) / variance : 0.0;
  return product.array() + eta * (ratio.array() - 1);
}

std::vector<CandidateScore> score_control_variate(CandidateFits& fits) {
  // Weights are not flattened, so one row may carry nearly all the weight; up to e^200 sums of their squares are
  // finite.
  constexpr double largest = 200;
  const Vector given = given_weights(fits.view());
  const auto& held_out = fits.held_out();
  const auto& full = fits.full();
  Losses losses(held_out.size());
  for (std::size_t c = 0; c < losses.size(); ++c) {
    losses[c].error = held_out[c].error ? held_out[c].error : full[c].error;
    if (losses[c].error) continue;
    // The ratio in the features that the candidate's learner sees.
    TrainView seen = fits.view();
    seen.x = full[c].value->model->transform({seen.x, seen.domain, seen.origin}, fits.context());
    const Vector log_weight = target_ratio(seen, Schema{}, "control_variate", fits.context()).log_weight;
    const Vector ratio = log_weight.array().min(largest).exp();
    // Given weights shift weight between rows; the mean, which the control variate takes to be 1, stays.
    const Vector both = ratio.cwiseProduct(given);
    losses[c].value = control_variate_terms(both * (ratio.sum() / both.sum()), held_out[c].value->loss);
  }
  return paired_scores(fits, losses, Vector());
}

std::vector<CandidateScore> paired_scores(const CandidateFits& fits, const Losses& losses, ConstVectorView weights) {
  std::vector<CandidateScore> scores(losses.size());
  const auto& reference = losses.front().value;
  for (std::size_t c = 0; c < losses.size(); ++c) {
    CandidateScore& score = scores[c];
    score.pipeline = fits.candidates()[c].text();
    if (losses[c].error) {
      score.error_code = losses[c].error->code();
      score.error = losses[c].error->what();
      continue;
    }
    const MeanError own = mean_error(*losses[c].value, weights);
    if (!std::isfinite(own.mean)) {
      score.error_code = "non_finite";
      score.error = "its estimated loss is not finite";
      continue;
    }
    score.estimate = own.mean;
    score.standard_error = own.standard_error;
    if (!reference || !scores.front().estimate) continue;
    const MeanError gain = mean_error(*reference - *losses[c].value, weights);
    score.gain = gain.mean;
    score.gain_error = gain.standard_error;
  }
  return scores;
}

}  // namespace ecotone
