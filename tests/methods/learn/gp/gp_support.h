#pragma once

#include <cmath>

#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/learn/gp/gp.h"
#include "methods/support.h"

/// Data that the tests of gp share.
namespace ecotone::test {

/// Rows with numbers, dealt to domains in turn.
inline TrainView numbers_view(const Matrix& x, const Vector& y, Index domains) {
  TrainView view = view_of(Features::dense(x), Labels{Task::regress, {}, {}, y});
  view.domain = dealt_domains(x.rows(), domains);
  view.role.assign(static_cast<std::size_t>(domains), Role::source);
  return view;
}

/// A smooth function of two columns with noise of standard deviation 0.2, in three domains.
inline TrainView waves(Index rows, std::uint64_t key) {
  Random random(key, "waves");
  Matrix x(rows, 2);
  Vector y(rows);
  for (Index i = 0; i < rows; ++i) {
    x.row(i) << random.uniform(-3, 3), random.uniform(-3, 3);
    y[i] = 2 * std::sin(x(i, 0)) + 0.5 * x(i, 1) + std::cos(x(i, 0) * x(i, 1) / 3) + 0.2 * random.normal();
  }
  return numbers_view(x, y, 3);
}

inline StageResult fitted(const TrainView& view, const GpOptions& options, const Context& with = context()) {
  FitCache cache;
  return Gp::fit(view, options, with, cache);
}

}  // namespace ecotone::test
