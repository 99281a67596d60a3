#pragma once

#include <string>
#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/data/generate/generate.h"
#include "ecotone/solve/boost/boost.h"

/// Data that the tests of boosting share.
namespace ecotone {

struct Moons {
  Matrix source, target;
  std::vector<double> y;

  BoostProblem problem() const {
    return {.source = Features::dense(source), .y = y, .target = Features::dense(target)};
  }
};

inline Moons moons(int angle, int rows, std::uint64_t seed = 3) {
  const Dataset data = generate("moons", {{"angle", std::to_string(angle)}, {"rows", std::to_string(rows)}},
                                Context(Context::Settings{.threads = 1, .seed = seed}));
  Moons result;
  const Matrix x = data.x.to_matrix();
  result.source = x.topRows(rows);
  result.target = x.bottomRows(rows);
  for (int i = 0; i < rows; ++i) result.y.push_back(data.y->index[static_cast<std::size_t>(i)] == 1 ? 1 : -1);
  return result;
}

inline Context threads(int count) { return Context(Context::Settings{.threads = count}); }

/// Rows of normal numbers, the label of the first two columns.
inline Moons normal(Index rows, Index cols) {
  Moons data;
  Random random(5, "test");
  const auto draw = [&](double move) {
    Matrix x(rows, cols);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) x(i, j) = random.normal() + move;
    return x;
  };
  data.source = draw(0);
  data.target = draw(0.3);
  for (Index i = 0; i < rows; ++i) data.y.push_back(data.source(i, 0) + 0.5 * data.source(i, 1) > 0.1 ? 1 : -1);
  return data;
}

}  // namespace ecotone
