#include <cmath>
#include <limits>

#include "ecotone/solve/linear/logistic_kernel.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {
namespace {

/// Helmert's orthonormal basis of the vectors that sum to zero.
Matrix zero_sum_basis(Index classes) {
  Matrix q = Matrix::Zero(classes, classes - 1);
  for (Index j = 0; j + 1 < classes; ++j) {
    const auto size = static_cast<double>(j + 1);
    const double unit = 1.0 / std::sqrt(size * (size + 1.0));
    q.col(j).head(j + 1).setConstant(unit);
    q(j + 1, j) = -size * unit;
  }
  return q;
}

/// Total factor of each class.
Vector class_factors(std::span<const std::int32_t> cls, Index classes, const Vector& factor) {
  Vector total = Vector::Zero(classes);
  for (Index i = 0; i < factor.size(); ++i) total[cls[at(i)]] += factor[i];
  return total;
}

class ClassLoss : public Loss {
 public:
  ClassLoss(std::span<const std::int32_t> cls, Index classes, ConstVectorView weight, double norm, Matrix basis)
      : Loss(static_cast<Index>(cls.size()), weight, norm, std::move(basis)),
        cls_(cls),
        total_(class_factors(cls, classes, factor())) {}

  double scale() const override { return total_.sum(); }
  bool separates() const override { return true; }

 protected:
  std::span<const std::int32_t> classes() const { return cls_; }
  Index cls(Index row) const { return cls_[at(row)]; }
  double sign(Index row) const { return cls(row) == 1 ? 1.0 : -1.0; }
  /// Factors of the classes, with a share of the total added to each if one class has none.
  Vector log_totals() const {
    const double part = total_.minCoeff() > 0 ? 0.0 : 1e-3 * total_.sum();
    return (total_.array() + part).log();
  }

 private:
  std::span<const std::int32_t> cls_;
  Vector total_;
};

/// Two classes and one score.
class BinaryLoss : public ClassLoss {
 public:
  BinaryLoss(std::span<const std::int32_t> cls, ConstVectorView weight, double norm)
      : ClassLoss(cls, 2, weight, norm, Matrix::Ones(1, 1)) {}

  void margins(Index first, ConstMatrixView t, LossSums& sums) const override {
    for (Index i = 0; i < t.rows(); ++i) {
      if (factor()[first + i] > 0) sums.add_margin(sign(first + i) * t(i, 0));
    }
  }
};

class LogisticLoss final : public BinaryLoss {
 public:
  using BinaryLoss::BinaryLoss;

  Vector constant_scores() const override {
    const Vector log_total = log_totals();
    return Vector::Constant(1, log_total[1] - log_total[0]);
  }

  void evaluate(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const override {
    Eigen::Array<double, kernel_rows, 1> score, margin, loss, slope, bend;
    for (Index from = 0; from < t.rows(); from += kernel_rows) {
      const Index rows = std::min(kernel_rows, t.rows() - from);
      score.head(rows) = t.col(0).segment(from, rows);
      logistic_rows(
          {classes().data() + first + from, score.data(), margin.data(), loss.data(), slope.data(), bend.data()}, rows);
      const auto part = factor().segment(first + from, rows).array();
      sums.loss += (part * loss.head(rows)).sum();
      t.col(0).segment(from, rows) = part * slope.head(rows);
      if (curvature.cols() > 0) curvature.col(0).segment(from, rows) = part * bend.head(rows);
      // Rows without weight have no margin.
      const double none = std::numeric_limits<double>::infinity();
      sums.min_margin = std::min(sums.min_margin, (part > 0.0).select(margin.head(rows), none).minCoeff());
      sums.max_margin = std::max(sums.max_margin, (part > 0.0).select(margin.head(rows).abs(), 0.0).maxCoeff());
    }
  }

  void slope(Index row, Vector& t) const override {
    // -y / (1 + exp(y t))
    const double y = sign(row);
    t[0] = -y * factor()[row] / (1 + std::exp(y * t[0]));
  }
};

class ProbitLoss final : public BinaryLoss {
 public:
  using BinaryLoss::BinaryLoss;

  Vector constant_scores() const override {
    // The logistic distribution with 0.6 times the scores is close to the normal one.
    const Vector log_total = log_totals();
    return Vector::Constant(1, 0.6 * (log_total[1] - log_total[0]));
  }

  void evaluate(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const override {
    for (Index i = 0; i < t.rows(); ++i) {
      const double part = factor()[first + i];
      const double y = sign(first + i);
      const double margin = y * t(i, 0);
      const ProbitTerms terms = probit_terms(margin);
      sums.loss += part * terms.loss;
      // d loss / dm = -phi/Phi, d2 = phi/Phi (phi/Phi + m)
      t(i, 0) = -y * part * terms.ratio;
      if (curvature.cols() > 0) curvature(i, 0) = part * terms.ratio * terms.ratio_plus_m;
      if (part > 0) sums.add_margin(margin);
    }
  }
};

class SoftmaxLoss final : public ClassLoss {
 public:
  SoftmaxLoss(std::span<const std::int32_t> cls, Index classes, ConstVectorView weight, double norm, bool full)
      : ClassLoss(cls, classes, weight, norm,
                  full ? Matrix(Matrix::Identity(classes, classes)) : zero_sum_basis(classes)),
        full_(full) {}

