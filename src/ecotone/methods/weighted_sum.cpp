#include "ecotone/methods/weighted_sum.h"

#include <cmath>
#include <utility>

namespace ecotone {

Prediction weighted_sum(const Features& x, ConstVectorView weights, double offset, Task task, const Context& context) {
  const Matrix w = weights;
  Matrix score(x.rows(), 1);
  context.parallel(x.blocks(), [&](Index b) { x.multiply(b, w, score.middleRows(x.first_row(b), x.rows_in(b))); });
  score.array() += offset;
  Prediction prediction;
  prediction.task = task;
  if (task == Task::regress) {
    prediction.value = score.col(0);
    return prediction;
  }
  prediction.probability.resize(score.rows(), 2);
  for (Index i = 0; i < score.rows(); ++i) {
    const double s = score(i, 0);
    prediction.index.push_back(s >= 0 ? 1 : 0);
    const double small = std::exp(-2 * std::abs(s)) / (1 + std::exp(-2 * std::abs(s)));
    prediction.probability(i, 0) = s >= 0 ? small : 1 - small;
    prediction.probability(i, 1) = s >= 0 ? 1 - small : small;
  }
  prediction.score = std::move(score);
  return prediction;
}

}  // namespace ecotone
