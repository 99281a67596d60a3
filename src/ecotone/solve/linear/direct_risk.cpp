#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/pool.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/linear/risk.h"

namespace ecotone {
namespace {

/// Solves with a Hessian of which only the lower triangle is given. Directions in which the design does not vary at all
/// (equal columns, a full set of indicators together with the offset) are found at the first point and left unchanged.
class HessianSolver {
 public:
  Vector solve(const Matrix& hessian, const Vector& right, const Context& context) {
    // A = D^-1 H D^-1 with unit diagonal: penalties of 1e10 and of 1e-22 are equally well factored.
    const Vector d = (hessian.diagonal().array() > 0).select(hessian.diagonal().array().sqrt(), 1.0);
    Matrix a = d.cwiseInverse().asDiagonal() * hessian * d.cwiseInverse().asDiagonal();
    a.diagonal().setOnes();
    if (!examined_) {
      examined_ = true;
      find_null_space(a, d, context);
    }
    deflate(a, d);
    const Cholesky cholesky = factor(a, context);
    return cholesky.solve(Vector(right.cwiseQuotient(d)), context).cwiseQuotient(d);
  }

 private:
  static double negligible(Index size) {
    return 8.0 * static_cast<double>(size) * std::numeric_limits<double>::epsilon();
  }

  void find_null_space(const Matrix& a, const Vector& d, const Context& context) {
    const auto cholesky = Cholesky::factor(a, context);
    if (cholesky && cholesky->lower().diagonal().cwiseAbs2().minCoeff() > negligible(a.rows())) return;
    const SymmetricEigen eigen = symmetric_eigen(a, context);
    const double cut = negligible(a.rows()) * eigen.values[0];
    const Index count = (eigen.values.array() <= cut).count();
    null_space_ = d.cwiseInverse().asDiagonal() * eigen.vectors.rightCols(count);
  }

  /// A + N N' with N the null space: the solution has no component in it.
  void deflate(Matrix& a, const Vector& d) const {
    if (null_space_.cols() == 0) return;
    Matrix n = d.asDiagonal() * null_space_;
    n.colwise().normalize();
    a.triangularView<Eigen::Lower>() += n * n.transpose();
  }

  /// Adds damping until the matrix is positive definite: curvatures that underflow leave nothing to factor.
  static Cholesky factor(const Matrix& a, const Context& context) {
    for (double damping = 0;; damping = damping == 0 ? 1e-14 : 100 * damping) {
      Matrix damped = a;
      damped.diagonal().array() += damping;
      if (auto cholesky = Cholesky::factor(std::move(damped), context)) return std::move(*cholesky);
      if (!(damping < 1e6)) internal_error("linear model: a Hessian that is not finite");
    }
  }

  bool examined_ = false;
  Matrix null_space_;
};

class DirectRisk final : public FactoredRisk {
 public:
  DirectRisk(const Standardised& design, const Loss& loss, const Vector& penalty, const Context& context)
      : design_(design), loss_(loss), penalty_(penalty), context_(context) {}

  RiskPoint at(Matrix theta) override {
    const Index size = theta.size();
    if (size > 1000) require_gram_memory(size, context_);
    Sums sums = sum_rows(design_.blocks(), context_,
                         Sums{{}, Matrix::Zero(theta.rows(), theta.cols()), Matrix::Zero(size, size)},
                         [&](Sums& acc, Index b) { add_block(acc, b, theta); });
    for (Index k = 0; k < theta.cols(); ++k) {
      hessian_diagonal(sums.hessian, k) += 2.0 * penalty_;
    }
    hessian_ = std::move(sums.hessian);
    return penalised_point(std::move(theta), sums.gradient, sums.loss, penalty_);
  }

  Matrix newton_step(const RiskPoint& point, double) override {
    // The Hessian orders parameters class by class.
    const Matrix by_class = -point.gradient.transpose();
    const Vector step = solver_.solve(hessian_, Eigen::Map<const Vector>(by_class.data(), by_class.size()), context_);
    return Eigen::Map<const Matrix>(step.data(), by_class.rows(), by_class.cols()).transpose();
  }

  Preconditioner inverse_hessian() const override { return inverse_of(hessian_, context_); }

  LossSums margins_along(const Matrix& direction) override {
    return design_
        .sweep(direction, LossSums{}, context_,
               [&](Index first, MatrixView t, LossSums& sums) { loss_.margins(first, t, sums); })
        .second;
  }

 private:
  struct Sums {
    LossSums loss;
    Matrix gradient;
    Matrix hessian;  // lower triangle
    void merge(const Sums& other) {
      loss.merge(other.loss);
      gradient += other.gradient;
      hessian += other.hessian;
    }
    template <class Archive>
    void archive(Archive& with) {
      with(loss, gradient, hessian);
    }
  };
  struct Workspace {
    Scratch scratch;
    Matrix z;
    Matrix weighted;
    Matrix t;
    Matrix curvature;
  };

  Eigen::Diagonal<Eigen::Block<Matrix>> hessian_diagonal(Matrix& hessian, Index k) const {
    const Index p = design_.size();
    return Eigen::Block<Matrix>(hessian, k * p, k * p, p, p).diagonal();
  }

  void add_block(Sums& acc, Index b, const Matrix& theta) {
    const auto work = pool_.borrow();
    const Index first = design_.first_row(b);
    design_.block(b, work->scratch, work->z);
    const Matrix& z = work->z;
    work->t.resize(z.rows(), theta.cols());
    multiply(z, theta, work->t);
    work->curvature.resize(z.rows(), loss_.curvature_size());
    loss_.evaluate(first, work->t, work->curvature, acc.loss);
    add_transpose_product(z, work->t, acc.gradient);
    // H_jk += Z' diag(c_jk) Z
    const Index p = z.cols();
    for (Index j = 0; j < theta.cols(); ++j) {
      for (Index k = 0; k <= j; ++k) {
        const Vector c = loss_.curvature_entry(first, work->curvature, j, k);
        if (j == k) {
          work->weighted = c.cwiseMax(0.0).cwiseSqrt().asDiagonal() * z;
          add_gram(work->weighted, acc.hessian.block(j * p, j * p, p, p));
        } else {
          work->weighted = c.asDiagonal() * z;
          acc.hessian.block(j * p, k * p, p, p).noalias() += z.transpose() * work->weighted;
        }
      }
    }
  }

  const Standardised& design_;
  const Loss& loss_;
  const Vector& penalty_;
  Context context_;
  Pool<Workspace> pool_;
  HessianSolver solver_;
  Matrix hessian_;
};

}  // namespace

std::unique_ptr<FactoredRisk> direct_risk(const Standardised& design, const Loss& loss, const Vector& penalty,
                                          const Context& context) {
  return std::make_unique<DirectRisk>(design, loss, penalty, context);
}

}  // namespace ecotone
