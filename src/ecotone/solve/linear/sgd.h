#pragma once

#include <span>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

/// Step sizes: mu; mu / sqrt(1 + e); mu / (1 + e), with e the (fractional) number of epochs done so far.
enum class StepSchedule { constant, root, inverse };

struct SgdOptions {
  double l1 = 0;
  double l2 = 0;
  bool offset = true;
  bool penalise_offset = false;
  double step = 0;  ///< mu; 0: a quarter of what the squared norms of the first rows allow
  StepSchedule schedule = StepSchedule::inverse;
  Index batch = 1;
  bool reduce_sum = false;  ///< gradients of a batch are added, not averaged
  int epochs = 20;
};

/// Linear scores W x + offset in the given units of the features, improved row by row:
///   w <- soft((1 - 2 mu rho) w - mu a_n loss'(t_n) x_n, mu alpha)   (59.15), (59.14), (59.64), (59.19) corrected
/// The factors a_n / A of the loss must have A = 1 (or the mean weight).
class StochasticDescent {
 public:
  StochasticDescent(const Loss& loss, Index cols, const SgdOptions& options);
  /// One step with these rows, which are rows `index` of the loss.
  void step(ConstMatrixView x, std::span<const Index> index, double mu);

  const Matrix& weights() const { return weights_; }  ///< outputs x cols
  const Vector& offset() const { return offset_; }

 private:
  const Loss& loss_;
  SgdOptions options_;
  Matrix weights_;
  Vector offset_;
  Matrix gradient_;
  Vector offset_gradient_;
};

/// Epochs over the rows in random order: blocks are drawn at random into a window of at most 64 MB, whose rows are
/// visited in random order. Features in a file are therefore read once per epoch, and small ones stay in memory.
struct SgdResult {
  Matrix weights;
  Vector offset;
  double step = 0;  ///< the mu that was used
};
SgdResult run_sgd(const Features& x, const Loss& loss, const SgdOptions& options, const Context& context);

}  // namespace ecotone
