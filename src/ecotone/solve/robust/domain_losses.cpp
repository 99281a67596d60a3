#include "ecotone/solve/robust/domain_losses.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/solve/linear/checks.h"

namespace ecotone {
namespace {

/// Sums over rows, in the units of the features.
struct DomainSums {
  LossSums loss;
  Matrix of_features;
  Matrix of_offset;
  double extra = 0;
  Matrix extra_of_features;
  Matrix extra_of_offset;

  void merge(const DomainSums& other) {
    loss.merge(other.loss);
    of_features += other.of_features;
    of_offset += other.of_offset;
    extra += other.extra;
    extra_of_features += other.extra_of_features;
    extra_of_offset += other.extra_of_offset;
  }
};

/// The scores of a block.
Matrix block_scores(const Features& x, Index b, const Matrix& weights, const Matrix& offset) {
  Matrix t(x.rows_in(b), weights.cols());
  x.multiply(b, weights, t);
  t.rowwise() += offset.row(0);
  return t;
}

/// Largest magnitudes of columns.
struct ColumnPeaks {
  Vector peak;
  void merge(const ColumnPeaks& other) { peak = peak.cwiseMax(other.peak); }
};

/// The power of two below the largest magnitude of each column, by which its values can be divided without rounding.
Vector column_units(const Features& x, const Context& context) {
  const ColumnPeaks zero{Vector::Zero(x.cols())};
  const ColumnPeaks found = sum_blocks(x.blocks(), context, zero, [&](ColumnPeaks& acc, Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) acc.peak = acc.peak.cwiseMax(block.x.row(i).transpose().cwiseAbs());
  });
  Vector unit = Vector::Ones(x.cols());
  for (Index j = 0; j < unit.size(); ++j)
    if (found.peak[j] > 0) unit[j] = std::ldexp(1.0, std::ilogb(found.peak[j]));
  return unit;
}

/// Means and root mean squares of columns around `mean`, which is 0 where there is no offset. Sums are of values in
/// their column's unit, so that no square overflows.
void column_coordinates(const Features& x, bool centre, const Context& context, Vector& mean, Vector& scale) {
  constexpr double smallest = 1e-140;  // below it the penalty, l2 / scale^2, overflows
  const auto n = static_cast<double>(x.rows());
  const Vector unit = column_units(x, context);
  const auto sums = [&](const Vector& from, bool squares) {
    return sum_blocks(x.blocks(), context, Vector(Vector::Zero(x.cols())), [&](Vector& acc, Index b) {
      Scratch scratch;
      const RowBlock block = x.block(b, scratch);
      for (Index i = 0; i < block.x.rows(); ++i) {
        const auto moved = block.x.row(i).transpose().cwiseQuotient(unit) - from;
        if (squares)
          acc += moved.cwiseAbs2();
        else
          acc += moved;
      }
    });
  };
  mean = Vector::Zero(x.cols());
  if (centre) mean = sums(mean, false) / n;
  scale = (sums(mean, true) / n).cwiseSqrt().cwiseProduct(unit);
  mean = mean.cwiseProduct(unit);
  for (Index j = 0; j < scale.size(); ++j)
    if (!(scale[j] > std::max(1e-12 * std::abs(mean[j]), smallest))) scale[j] = 1;
}

}  // namespace

DomainLosses::DomainLosses(const LinearProblem& problem, std::span<const std::int32_t> domain, Index domains,
                           const Context& context)
    : problem_(problem), offset_(problem.offset) {
  std::vector<std::vector<Index>> rows(static_cast<std::size_t>(domains));
  std::vector<Index> all;
  for (Index i = 0; i < problem.x.rows(); ++i) {
    if (problem.weight.size() > 0 && !(problem.weight[i] > 0)) continue;
    rows[at(domain[at(i)])].push_back(i);
    all.push_back(i);
  }
  const bool whole = static_cast<Index>(all.size()) == problem.x.rows();
  column_coordinates(whole ? problem.x : problem.x.take(all), offset_, context, mean_, scale_);
  for (Index e = 0; e < domains; ++e) {
    const std::vector<Index>& own = rows[at(e)];
    if (own.empty()) continue;
    Part part{.domain = e, .x = problem.x.take(own), .cls = {}, .value = {}, .weight = {}, .loss = {}};
    part.weight = Vector::Ones(part.x.rows());
    for (std::size_t i = 0; i < own.size(); ++i) {
      if (!problem.cls.empty()) part.cls.push_back(problem.cls[at(own[i])]);
      if (!problem.value.empty()) part.value.push_back(problem.value[at(own[i])]);
      if (problem.weight.size() > 0) part.weight[static_cast<Index>(i)] = problem.weight[own[i]];
    }
    parts_.push_back(std::move(part));
  }
  weight_.resize(count());
  for (Index k = 0; k < count(); ++k) {
    Part& part = parts_[at(k)];
    weight_[k] = part.weight.sum();
    part.loss = make_loss(problem_of(part), weight_[k]);
  }
}

