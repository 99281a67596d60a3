#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/solve/linear/risk.h"

namespace ecotone {
namespace {

constexpr Index max_products = 5000;

struct NoSums {
  void merge(const NoSums&) {}
  template <class Archive>
  void archive(Archive&) {}
};

class IterativeRisk final : public CurvedRisk {
 public:
  IterativeRisk(const Standardised& design, const Loss& loss, const Vector& penalty, const Context& context)
      : design_(design), loss_(loss), penalty_(penalty), context_(context) {
    curvature_.resize(design.rows(), loss.curvature_size());
  }

  RiskPoint at(Matrix theta) override {
    shared_ = false;
    auto [gradient, sums] = design_.sweep(theta, LossSums{}, context_, [&](Index first, MatrixView t, LossSums& acc) {
      loss_.evaluate(first, t, curvature_.middleRows(first, t.rows()), acc);
    });
    return penalised_point(std::move(theta), gradient, sums, penalty_);
  }

  RiskPoint look(Matrix theta) override {
    auto [gradient, sums] = design_.sweep(theta, LossSums{}, context_, [&](Index first, MatrixView t, LossSums& acc) {
      Matrix none(t.rows(), 0);
      loss_.evaluate(first, t, none, acc);
    });
    return penalised_point(std::move(theta), gradient, sums, penalty_);
  }

  /// Conjugate gradients on H d = -g, preconditioned by an estimate of H's diagonal.
  Matrix newton_step(const RiskPoint& point, double accuracy) override {
    const Vector preconditioner = inverse_diagonal();
    Matrix step = Matrix::Zero(point.theta.rows(), point.theta.cols());
    Matrix rest = -point.gradient;
    Matrix z = preconditioner.asDiagonal() * rest;
    Matrix direction = z;
    double size = inner(rest, z);
    const double goal = accuracy * accuracy * size;
    const Index limit = std::min(2 * step.size(), max_products);
    for (Index i = 0; i < limit && size > goal; ++i) {
      const Matrix image = multiply(direction);
      const double curvature = inner(direction, image);
      if (!(curvature > 0)) break;
      const double length = size / curvature;
      step += length * direction;
      rest -= length * image;
      z.noalias() = preconditioner.asDiagonal() * rest;
      const double next = inner(rest, z);
      direction = z + next / size * direction;
      size = next;
    }
    return step;
  }

  Vector row_curvature(Index k) const override {
    share();
    return loss_.curvature_entry(0, curvature_, k, k);
  }

  LossSums margins_along(const Matrix& direction) override {
    return design_
        .sweep(direction, LossSums{}, context_,
               [&](Index first, MatrixView t, LossSums& sums) { loss_.margins(first, t, sums); })
        .second;
  }

  /// Columns of Z have mean square 1: the mean curvature approximates z'Cz.
  Vector inverse_diagonal() const override {
    const double sum = design_.sum_of_rows(0.0, context_, [&](double& acc, Index first, Index rows) {
      for (Index j = 0; j < loss_.outputs(); ++j)
        acc += loss_.curvature_entry(first, curvature_.middleRows(first, rows), j, j).sum();
    });
    const double mean = sum / static_cast<double>(loss_.outputs());
    return (2.0 * penalty_.array() + std::max(mean, 1e-300)).inverse();
  }

 private:
  /// H v = Z'(C (Z v)) + 2 P v
  Matrix multiply(const Matrix& v) const {
    Matrix image = design_
                       .sweep(v, NoSums{}, context_,
                              [&](Index first, MatrixView t, NoSums&) {
                                loss_.apply_curvature(first, curvature_.middleRows(first, t.rows()), t);
                              })
                       .first;
    image += 2.0 * (penalty_.asDiagonal() * v);
    return image;
  }

  /// Products and sums need the curvature of this rank's rows alone, other uses that of all.
  void share() const {
    if (!shared_) design_.share(curvature_, context_);
    shared_ = true;
  }

  const Standardised& design_;
  const Loss& loss_;
  const Vector& penalty_;
  Context context_;
  mutable Matrix curvature_;
  mutable bool shared_ = true;
};

}  // namespace

std::unique_ptr<CurvedRisk> iterative_risk(const Standardised& design, const Loss& loss, const Vector& penalty,
                                           const Context& context) {
  return std::make_unique<IterativeRisk>(design, loss, penalty, context);
}

}  // namespace ecotone
