#include "ecotone/solve/ratios/gaussian_ratio.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

struct Gaussian {
  Vector mean;
  Matrix covariance;
};

Vector mean_row(const Features& x, const Context& context) {
  const Vector sum = sum_blocks(x.blocks(), context, Vector(Vector::Zero(x.cols())), [&](Vector& total, Index b) {
    Scratch scratch;
    total += x.block(b, scratch).x.colwise().sum().transpose();
  });
  return sum / static_cast<double>(x.rows());
}

/// mean and 1/(n - 1) sum (x - mean)(x - mean)'; a single row has no spread
Gaussian moments(const Features& x, const Context& context) {
  Gaussian result{mean_row(x, context), {}};
  const Index p = x.cols();
  result.covariance = sum_blocks(x.blocks(), context, Matrix(Matrix::Zero(p, p)), [&](Matrix& sum, Index b) {
    Scratch scratch;
    const Matrix centred = x.block(b, scratch).x.rowwise() - result.mean.transpose();
    add_gram(centred, sum);
  });
  mirror_lower(result.covariance);
  result.covariance /= static_cast<double>(std::max<Index>(x.rows() - 1, 1));
  return result;
}

/// Oracle approximating shrinkage of the covariance S of a Gaussian sample with p columns towards (tr S / p) I:
///   ((1 - 2/p) tr S^2 + (tr S)^2) / ((n + 1 - 2/p) (tr S^2 - (tr S)^2 / p)), at most 1.
double automatic_shrinkage(const Matrix& s, Index rows) {
  const auto p = static_cast<double>(s.rows());
  const double squares = s.squaredNorm();
  const double trace = s.trace();
  const double above = (1 - 2 / p) * squares + trace * trace;
  const double below = (static_cast<double>(rows) + 1 - 2 / p) * (squares - trace * trace / p);
  return above >= below ? 1 : std::max(0.0, above / below);
}

/// The factor of the shrunk covariance of columns divided by `scale`.
Cholesky factor_of(const Gaussian& sample, const Vector& scale, Index rows, const GaussianRatioOptions& options,
                   const char* which, const Context& context) {
  Matrix s = sample.covariance.array() / (scale * scale.transpose()).array();
  const double part = options.shrink ? *options.shrink : automatic_shrinkage(s, rows);
  const double level = s.trace() / static_cast<double>(s.rows());
  s *= 1 - part;
  s.diagonal().array() += part * level;
  const Vector diagonal = s.diagonal();
  std::optional<Cholesky> factor = Cholesky::factor(std::move(s), context);
  // A pivot that is rounding alone does not count.
  const bool regular = factor && (factor->lower().diagonal().array().square() > 1e-13 * diagonal.array()).all();
  if (!regular) {
    data_error("singular_covariance",
               "{}: the covariance matrix of the {} rows ({}) is singular; use shrink > 0, or drop columns that "
               "are constant or determined by others",
               options.who, which, rows);
  }
  return std::move(*factor);
}

/// (h - mean)' cov^-1 (h - mean) / 2 + ln det cov / 2 of columns divided by `scale`.
Vector minus_log_density(const Features& x, const Vector& mean, const Vector& scale, const Cholesky& factor,
                         const Context& context) {
  Vector result(x.rows());
  const double half_log_det = 0.5 * factor.log_determinant();
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    Matrix centred = (block.x.rowwise() - mean.transpose()).transpose();
    centred.array().colwise() /= scale.array();
    const Matrix z = factor.solve_lower(std::move(centred), context);
    result.segment(block.first, block.x.rows()) = 0.5 * z.colwise().squaredNorm().transpose().array() + half_log_det;
  });
  return result;
}

/// Columns that vary in some row; the others are the same in both samples and carry no information.
std::vector<Index> varying(const Vector& variance) {
  std::vector<Index> columns;
  for (Index j = 0; j < variance.size(); ++j) {
    if (variance[j] > 0) columns.push_back(j);
  }
  return columns;
}

Features rows_from(const Features& x, Index first) {
  std::vector<Index> rows(static_cast<std::size_t>(x.rows() - first));
  std::iota(rows.begin(), rows.end(), first);
  return x.take(rows);
}

/// Variances over all rows, from those of the samples: within and between.
Vector pooled_variance(const Gaussian& s, const Gaussian& t, double p_s) {
  const Vector apart = s.mean - t.mean;
  return p_s * s.covariance.diagonal().array() + (1 - p_s) * t.covariance.diagonal().array() +
         p_s * (1 - p_s) * apart.array().square();
}

}  // namespace

Vector gaussian_log_ratio(const Features& x, Index sources, const GaussianRatioOptions& options,
                          const Context& context) {
  if (sources <= 0 || sources >= x.rows()) {
    data_error("empty_data", "{}: the {} domain has no rows", options.who, sources <= 0 ? "source" : "target");
  }
  const auto p = static_cast<std::size_t>(x.cols());
  require_memory(8 * p * p * sizeof(double), options.who, "the covariance matrices", "use fewer columns");
  const Features source = x.head(sources);
  const Features target = rows_from(x, sources);
  Gaussian s = moments(source, context);
  Gaussian t = moments(target, context);
  const double p_s = static_cast<double>(sources) / static_cast<double>(x.rows());
  const Vector variance = pooled_variance(s, t, p_s);
  if (!s.covariance.allFinite() || !t.covariance.allFinite() || !variance.allFinite()) {
    data_error("non_finite", "{}: the feature values are so large that their covariances overflow", options.who);
  }
  const std::vector<Index> columns = varying(variance);
  if (static_cast<Index>(columns.size()) < x.cols() && (columns.empty() || (options.shrink && *options.shrink == 0))) {
    data_error("singular_covariance", "{}: {} constant, so the covariance matrices are singular; drop {}", options.who,
               columns.empty() ? "all columns are" : "a column is", columns.empty() ? "them" : "it");
  }
  if (static_cast<Index>(columns.size()) < x.cols()) {
    return gaussian_log_ratio(x.columns(columns, {}, context), sources, options, context);
  }
  // Units cancel in the ratio, but not in shrinkage: all columns are scaled to variance 1.
  const Vector scale = variance.cwiseSqrt();
  const Cholesky factor_s = factor_of(s, scale, sources, options, "source", context);
  const Cholesky factor_t = factor_of(t, scale, target.rows(), options, "target", context);
  return minus_log_density(source, s.mean, scale, factor_s, context) -
         minus_log_density(source, t.mean, scale, factor_t, context);
}

}  // namespace ecotone
