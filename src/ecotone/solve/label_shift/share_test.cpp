#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/index.h"
#include "ecotone/linalg/small.h"
#include "ecotone/solve/label_shift/class_shares.h"

namespace ecotone {
namespace {

/// Shares of classes under which these bins would be as likely as can be.
Vector shares_of_bins(const Matrix& h, const Vector& target) {
  constexpr int most_steps = 100'000;
  constexpr double tolerance = 1e-12;
  Vector q = Vector::Constant(h.cols(), 1 / static_cast<double>(h.cols()));
  for (int step = 0; step < most_steps; ++step) {
    const Vector mixed = h * q;
    const Vector next = q.cwiseProduct(h.transpose() * target.cwiseQuotient(mixed));
    const double change = (next - q).cwiseAbs().maxCoeff();
    q = next;
    if (change < tolerance) break;
  }
  return q;
}

}  // namespace

LabelShiftTest label_shift_test(const Matrix& counts, const Vector& target) {
  const Index bins = counts.rows();
  const Index classes = counts.cols();
  if (bins <= classes)
    data_error("not_overidentified", "label shift: {} bins of predictions fit any shares of {} classes", bins, classes);
  const double n_target = target.sum();
  if (!(n_target > 0)) data_error("empty_data", "label shift: the target has no rows");
  const Vector n = counts.colwise().sum();
  // H_bc = (count + 1/2) / (n_c + B/2)
  Matrix h(bins, classes);
  for (Index c = 0; c < classes; ++c) h.col(c) = (counts.col(c).array() + 0.5) / (n[c] + static_cast<double>(bins) / 2);
  const Vector observed = target / n_target;
  LabelShiftTest test;
  test.share = shares_of_bins(h, observed);
  const Vector m = h * test.share;
  // V = (diag m - m m') / n_t + sum_c q_c^2 / n_c (diag H_c - H_c H_c')
  Matrix v = (Matrix(m.asDiagonal()) - m * m.transpose()) / n_target;
  for (Index c = 0; c < classes; ++c) {
    if (n[c] == 0) continue;
    const Vector hc = h.col(c);
    v += test.share[c] * test.share[c] / n[c] * (Matrix(hc.asDiagonal()) - hc * hc.transpose());
  }
  const Index kept = bins - 1;
  v = Matrix(v.topLeftCorner(kept, kept));
  // q = D f + e_last: the last class is what the others leave.
  const Vector last = h.col(classes - 1).head(kept);
  const Matrix difference = h.topLeftCorner(kept, classes - 1).colwise() - last;
  const Vector right = observed.head(kept) - last;
  const std::optional<Matrix> weighted = solve_definite(v, difference);
  const std::optional<Matrix> covariance =
      weighted ? solve_definite(difference.transpose() * *weighted, Matrix::Identity(classes - 1, classes - 1))
               : std::nullopt;
  if (!covariance) data_error("not_overidentified", "label shift: the bins of predictions do not tell classes apart");
  const Vector free = *covariance * (weighted->transpose() * right);
  test.fitted.resize(classes);
  test.fitted << free, 1 - free.sum();
  test.standard_error.resize(classes);
  test.standard_error << covariance->diagonal().cwiseMax(0).cwiseSqrt(), std::sqrt(std::max(0.0, covariance->sum()));
  const Vector rest = right - difference * free;
  test.x2 = std::max(0.0, rest.dot(solve_definite(v, rest)->col(0)));
  test.freedom = static_cast<int>(bins - classes);
  test.p_value = boost::math::cdf(boost::math::complement(boost::math::chi_squared(test.freedom), test.x2));
  return test;
}

PredictionBins::PredictionBins(ConstMatrixView probability, std::span<const std::int32_t> predicted) {
  const Index classes = probability.cols();
  std::vector<std::vector<double>> of_class(at(classes));
  for (std::size_t i = 0; i < predicted.size(); ++i)
    of_class[at(predicted[i])].push_back(probability(static_cast<Index>(i), predicted[i]));
  edges_.resize(at(classes));
  number_.assign(at(classes) * 3, -1);
  for (std::size_t k = 0; k < of_class.size(); ++k) {
    std::vector<double>& own = of_class[k];
    if (own.empty()) continue;
    std::sort(own.begin(), own.end());
    edges_[k] = {own[own.size() / 3], own[2 * own.size() / 3]};
  }
  std::vector<bool> taken(number_.size(), false);
  for (std::size_t k = 0; k < of_class.size(); ++k)
    for (const double p : of_class[k])
      taken[k * 3 + static_cast<std::size_t>((p >= edges_[k][0]) + (p >= edges_[k][1]))] = true;
  for (std::size_t b = 0; b < taken.size(); ++b)
    if (taken[b]) number_[b] = count_++;
}

Index PredictionBins::bin(std::int32_t predicted, double probability) const {
  const auto k = at(predicted);
  if (edges_[k].empty()) return -1;
  return number_[k * 3 + static_cast<std::size_t>((probability >= edges_[k][0]) + (probability >= edges_[k][1]))];
}

}  // namespace ecotone
