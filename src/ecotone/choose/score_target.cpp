#include <algorithm>
#include <cmath>

#include "ecotone/choose/score_kinds.h"

namespace ecotone {

namespace {

/// -sum_k p_k ln p_k of each row.
Vector entropies(const Matrix& probability) {
  Vector result = Vector::Zero(probability.rows());
  for (Index i = 0; i < probability.rows(); ++i)
    for (Index k = 0; k < probability.cols(); ++k)
      if (const double p = probability(i, k); p > 0) result[i] -= p * std::log(p);
  return result;
}

}  // namespace

std::vector<CandidateScore> score_entropy(CandidateFits& fits) {
  Losses losses;
  for (const auto& each : fits.full())
    losses.push_back(
        {each.value ? std::optional(entropies(each.value->on_target.probability)) : std::nullopt, each.error});
  return paired_scores(fits, losses, Vector());
}

double negative_density(const Matrix& probability, const Context& context) {
  constexpr double temperature = 0.05;
  constexpr Index block = 64;
  const Index n = probability.rows();
  if (n < 2) return 0;  // without neighbours there is no density
  const Matrix unit = probability.rowwise().normalized();
  Vector entropy(n);
  context.parallel((n + block - 1) / block, [&](Index b) {
    Vector s(n);
    for (Index i = b * block; i < std::min(n, (b + 1) * block); ++i) {
      for (Index j = 0; j < n; ++j) s[j] = unit.row(i).dot(unit.row(j)) / temperature;
      // q_j = e^(s_j) / Z over j != i; H = ln Z - sum_j q_j s_j
      double top = -1 / temperature;
      for (Index j = 0; j < n; ++j)
        if (j != i) top = std::max(top, s[j]);
      double z = 0;
      double mean = 0;
      for (Index j = 0; j < n; ++j) {
        if (j == i) continue;
        const double e = std::exp(s[j] - top);
        z += e;
        mean += e * (s[j] - top);
      }
      entropy[i] = std::log(z) - mean / z;
    }
  });
  return -entropy.mean();
}

std::vector<CandidateScore> score_density(CandidateFits& fits) {
  std::vector<Index> rows =
      fits.context().random("density-sample").sample(fits.targets(), std::min(fits.targets(), most_density_rows));
  std::sort(rows.begin(), rows.end());
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
    // One class for all is as dense as can be, whatever the labels.
    const auto& index = each.value->on_target.index;
    if (std::ranges::all_of(index, [&](std::int32_t k) { return k == index.front(); }) && index.size() > 1) {
      score.error_code = "one_class_predicted";
      score.error = "it predicts one class for all rows, which any density calls the best";
      continue;
    }
    // The rows' terms depend on each other, so there is no standard error.
    score.estimate = negative_density(each.value->on_target.probability(rows, Eigen::all), fits.context());
    if (scores.front().estimate) score.gain = *scores.front().estimate - *score.estimate;
  }
  return scores;
}

}  // namespace ecotone
