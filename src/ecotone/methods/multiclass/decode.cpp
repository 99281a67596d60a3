#include "ecotone/methods/multiclass/decode.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/linalg/cholesky.h"

namespace ecotone {

namespace {

std::vector<Index> most_voted(const Vector& votes) {
  std::vector<Index> result;
  const double most = votes.maxCoeff();
  for (Index r = 0; r < votes.size(); ++r) {
    if (votes[r] == most) result.push_back(r);
  }
  return result;
}

/// p_k = exp(s_k - max s) / sum_l exp(s_l - max s)
Vector softmax(ConstVectorView score) {
  const Vector p = (score.array() - score.maxCoeff()).exp();
  return p / p.sum();
}

/// ln(1 + exp(-margin)) without overflow
double logistic_loss(double margin) { return std::max(-margin, 0.0) + std::log1p(std::exp(-std::abs(margin))); }

}  // namespace

Index first_largest(ConstVectorView values) {
  Index best = 0;
  for (Index r = 1; r < values.size(); ++r) {
    if (values[r] > values[best]) best = r;
  }
  return best;
}

Decoded decode_ova(ConstVectorView score, ConstVectorView positive) {
  const double sum = positive.sum();
  // If all underflow, sigmoid(s) is exp(s), whose ratios the softmax keeps.
  return {first_largest(score), sum > 1e-290 ? Vector(positive / sum) : softmax(score), score};
}

bool PairVotes::tied() const { return most_voted(votes).size() > 1; }

Index PairVotes::winner() const {
  const std::vector<Index> best = most_voted(votes);
  return *std::max_element(best.begin(), best.end(),
                           [&](Index a, Index b) { return sum_probability[a] < sum_probability[b]; });
}

Index PairVotes::winner(Random& random) const {
  const std::vector<Index> best = most_voted(votes);
  return best[random.below(best.size())];
}

PairVotes pair_votes(ConstVectorView score, ConstVectorView positive, Index classes) {
  PairVotes result{Vector::Zero(classes), Vector::Zero(classes)};
  Index pair = 0;
  for (Index i = 0; i < classes; ++i) {
    for (Index j = i + 1; j < classes; ++j, ++pair) {
      result.votes[score[pair] >= 0 ? i : j] += 1;
      result.sum_probability[i] += positive[pair];
      result.sum_probability[j] += 1 - positive[pair];
    }
  }
  return result;
}

Vector couple_pairs(ConstVectorView positive, Index classes, const Context& context) {
  // Q_ii = sum_{j != i} r_ji^2, Q_ij = -r_ji r_ij. The optimum Q p = -b e, e'p = 1 solves (Q + e e') p = (1 - b) e,
  // whose matrix is positive definite as long as no r is 0.
  Matrix a = Matrix::Ones(classes, classes);
  Index pair = 0;
  for (Index i = 0; i < classes; ++i) {
    for (Index j = i + 1; j < classes; ++j, ++pair) {
      const double r = std::clamp(positive[pair], 1e-7, 1 - 1e-7);
      a(i, i) += (1 - r) * (1 - r);
      a(j, j) += r * r;
      a(j, i) -= r * (1 - r);
    }
  }
  const auto factor = Cholesky::factor(std::move(a), context);
  if (!factor) internal_error("pairwise probabilities cannot be coupled");
  // p >= 0 up to rounding.
  const Vector p = factor->solve(Vector(Vector::Ones(classes)), context).cwiseMax(0.0);
  return p / p.sum();
}

Vector code_distances(const Matrix& code, ConstVectorView score) {
  Vector distance = Vector::Zero(code.rows());
  for (Index r = 0; r < code.rows(); ++r) {
    for (Index c = 0; c < code.cols(); ++c) distance[r] += (score[c] >= 0) != (code(r, c) > 0) ? 1 : 0;
  }
  return distance;
}

Vector code_losses(const Matrix& code, ConstVectorView score) {
  Vector loss = Vector::Zero(code.rows());
  for (Index c = 0; c < code.cols(); ++c) {
    // Far below the largest double, so that sums stay finite.
    const double s = std::clamp(score[c], -1e290, 1e290);
    const double plus = logistic_loss(s);
    const double minus = logistic_loss(-s);
    for (Index r = 0; r < code.rows(); ++r) loss[r] += code(r, c) > 0 ? plus : minus;
  }
  return loss;
}

Vector loss_probability(ConstVectorView loss, double mean_row_distance) { return softmax(-loss / mean_row_distance); }

}  // namespace ecotone
