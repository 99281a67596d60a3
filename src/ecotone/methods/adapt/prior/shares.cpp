#include "ecotone/methods/adapt/prior/shares.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>

#include "ecotone/base/error.h"
#include "ecotone/base/index.h"
#include "ecotone/data/dataset.h"
#include "ecotone/measure/intervals.h"

namespace ecotone {
namespace {

constexpr double smallest_clipped = 1e-6;
constexpr double rows_in_full = 5;  // of a domain that counts in full
constexpr Index draws = 200;        // of the bootstrap
constexpr Index most_bootstrap_rows = 20'000;
constexpr std::size_t fewest_replays = 3;
constexpr double least_probability = 1e-15;  // in log losses

double total_variation(const Vector& a, const Vector& b) { return (a - b).cwiseAbs().sum() / 2; }

std::vector<Index> rows_of(const UnseenRows& rows, Index domain) {
  std::vector<Index> own;
  for (std::size_t i = 0; i < rows.domain.size(); ++i)
    if (rows.domain[i] == domain) own.push_back(static_cast<Index>(i));
  return own;
}

std::vector<std::int32_t> taken(const std::vector<std::int32_t>& values, const std::vector<Index>& rows) {
  std::vector<std::int32_t> result;
  for (const Index row : rows) result.push_back(values[at(row)]);
  return result;
}

/// Weights of the rows of all domains but one.
std::vector<double> without(const UnseenRows& rows, Index domain) {
  std::vector<double> factor(at(rows.domains), 1.0);
  factor[at(domain)] = 0;
  return rows.domain_equal(factor);
}

/// These rows alone.
UnseenRows part_of(const UnseenRows& rows, const std::vector<Index>& kept) {
  UnseenRows part;
  part.probability = rows.probability(kept, Eigen::all);
  part.predicted = taken(rows.predicted, kept);
  part.label = taken(rows.label, kept);
  part.domains = rows.domains;
  for (const Index row : kept) {
    part.domain.push_back(rows.domain[at(row)]);
    part.weight.push_back(rows.weight[at(row)]);
  }
  return part;
}

/// Weights of classes for shares that were estimated from n rows: those after one more row of each class.
Vector kept_weights(const Vector& share, const Vector& source_share, Index n) {
  // (n q + 1) / (n + C) / pi
  const Vector kept =
      (static_cast<double>(n) * share.array() + 1) / (static_cast<double>(n) + static_cast<double>(share.size()));
  return kept.cwiseQuotient(source_share);
}

/// The test of label shift for a sample against some of the rows.
std::optional<LabelShiftTest> shift_test(const UnseenRows& rows, const std::vector<Index>& sources,
                                         ConstMatrixView probability, std::span<const std::int32_t> predicted) {
  const UnseenRows from = part_of(rows, sources);
  const PredictionBins bins(from.probability, from.predicted);
  Matrix counts = Matrix::Zero(bins.count(), rows.probability.cols());
  for (std::size_t i = 0; i < sources.size(); ++i)
    counts(bins.bin(from.predicted[i], from.probability(static_cast<Index>(i), from.predicted[i])), from.label[i]) += 1;
  Vector target = Vector::Zero(bins.count());
  for (std::size_t i = 0; i < predicted.size(); ++i) {
    const Index bin = bins.bin(predicted[i], probability(static_cast<Index>(i), predicted[i]));
    if (bin >= 0) target[bin] += 1;
  }
  if (bins.count() <= counts.cols() || !(target.sum() > 0)) return std::nullopt;
  try {
    return label_shift_test(counts, target);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data) throw;
    return std::nullopt;
  }
}

std::size_t drawn(Random& random, Index count) {
  return static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(count)));
}

/// As many rows, drawn with replacement.
std::vector<Index> redrawn(Index rows, Random& random) {
  std::vector<Index> result;
  for (Index i = 0; i < rows; ++i) result.push_back(static_cast<Index>(drawn(random, rows)));
  return result;
}

