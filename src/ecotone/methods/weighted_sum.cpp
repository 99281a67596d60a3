#include "ecotone/methods/weighted_sum.h"

#include "ecotone/methods/binary_prediction.h"

namespace ecotone {

Prediction weighted_sum(const Features& x, ConstVectorView weights, double offset, Task task, const Context& context) {
  const Matrix w = weights;
  Matrix score(x.rows(), 1);
  context.parallel(x.blocks(), [&](Index b) { x.multiply(b, w, score.middleRows(x.first_row(b), x.rows_in(b))); });
  score.array() += offset;
  if (task == Task::classify) return binary_prediction(score.col(0));
  Prediction prediction;
  prediction.task = task;
  prediction.value = score.col(0);
  return prediction;
}

}  // namespace ecotone
