#include "ecotone/solve/linear/loss.h"

#include <cmath>
#include <utility>

namespace ecotone {

Loss::Loss(Index rows, ConstVectorView weight, double norm, Matrix basis)
    : factor_(weight.size() == 0 ? Vector(Vector::Constant(rows, 1.0 / norm)) : Vector(weight / norm)),
      basis_(std::move(basis)) {}

void Loss::slope(Index row, Vector& t) const {
  Matrix scores = t.transpose();
  Matrix none(1, 0);
  LossSums sums;
  evaluate(row, scores, none, sums);
  t = scores.transpose();
}

double sigmoid(double score) {
  if (score >= 0) return 1 / (1 + std::exp(-score));
  const double e = std::exp(score);
  return e / (1 + e);
}

void Loss::apply_curvature(Index, ConstMatrixView curvature, MatrixView t) const {
  t.col(0).array() *= curvature.col(0).array();
}

Vector Loss::curvature_entry(Index, ConstMatrixView curvature, Index, Index) const { return curvature.col(0); }

}  // namespace ecotone