/// The standard deviation of shares when sources are drawn anew, or rows within them where domains are few. EM knows
/// the noise of the target's rows; for the other methods these are drawn anew, too.
std::optional<Vector> bootstrap_errors(const UnseenRows& all, PriorMethod method, ConstMatrixView probability,
                                       std::span<const std::int32_t> predicted, const Context& context) {
  std::vector<Index> kept(all.label.size());
  std::iota(kept.begin(), kept.end(), 0);
  const UnseenRows rows = part_of(all, spread_over(kept, most_bootstrap_rows));
  std::vector<Index> asked(predicted.size());
  std::iota(asked.begin(), asked.end(), 0);
  asked = spread_over(asked, most_bootstrap_rows);
  const Matrix target = probability(asked, Eigen::all);
  std::vector<std::int32_t> classes;
  for (const Index row : asked) classes.push_back(predicted[at(row)]);
  const bool by_domain = rows.domains >= fewest_drawn_domains;
  std::vector<std::optional<Vector>> found(at(draws));
  context.parallel(draws, [&](Index draw) {
    Random random = context.random("class shares", static_cast<std::uint64_t>(draw));
    std::vector<double> weight;
    if (by_domain) {
      std::vector<double> factor(at(rows.domains), 0.0);
      for (Index k = 0; k < rows.domains; ++k) factor[drawn(random, rows.domains)] += 1;
      weight = rows.domain_equal(factor);
    } else {
      weight = rows.domain_equal();
      std::vector<double> times(weight.size(), 0.0);
      for (Index k = 0; k < rows.domains; ++k) {
        const std::vector<Index> own = rows_of(rows, k);
        for (std::size_t i = 0; i < own.size(); ++i) times[at(own[drawn(random, std::ssize(own))])] += 1;
      }
      for (std::size_t i = 0; i < weight.size(); ++i) weight[i] *= times[i];
    }
    try {
      const ShareEstimator estimator(rows, weight, method);
      if (estimator.calibration().reversed()) return;
      if (method == PriorMethod::em) {
        found[at(draw)] = estimator.estimate(target, classes).share;
      } else {
        const std::vector<Index> again = redrawn(target.rows(), random);
        found[at(draw)] = estimator.estimate(target(again, Eigen::all), taken(classes, again)).share;
      }
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;  // a draw of one class says nothing
    }
  });
  std::vector<double> values;
  Vector errors(rows.probability.cols());
  for (Index c = 0; c < errors.size(); ++c) {
    values.clear();
    for (const auto& share : found)
      if (share) values.push_back((*share)[c]);
    const auto sd = sample_sd(values);
    if (!sd) return std::nullopt;
    errors[c] = *sd;
  }
  return errors;
}

}  // namespace

std::vector<double> UnseenRows::domain_equal(const std::vector<double>& factor) const {
  std::vector<double> rows(at(domains), 0.0), sums(at(domains), 0.0);
  for (std::size_t i = 0; i < domain.size(); ++i) {
    rows[at(domain[i])] += 1;
    sums[at(domain[i])] += weight[i];
  }
  std::vector<double> result;
  for (std::size_t i = 0; i < domain.size(); ++i) {
    const std::size_t k = at(domain[i]);
    const double part = sums[k] > 0 ? weight[i] / sums[k] * rows[k] / std::max(rows[k], rows_in_full) : 0;
    result.push_back(part * (factor.empty() ? 1 : factor[k]));
  }
  return result;
}

Matrix clipped_probabilities(ConstMatrixView probability) {
  Matrix result = probability.cwiseMax(smallest_clipped);
  for (Index i = 0; i < result.rows(); ++i) {
    double sum = 0;
    for (Index k = 0; k < result.cols(); ++k) sum += result(i, k);
    for (Index k = 0; k < result.cols(); ++k) result(i, k) /= sum;
  }
  return result;
}

ShareEstimator::ShareEstimator(const UnseenRows& rows, const std::vector<double>& weight, PriorMethod method)
    : method_(method),
      calibration_(fit_bcts(rows.probability, rows.label, weight,
                            {.ridge = ridge_for(weight, rows.probability.cols()), .who = "adapt.prior"})),
      rows_(std::ranges::count_if(weight, [](double w) { return w > 0; })) {
  const Matrix calibrated = calibration_.calibrated(rows.probability);
  const Eigen::Map<const Vector> w(weight.data(), std::ssize(weight));
  source_share_ = calibrated.transpose() * w / w.sum();
  confusion_ = confusion_shares(rows.probability, rows.predicted, rows.label, weight, false);
  label_share_ = confusion_.colwise().sum();
  predicted_share_ = confusion_.rowwise().sum();
}

ClassShares ShareEstimator::estimate(ConstMatrixView probability, std::span<const std::int32_t> predicted) const {
  ClassShares result = em_shares(calibration_.calibrated(probability), source_share_);
  result.weight = kept_weights(result.share, source_share_, probability.rows());
  if (method_ == PriorMethod::em) return result;
  const Vector seen = predicted_shares(probability, predicted, false);
  ShareWeights weights;
  if (method_ == PriorMethod::bbse) {
    weights = bbse(confusion_, seen);
  } else {
    weights.weight = rlls(confusion_, seen, predicted_share_, rows_).weight;
  }
  result.share = weights.shares(label_share_);
  result.weight = kept_weights(result.share, source_share_, probability.rows());
  result.standard_error.setConstant(std::nan(""));  // that of EM is not theirs
  result.converged = true;
  return result;
}