  Index curvature_size() const override { return basis().rows(); }
  Vector constant_scores() const override {
    const Vector log_total = log_totals();
    return basis().transpose() * (log_total.array() - log_total.mean()).matrix();
  }

  void evaluate(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const override {
    const Index rows = t.rows();
    Matrix scores = scores_of(t);
    const Vector largest = scores.rowwise().maxCoeff();
    const Matrix e = (scores.colwise() - largest).array().exp();
    for (Index i = 0; i < rows; ++i) {
      const Index y = cls(first + i);
      const double part = factor()[first + i];
      double others = 0;
      for (Index k = 0; k < e.cols(); ++k) {
        if (k == y) continue;
        others += e(i, k);
        if (part > 0) sums.add_margin(scores(i, y) - scores(i, k));
      }
      // -ln p_y; if class y leads, ln(1 + sum of the others) keeps small losses exact.
      const double lead = largest[i] - scores(i, y);
      sums.loss += part * (lead == 0 ? std::log1p(others) : std::log(others + e(i, y)) + lead);
      const double total = others + e(i, y);
      if (curvature.cols() > 0) curvature.row(i) = e.row(i) / total;
      // d loss / d scores = p - 1_y; 1 - p_y is the sum of the others.
      scores.row(i) = (part / total) * e.row(i);
      scores(i, y) = -part * others / total;
    }
    put(scores, t);
  }

  void margins(Index first, ConstMatrixView t, LossSums& sums) const override {
    const Matrix scores = scores_of(t);
    for (Index i = 0; i < t.rows(); ++i) {
      if (factor()[first + i] == 0) continue;
      const Index y = cls(first + i);
      for (Index k = 0; k < scores.cols(); ++k) {
        if (k != y) sums.add_margin(scores(i, y) - scores(i, k));
      }
    }
  }

  void apply_curvature(Index first, ConstMatrixView curvature, MatrixView t) const override {
    // (diag(p) - p p') s = p o (s - p's)
    Matrix scores = scores_of(t);
    const Vector mean = scores.cwiseProduct(curvature).rowwise().sum();
    scores = factor().segment(first, t.rows()).asDiagonal() * (scores.colwise() - mean).cwiseProduct(curvature);
    put(scores, t);
  }

  Vector curvature_entry(Index first, ConstMatrixView curvature, Index j, Index k) const override {
    // q_j' (diag(p) - p p') q_k as a covariance: accurate even if one class has nearly all the probability.
    const Vector mean_j = curvature * basis().col(j);
    const Vector mean_k = curvature * basis().col(k);
    Vector entry(curvature.rows());
    for (Index i = 0; i < curvature.rows(); ++i) {
      double sum = 0;
      for (Index c = 0; c < curvature.cols(); ++c)
        sum += curvature(i, c) * (basis()(c, j) - mean_j[i]) * (basis()(c, k) - mean_k[i]);
      entry[i] = factor()[first + i] * sum;
    }
    return entry;
  }

 private:
  Matrix scores_of(ConstMatrixView t) const { return full_ ? Matrix(t) : Matrix(t * basis().transpose()); }
  void put(const Matrix& scores, MatrixView t) const {
    if (full_) {
      t = scores;
    } else {
      t.noalias() = scores * basis();
    }
  }

  bool full_;
};

}  // namespace

ProbitTerms probit_terms(double m) {
  constexpr double root_half_pi = 1.2533141373155002512;
  if (m > -5) {
    // phi / Phi with Phi = erfc(-m / sqrt 2) / 2
    const double doubled = std::erfc(-m * M_SQRT1_2);
    const double ratio = std::exp(-0.5 * m * m) / (root_half_pi * doubled);
    return {ratio, ratio + m, m > 0 ? -std::log1p(-0.5 * std::erfc(m * M_SQRT1_2)) : -std::log(0.5 * doubled)};
  }
  // phi(x) / Phi(-x) = x + 1 / (x + 2 / (x + 3 / (x + ...))), x = -m
  const double x = -m;
  double tail = 0;
  for (int k = 80; k >= 2; --k) tail = k / (x + tail);
  const double beyond = 1 / (x + tail);
  const double ratio = x + beyond;
  // -ln Phi(m) = -ln phi(m) + ln(phi / Phi)
  return {ratio, beyond, 0.5 * x * x + std::log(2 * root_half_pi) + std::log(ratio)};
}

std::unique_ptr<Loss> logistic_loss(std::span<const std::int32_t> cls, ConstVectorView weight, double norm) {
  return std::make_unique<LogisticLoss>(cls, weight, norm);
}

std::unique_ptr<Loss> probit_loss(std::span<const std::int32_t> cls, ConstVectorView weight, double norm) {
  return std::make_unique<ProbitLoss>(cls, weight, norm);
}

std::unique_ptr<Loss> softmax_loss(std::span<const std::int32_t> cls, Index classes, ConstVectorView weight,
                                   double norm, bool full) {
  return std::make_unique<SoftmaxLoss>(cls, classes, weight, norm, full);
}

}  // namespace ecotone
