#include "ecotone/solve/svm/checks.h"

#include <cmath>

#include "ecotone/base/error.h"

namespace ecotone {
namespace {

void check_options(const SvmProblem& p) {
  if (!(p.cost > 0) || !std::isfinite(p.cost)) option_error("bad_option", "{}: C must be > 0, got {}", p.who, p.cost);
  if (!(p.tolerance > 0) || !std::isfinite(p.tolerance))
    option_error("bad_option", "{}: tolerance must be > 0, got {}", p.who, p.tolerance);
  if (p.kind == SvmKind::numbers && (!(p.epsilon >= 0) || !std::isfinite(p.epsilon)))
    option_error("bad_option", "{}: epsilon must be >= 0, got {}", p.who, p.epsilon);
  if (p.max_iterations < 0)
    option_error("bad_option", "{}: max_iterations must be >= 0, got {}", p.who, p.max_iterations);
}

}  // namespace

void check_svm_problem(const SvmProblem& p, Index rows) {
  check_options(p);
  const auto n = std::ssize(p.y);
  if (n != rows) data_error("shape_mismatch", "{}: {} labels for {} rows", p.who, n, rows);
  if (!p.weight.empty() && std::ssize(p.weight) != n)
    data_error("shape_mismatch", "{}: {} weights for {} rows", p.who, p.weight.size(), n);
  if (!p.start.empty() && std::ssize(p.start) != n)
    data_error("shape_mismatch", "{}: {} starting coefficients for {} rows", p.who, p.start.size(), n);
  if (n == 0) data_error("empty_data", "{}: there are no rows", p.who);
}

void check_svm_labels(const SvmProblem& p) {
  for (std::size_t i = 0; i < p.y.size(); ++i) {
    if (!std::isfinite(p.y[i])) data_error("non_finite", "{}: the label of row {} is {}", p.who, i + 1, p.y[i]);
    if (p.kind == SvmKind::classes && std::abs(p.y[i]) != 1)
      data_error("bad_label", "{}: labels must be -1 or 1, got {} in row {}", p.who, p.y[i], i + 1);
  }
  for (std::size_t i = 0; i < p.weight.size(); ++i)
    if (!(p.weight[i] >= 0) || !std::isfinite(p.weight[i]))
      data_error("negative_weight", "{}: the weight of row {} is {}", p.who, i + 1, p.weight[i]);
}

std::vector<Index> svm_rows_with_cost(const SvmProblem& p) {
  std::vector<Index> rows;
  bool plus = false, minus = false;
  for (Index i = 0; i < std::ssize(p.y); ++i) {
    if (!p.weight.empty() && !(p.cost * p.weight[at(i)] > 0)) continue;
    rows.push_back(i);
    (p.y[at(i)] > 0 ? plus : minus) = true;
  }
  if (rows.empty()) data_error("zero_weights", "{}: all rows have weight 0", p.who);
  if (p.kind == SvmKind::classes && !(plus && minus))
    data_error("one_class", "{}: all rows with positive weight have the label {}", p.who, plus ? 1 : -1);
  return rows;
}

}  // namespace ecotone
