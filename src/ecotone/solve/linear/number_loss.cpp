#include <cmath>

#include "ecotone/solve/linear/loss.h"

namespace ecotone {
namespace {

/// One score per row against a value y. `Law` provides the loss and its first two derivatives.
template <class Law>
class NumberLoss final : public Loss {
 public:
  NumberLoss(ConstVectorView y, ConstVectorView weight, double norm)
      : Loss(y.size(), weight, norm, Matrix::Ones(1, 1)), y_(y), mean_(factor().dot(y) / factor().sum()) {}

  bool separates() const override { return false; }
  Vector constant_scores() const override { return Vector::Constant(1, Law::score_of_mean(mean_)); }
  double scale() const override {
    // mean |y - mean|, or the mean itself for constant labels
    const double spread = (factor().array() * (y_.array() - mean_).abs()).sum();
    if (spread > 0) return spread;
    return mean_ == 0 ? factor().sum() : std::abs(mean_) * factor().sum();
  }

  void evaluate(Index first, MatrixView t, MatrixView curvature, LossSums& sums) const override {
    for (Index i = 0; i < t.rows(); ++i) {
      const double part = factor()[first + i];
      const auto terms = Law::at(y_[first + i], t(i, 0));
      if (part > 0) sums.loss += part * terms.loss;
      t(i, 0) = part > 0 ? part * terms.slope : 0.0;
      if (curvature.cols() > 0) curvature(i, 0) = part > 0 ? part * terms.curvature : 0.0;
    }
  }
  /// Regression has no margins.
  void margins(Index, ConstMatrixView, LossSums&) const override {}

 private:
  Vector y_;
  double mean_;
};

struct Terms {
  double loss;
  double slope;
  double curvature;
};

struct Poisson {
  static double score_of_mean(double mean) { return std::log(mean); }
  static Terms at(double y, double t) {
    const double rate = std::exp(t);
    return {rate - y * t, rate - y, rate};
  }
};

struct Squared {
  static double score_of_mean(double mean) { return mean; }
  static Terms at(double y, double t) { return {0.5 * (y - t) * (y - t), t - y, 1.0}; }
};

}  // namespace

std::unique_ptr<Loss> poisson_loss(ConstVectorView y, ConstVectorView weight, double norm) {
  return std::make_unique<NumberLoss<Poisson>>(y, weight, norm);
}

std::unique_ptr<Loss> squared_loss(ConstVectorView y, ConstVectorView weight, double norm) {
  return std::make_unique<NumberLoss<Squared>>(y, weight, norm);
}

}  // namespace ecotone
