#include "ecotone/methods/learn/svm/support_vectors.h"

#include <algorithm>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/methods/learn/learner_kernel.h"
#include "ecotone/methods/learn/rows_of_blocks.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

std::vector<Index> support_rows(ConstVectorView beta) {
  std::vector<Index> rows;
  for (Index i = 0; i < beta.size(); ++i)
    if (beta[i] != 0) rows.push_back(i);
  if (rows.empty()) rows.push_back(0);
  return rows;
}

SupportVectors support_vectors(const Kernel& kernel, ConstMatrixView x, ConstVectorView beta, double offset) {
  const std::vector<Index> rows = support_rows(beta);
  SupportVectors machine{kernel, Matrix(std::ssize(rows), x.cols()), Vector(std::ssize(rows)), offset};
  for (Index s = 0; s < std::ssize(rows); ++s) {
    machine.rows.row(s) = x.row(rows[at(s)]);
    machine.coefficients[s] = beta[rows[at(s)]];
  }
  return machine;
}

Vector support_scores(const SupportVectors& machine, const Features& x, const Context& context) {
  Vector score(x.rows());
  for (Index b = 0; b < x.blocks(); b += blocks_together) {
    const Matrix rows = rows_of_blocks(x, b, std::min(b + blocks_together, x.blocks()), context);
    score.segment(x.first_row(b), rows.rows()) =
        svm_scores(machine.kernel, machine.rows, machine.coefficients, machine.offset, rows, context);
  }
  return score;
}

void save_support_vectors(const SupportVectors& machine, StageState& state) {
  state.set("support", machine.rows);
  state.set("coefficients", machine.coefficients);
  state.info["offset"] = machine.offset;
  save_kernel(machine.kernel, state);
}

SupportVectors load_support_vectors(const StageState& state, const Kernel& kernel, Index cols) {
  SupportVectors machine{kernel, state.matrix("support", -1, cols), {}, state.number("offset")};
  if (machine.rows.rows() == 0) file_error("bad_model", "'support' has no rows");
  machine.coefficients = state.vector("coefficients", machine.rows.rows());
  return machine;
}

}  // namespace ecotone