Matrix ShareEstimator::corrected(ConstMatrixView probability, const Vector& weight) const {
  return reweighted(calibration_.calibrated(probability), weight);
}

std::int32_t predicted_class(const Eigen::Ref<const Eigen::RowVectorXd>& p) {
  if (p.size() == 2) return p[1] >= p[0] ? 1 : 0;
  Index best = 0;
  p.maxCoeff(&best);
  return static_cast<std::int32_t>(best);
}

std::optional<PriorReplay> replay_correction(const UnseenRows& rows, PriorMethod method, const Context& context) {
  std::vector<std::optional<ReplayedDomain>> found(at(rows.domains));
  context.parallel(rows.domains, [&](Index k) {
    const std::vector<Index> own = rows_of(rows, k);
    if (own.empty()) return;
    try {
      const ShareEstimator others(rows, without(rows, k), method);
      if (others.calibration().reversed()) return;
      const Matrix p = rows.probability(own, Eigen::all);
      const ClassShares shares = others.estimate(p, taken(rows.predicted, own));
      const Matrix corrected = others.corrected(p, shares.weight);
      ReplayedDomain replayed{.domain = k};
      Vector truth = Vector::Zero(p.cols());
      double weight = 0;
      for (std::size_t i = 0; i < own.size(); ++i) {
        const double w = rows.weight[at(own[i])];
        const std::int32_t y = rows.label[at(own[i])];
        const auto row = static_cast<Index>(i);
        replayed.gain += w * ((predicted_class(corrected.row(row)) == y) - (rows.predicted[at(own[i])] == y));
        replayed.log_loss_gain += w * (std::log(std::max(corrected(row, y), least_probability)) - std::log(p(row, y)));
        truth[y] += w;
        weight += w;
      }
      replayed.gain /= weight;
      replayed.log_loss_gain /= weight;
      truth /= weight;
      replayed.distance = total_variation(shares.share, truth);
      replayed.source_distance = total_variation(others.source_share(), truth);
      found[at(k)] = replayed;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;  // the others cannot be calibrated: nothing can be said
    }
  });
  PriorReplay replay;
  std::vector<double> gains, log_loss_gains;
  for (const auto& each : found)
    if (each) {
      replay.domains.push_back(*each);
      gains.push_back(each->gain);
      log_loss_gains.push_back(each->log_loss_gain);
    }
  if (gains.size() < fewest_replays) return std::nullopt;
  replay.gain = *mean_of(gains);
  replay.error = *standard_error(gains);
  replay.log_loss_gain = *mean_of(log_loss_gains);
  return replay;
}

TargetShares target_shares(const UnseenRows& rows, const ShareEstimator& estimator, PriorMethod method,
                           ConstMatrixView probability, std::span<const std::int32_t> predicted,
                           const Context& context) {
  const ClassShares shares = estimator.estimate(probability, predicted);
  TargetShares result;
  result.rows = probability.rows();
  result.share = shares.share;
  result.weight = shares.weight;
  result.converged = shares.converged;
  result.standard_error = shares.standard_error;
  result.error_from = method == PriorMethod::em ? "target rows" : "none";
  if (const auto redrawn = bootstrap_errors(rows, method, probability, predicted, context)) {
    const bool undefined = !result.standard_error.allFinite();
    if (undefined || redrawn->maxCoeff() > result.standard_error.maxCoeff()) {
      result.standard_error = *redrawn;
      result.error_from = rows.domains >= fewest_drawn_domains ? "source domains" : "source rows";
      if (method != PriorMethod::em) result.error_from += " and target rows";
    }
  }
  // No number between 0 and 1 has a larger one; the formula does not hold on the border.
  result.standard_error = result.standard_error.unaryExpr([](double e) { return e > 0.5 ? 0.5 : e; });
  std::vector<Index> all(rows.label.size());
  std::iota(all.begin(), all.end(), 0);
  const auto test = shift_test(rows, all, probability, predicted);
  if (!test) return result;
  result.x2 = test->x2;
  result.freedom = test->freedom;
  result.p_value = test->p_value;
  Index as_far = 1, judged = 1;
  for (Index k = 0; k < rows.domains; ++k) {
    const std::vector<Index> own = rows_of(rows, k);
    std::vector<Index> others;
    std::ranges::set_difference(all, own, std::back_inserter(others));
    if (own.empty() || others.empty()) continue;
    const Matrix p = rows.probability(own, Eigen::all);
    const auto played = shift_test(rows, others, p, taken(rows.predicted, own));
    if (!played) continue;
    ++judged;
    as_far += played->x2 >= test->x2;
  }
  result.rank_p = static_cast<double>(as_far) / static_cast<double>(judged);
  return result;
}

}  // namespace ecotone