LinearProblem DomainLosses::problem_of(const Part& part) const {
  LinearProblem own{.x = part.x, .cls = part.cls, .classes = problem_.classes, .weight = part.weight};
  own.family = problem_.family;
  own.value = part.value;
  return own;
}

double DomainLosses::gradient_scale(const Vector& mass) const {
  std::vector<std::int32_t> cls;
  std::vector<double> value;
  Vector weight = row_weight();
  Index first = 0;
  for (Index k = 0; k < count(); ++k) {
    const Part& part = parts_[at(k)];
    cls.insert(cls.end(), part.cls.begin(), part.cls.end());
    value.insert(value.end(), part.value.begin(), part.value.end());
    weight.segment(first, part.x.rows()) *= mass[k] / weight_[k];
    first += part.x.rows();
  }
  LinearProblem all{.x = {}, .cls = cls, .classes = problem_.classes, .weight = weight};
  all.family = problem_.family;
  all.value = value;
  return make_loss(all, 1.0)->scale();
}

Matrix DomainLosses::in_features(const Matrix& theta, Matrix& offset) const {
  // score = sum_j theta_j (x_j - mean_j) / scale_j + theta_0
  const Index d = scale_.size();
  Matrix weights = scale_.cwiseInverse().asDiagonal() * theta.topRows(d);
  offset = Matrix::Zero(1, theta.cols());
  if (offset_) offset = theta.row(d) - mean_.transpose() * weights;
  return weights;
}

Matrix DomainLosses::in_coordinates(const Matrix& of_features, const Matrix& of_offset) const {
  const Index d = scale_.size();
  Matrix gradient(parameters(), of_features.cols());
  gradient.topRows(d) = scale_.cwiseInverse().asDiagonal() * (of_features - mean_ * of_offset);
  if (offset_) gradient.row(d) = of_offset;
  return gradient;
}

Matrix DomainLosses::in_units(const Matrix& gradient) const {
  const Index d = scale_.size();
  Matrix result = gradient;
  result.topRows(d) = scale_.asDiagonal() * gradient.topRows(d);
  if (offset_) result.topRows(d) += mean_ * gradient.row(d);
  return result;
}

Vector DomainLosses::penalty(double l2) const {
  Vector result = Vector::Zero(parameters());
  result.head(scale_.size()) = l2 * scale_.cwiseAbs2().cwiseInverse();
  return result;
}

LinearScores DomainLosses::scores(const Matrix& theta) const {
  Matrix offset;
  const Matrix weights = in_features(theta, offset);
  const Matrix& basis = parts_.front().loss->basis();
  return {basis * weights.transpose(), basis * offset.transpose()};
}

Matrix DomainLosses::parameters_of(const LinearScores& scores) const {
  const Matrix& basis = parts_.front().loss->basis();
  const Matrix weights = scores.weights.transpose() * basis;
  Matrix theta(parameters(), weights.cols());
  theta.topRows(scale_.size()) = scale_.asDiagonal() * weights;
  if (offset_) theta.row(scale_.size()) = scores.offset.transpose() * basis + mean_.transpose() * weights;
  return theta;
}

