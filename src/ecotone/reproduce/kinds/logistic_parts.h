#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/digest.h"
#include "ecotone/data/dataset.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/reproduce/experiment.h"
#include "ecotone/reproduce/json_fields.h"
#include "ecotone/solve/linear/sgd.h"

/// What the kinds of logistic_examples.h share.
namespace ecotone {

/// Fisher's iris in the first two principal components of its standardised features, turned so that the largest
/// loading of each is negative, as in the book's figures. Classes are 0, 1 and 2.
struct ReducedIris {
  Dataset data;  ///< columns pc1 and pc2
  Matrix x;      ///< its features
  Digest digest;

  const std::vector<std::int32_t>& label() const { return data.y->index; }
};
ReducedIris read_iris(const std::filesystem::path& folder, const Context& context);

/// Rows to learn from and rows to test on, both at random.
struct IrisSplit {
  std::vector<Index> train, test;
};
IrisSplit split_iris(const ReducedIris& iris, Index test, const Context& context);

/// The recursion (59.15) on the logistic loss, from zero; classes are 0 (-1) and 1 (+1).
class LogisticSteps {
 public:
  /// `weight` empty: all 1.
  LogisticSteps(Matrix x, std::vector<std::int32_t> cls, const Vector& weight, const SgdOptions& options);

  /// One step with a row, by the step size of the options.
  void step(Index row);
  /// A step with each of these rows, in random order.
  void pass(const std::vector<Index>& rows, Random& random);

  Vector weights() const { return descent_.weights().row(0).transpose(); }
  double offset() const { return descent_.offset()[0]; }
  /// h'w - theta
  double score(ConstVectorView h) const { return h.dot(weights()) + offset(); }

 private:
  Matrix x_;
  std::vector<std::int32_t> cls_;
  std::unique_ptr<Loss> loss_;
  SgdOptions options_;
  StochasticDescent descent_;
};

/// SGD with a constant step on single rows.
SgdOptions plain_steps(double step, double l2, bool offset, bool penalise_offset);

/// 0, 1, .., n - 1.
std::vector<Index> first_rows(Index n);

/// A statistic of n repetitions that is no mean, as values whose mean and standard error are those of the jackknife.
/// `statistic(i)` leaves repetition i out; -1: none. With one repetition, the statistic itself.
std::vector<double> jackknife(Index n, const std::function<double(Index)>& statistic);

/// Cosine of the angle between two vectors.
double cosine(const Vector& a, const Vector& b);

/// Points of these rows.
Matrix plane_points(const Matrix& x, const std::vector<Index>& rows);
/// The line h'w = theta, longer than any picture of these points.
ScatterChart::Segment boundary_line(const std::string& name, ConstVectorView w, double offset, const Matrix& x);

/// The rows of each class as a group; `cls` numbers the classes.
std::vector<ScatterChart::Group> class_groups(const Matrix& x, const std::vector<Index>& rows,
                                              const std::function<std::int32_t(Index)>& cls,
                                              const std::vector<std::string>& names);
/// A likelihood of each row against its place in the list, by class.
ScatterChart likelihood_chart(const std::vector<Index>& rows, const std::function<double(Index)>& likelihood,
                              const std::function<std::int32_t(Index)>& cls, const std::vector<std::string>& names);

}  // namespace ecotone
