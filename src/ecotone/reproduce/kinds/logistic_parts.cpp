#include "ecotone/reproduce/kinds/logistic_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "ecotone/base/error.h"
#include "ecotone/data/dataset_digest.h"
#include "ecotone/data/read.h"
#include "ecotone/linalg/eigen.h"
#include "ecotone/reproduce/public_data.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

namespace {

/// Columns with mean 0 and mean square 1.
Matrix standardised_columns(Matrix x) {
  for (Index j = 0; j < x.cols(); ++j) {
    auto column = x.col(j);
    column.array() -= column.mean();
    const double size = std::sqrt(column.squaredNorm() / static_cast<double>(x.rows()));
    if (!(size > 0)) data_error("constant_column", "iris: column {} is constant", j + 1);
    column /= size;
  }
  return x;
}

}  // namespace

ReducedIris read_iris(const std::filesystem::path& folder, const Context& context) {
  ReadOptions read;
  read.label = "label";
  read.features = {"sepal_length", "sepal_width", "petal_length", "petal_width"};
  read.task = Task::classify;
  const Dataset whole = read_dataset({data_file(folder, "iris/iris.csv")}, read, context);
  if (whole.rows() != 150 || !whole.y || whole.y->classes.size() != 3)
    data_error("bad_data", "iris/iris.csv: expected 150 rows of 3 classes, got {} of {}", whole.rows(),
               whole.y ? whole.y->classes.size() : 0);
  const Matrix z = standardised_columns(whole.x.to_matrix());
  const SymmetricEigen eigen = symmetric_eigen(z.transpose() * z / static_cast<double>(z.rows()), context);
  ReducedIris iris;
  // The eigenvectors have a positive largest entry.
  iris.x = -z * eigen.vectors.leftCols(2);
  iris.digest = digest_of(whole, context);
  iris.data = whole;
  iris.data.x = Features::dense(iris.x, {"pc1", "pc2"});
  iris.data.schema.columns = {{"pc1", ColumnKind::numeric, {}}, {"pc2", ColumnKind::numeric, {}}};
  return iris;
}

IrisSplit split_iris(const ReducedIris& iris, Index test, const Context& context) {
  std::vector<Index> order = context.random("split").permutation(iris.x.rows());
  IrisSplit split;
  split.test.assign(order.begin(), order.begin() + test);
  split.train.assign(order.begin() + test, order.end());
  std::ranges::sort(split.test);
  std::ranges::sort(split.train);
  return split;
}

LogisticSteps::LogisticSteps(Matrix x, std::vector<std::int32_t> cls, const Vector& weight, const SgdOptions& options)
    : x_(std::move(x)),
      cls_(std::move(cls)),
      loss_(logistic_loss(cls_, weight, 1)),
      options_(options),
      descent_(*loss_, x_.cols(), options) {}

void LogisticSteps::step(Index row) { descent_.step(x_.middleRows(row, 1), std::span(&row, 1), options_.step); }

void LogisticSteps::pass(const std::vector<Index>& rows, Random& random) {
  for (const Index place : random.permutation(std::ssize(rows))) step(rows[at(place)]);
}

SgdOptions plain_steps(double step, double l2, bool offset, bool penalise_offset) {
  SgdOptions options;
  options.step = step;
  options.l2 = l2;
  options.offset = offset;
  options.penalise_offset = penalise_offset;
  options.schedule = StepSchedule::constant;
  return options;
}

std::vector<Index> first_rows(Index n) {
  std::vector<Index> rows(at(n));
  std::iota(rows.begin(), rows.end(), Index{0});
  return rows;
}

std::vector<double> jackknife(Index n, const std::function<double(Index)>& statistic) {
  const double whole = statistic(-1);
  if (n < 2) return {whole};
  std::vector<double> values;
  for (Index i = 0; i < n; ++i)
    values.push_back(static_cast<double>(n) * whole - static_cast<double>(n - 1) * statistic(i));
  return values;
}

double cosine(const Vector& a, const Vector& b) { return a.dot(b) / (a.norm() * b.norm()); }

Matrix plane_points(const Matrix& x, const std::vector<Index>& rows) {
  Matrix points(std::ssize(rows), 2);
  for (std::size_t i = 0; i < rows.size(); ++i) points.row(static_cast<Index>(i)) = x.row(rows[i]).head(2);
  return points;
}

ScatterChart::Segment boundary_line(const std::string& name, ConstVectorView w, double offset, const Matrix& x) {
  // The point of the line that is nearest to zero, and the way along the line.
  const Vector nearest = -offset / w.squaredNorm() * w;
  const Vector along = Eigen::Vector2d(-w[1], w[0]) / w.norm();
  const double far = 10 * (x.cwiseAbs().maxCoeff() + nearest.norm() + 1);
  const Vector from = nearest - far * along, to = nearest + far * along;
  return {name, from[0], from[1], to[0], to[1]};
}

std::vector<ScatterChart::Group> class_groups(const Matrix& x, const std::vector<Index>& rows,
                                              const std::function<std::int32_t(Index)>& cls,
                                              const std::vector<std::string>& names) {
  std::vector<ScatterChart::Group> groups;
  for (std::size_t k = 0; k < names.size(); ++k) {
    std::vector<Index> own;
    std::ranges::copy_if(rows, std::back_inserter(own), [&](Index row) { return at(cls(row)) == k; });
    groups.push_back({names[k], plane_points(x, own)});
  }
  return groups;
}

ScatterChart likelihood_chart(const std::vector<Index>& rows, const std::function<double(Index)>& likelihood,
                              const std::function<std::int32_t(Index)>& cls, const std::vector<std::string>& names) {
  Matrix points(std::ssize(rows), 2);
  for (Index i = 0; i < points.rows(); ++i) points.row(i) << static_cast<double>(i + 1), likelihood(rows[at(i)]);
  ScatterChart chart;
  chart.x_title = "test row";
  chart.y_title = "likelihood";
  chart.groups = class_groups(
      points, first_rows(points.rows()), [&](Index i) { return cls(rows[at(i)]); }, names);
  return chart;
}

}  // namespace ecotone