DomainPoint DomainLosses::part_point(const Part& part, const Matrix& theta, DomainExtra extra,
                                     const Context& context) const {
  Matrix offset;
  const Matrix weights = in_features(theta, offset);
  const Index k = theta.cols();
  const Index extra_cols = extra == DomainExtra::none ? 0 : k;
  const Loss& loss = *part.loss;
  const DomainSums zero{{}, Matrix::Zero(scale_.size(), k),          Matrix::Zero(1, k),
                        0,  Matrix::Zero(scale_.size(), extra_cols), Matrix::Zero(1, extra_cols)};
  const DomainSums sums = sum_blocks(part.x.blocks(), context, zero, [&](DomainSums& acc, Index b) {
    const Matrix score = block_scores(part.x, b, weights, offset);
    Matrix slope = score;
    Matrix curvature(score.rows(), extra == DomainExtra::none ? 0 : loss.curvature_size());
    loss.evaluate(part.x.first_row(b), slope, curvature, acc.loss);
    part.x.multiply_transposed(b, slope, acc.of_features);
    acc.of_offset += slope.colwise().sum();
    if (extra == DomainExtra::none) return;
    // pull: d(slope . t) = loss'' t + slope; drift: d(slope) = loss''
    Matrix bend = extra == DomainExtra::pull ? score : Matrix(Matrix::Ones(score.rows(), k));
    acc.extra += slope.cwiseProduct(bend).sum();
    loss.apply_curvature(part.x.first_row(b), curvature, bend);
    if (extra == DomainExtra::pull) bend += slope;
    part.x.multiply_transposed(b, bend, acc.extra_of_features);
    acc.extra_of_offset += bend.colwise().sum();
  });
  DomainPoint point{sums.loss.loss, in_coordinates(sums.of_features, sums.of_offset), sums.extra, {}};
  if (extra != DomainExtra::none) point.extra_gradient = in_coordinates(sums.extra_of_features, sums.extra_of_offset);
  return point;
}

std::vector<DomainPoint> DomainLosses::at_point(const Matrix& theta, DomainExtra extra, const Context& context) const {
  std::vector<DomainPoint> points(parts_.size());
  context.parallel(count(), [&](Index e) { points[at(e)] = part_point(parts_[at(e)], theta, extra, context); });
  return points;
}

Vector DomainLosses::row_weight() const {
  Index rows = 0;
  for (const Part& part : parts_) rows += part.x.rows();
  Vector weight(rows);
  rows = 0;
  for (const Part& part : parts_) {
    weight.segment(rows, part.x.rows()) = part.weight;
    rows += part.x.rows();
  }
  return weight;
}

Vector DomainLosses::row_losses(const Matrix& theta, const Context& context) const {
  Matrix offset;
  const Matrix weights = in_features(theta, offset);
  Vector losses(row_weight().size());
  Index first = 0;
  for (const Part& part : parts_) {
    const Vector ones = Vector::Ones(part.x.rows());
    LinearProblem unit = problem_of(part);
    const auto loss = make_loss(LinearProblem{.x = unit.x,
                                              .cls = unit.cls,
                                              .classes = unit.classes,
                                              .weight = ones,
                                              .family = unit.family,
                                              .value = unit.value},
                                1.0);
    context.parallel(part.x.blocks(), [&](Index b) {
      Matrix t = block_scores(part.x, b, weights, offset);
      Matrix none(1, 0);
      for (Index i = 0; i < t.rows(); ++i) {
        LossSums sums;
        const Index row = part.x.first_row(b) + i;
        loss->evaluate(row, t.middleRows(i, 1), none, sums);
        losses[first + row] = sums.loss;
      }
    });
    first += part.x.rows();
  }
  return losses;
}

Matrix DomainLosses::row_gradient(const Matrix& theta, const Vector& mass, const Context& context) const {
  Matrix offset;
  const Matrix weights = in_features(theta, offset);
  const Index k = theta.cols();
  Matrix of_features = Matrix::Zero(scale_.size(), k);
  Matrix of_offset = Matrix::Zero(1, k);
  Index first = 0;
  for (const Part& part : parts_) {
    const LinearProblem own = problem_of(part);
    const auto loss = make_loss(LinearProblem{.x = own.x,
                                              .cls = own.cls,
                                              .classes = own.classes,
                                              .weight = mass.segment(first, part.x.rows()),
                                              .family = own.family,
                                              .value = own.value},
                                1.0);
    const DomainSums zero{{}, Matrix::Zero(scale_.size(), k), Matrix::Zero(1, k), 0, {}, {}};
    const DomainSums sums = sum_blocks(part.x.blocks(), context, zero, [&](DomainSums& acc, Index b) {
      Matrix slope = block_scores(part.x, b, weights, offset);
      Matrix none(slope.rows(), 0);
      loss->evaluate(part.x.first_row(b), slope, none, acc.loss);
      part.x.multiply_transposed(b, slope, acc.of_features);
      acc.of_offset += slope.colwise().sum();
    });
    of_features += sums.of_features;
    of_offset += sums.of_offset;
    first += part.x.rows();
  }
  return in_coordinates(of_features, of_offset);
}

}  // namespace ecotone
