#include "ecotone/measure/expected_metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/index.h"
#include "ecotone/measure/recalibration.h"

namespace ecotone {
namespace {

std::optional<double> balanced_accuracy_of(const Matrix& confusion) {
  double sum = 0;
  Index classes = 0;
  for (Index k = 0; k < confusion.cols(); ++k) {
    const double share = confusion.col(k).sum();
    if (!(share > 0)) continue;
    sum += confusion(k, k) / share;
    ++classes;
  }
  if (classes == 0) return std::nullopt;
  return sum / static_cast<double>(classes);
}

std::optional<double> class_auroc(ConstMatrixView probability, ConstMatrixView own, Index k) {
  const Vector q = probability.col(k);
  const Vector s = own.col(k);
  return expected_auroc({s.data(), at(s.size())}, {q.data(), at(q.size())});
}

std::optional<double> auroc_of(ConstMatrixView probability, ConstMatrixView own) {
  if (own.cols() == 2) return class_auroc(probability, own, 1);
  double sum = 0;
  Index classes = 0;
  for (Index k = 0; k < own.cols(); ++k) {
    const auto one = class_auroc(probability, own, k);
    if (!one) continue;
    sum += *one;
    ++classes;
  }
  if (classes == 0) return std::nullopt;
  return sum / static_cast<double>(classes);
}

}  // namespace

ExpectedMetrics expected_metrics(ConstMatrixView probability, std::span<const std::int32_t> predicted,
                                 ConstMatrixView own) {
  const Index rows = probability.rows();
  const Index classes = probability.cols();
  if (rows == 0) data_error("empty_data", "expected metrics: there are no rows");
  if (own.rows() != rows || own.cols() != classes || std::ssize(predicted) != rows)
    internal_error("expected metrics: {} x {} against {} x {}", rows, classes, own.rows(), own.cols());
  ExpectedMetrics result;
  result.confusion = Matrix::Zero(classes, classes);
  for (Index i = 0; i < rows; ++i) {
    result.confusion.row(predicted[at(i)]) += probability.row(i);
    double loss = 0;
    for (Index j = 0; j < classes; ++j)
      loss -= probability(i, j) * std::log(std::clamp(own(i, j), smallest_probability, 1 - smallest_probability));
    result.log_loss += loss;
    // sum_j q_j sum_c (p_c - [c = j])^2 = sum_c p_c^2 - 2 sum_j q_j p_j + 1
    result.brier_sum += own.row(i).squaredNorm() - 2 * probability.row(i).dot(own.row(i)) + 1;
  }
  const auto n = static_cast<double>(rows);
  result.confusion /= n;
  result.log_loss /= n;
  result.brier_sum /= n;
  result.brier = classes == 2 ? result.brier_sum / 2 : result.brier_sum;
  result.accuracy = result.confusion.trace();
  result.balanced_accuracy = balanced_accuracy_of(result.confusion);
  result.auroc = auroc_of(probability, own);
  return result;
}

std::optional<double> expected_auroc(std::span<const double> score, std::span<const double> probability) {
  std::vector<std::size_t> order(score.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return score[a] < score[b]; });
  // Of rows below the present score: the sum of 1 - q.
  double below = 0, won = 0, positive = 0, negative = 0, own = 0;
  for (std::size_t first = 0; first < order.size();) {
    double up = 0, down = 0, same = 0;
    std::size_t last = first;
    for (; last < order.size() && score[order[last]] == score[order[first]]; ++last) {
      const double q = probability[order[last]];
      up += q;
      down += 1 - q;
      same += q * (1 - q);
    }
    won += up * below + (up * down - same) / 2;
    below += down;
    positive += up;
    negative += down;
    own += same;
    first = last;
  }
  const double pairs = positive * negative - own;
  if (!(pairs > 0)) return std::nullopt;
  return won / pairs;
}

}  // namespace ecotone
