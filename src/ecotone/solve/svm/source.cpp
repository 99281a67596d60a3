#include "ecotone/solve/svm/source.h"

#include <algorithm>
#include <cmath>

#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/svm/loops.h"

namespace ecotone {
namespace {

double power(double base, int degree) {
  double result = 1;
  for (; degree > 0; degree /= 2, base *= base)
    if (degree % 2 == 1) result *= base;
  return result;
}

/// Exponents beyond this count as this, as in gaussian_values.
constexpr double largest_exponent = 87;
/// ||x||^2 / (2 sigma^2) above which products of rows give exponents with errors above 1e-9.
constexpr double far = 1e6;

Vector permuted(const Vector& v, std::span<const Index> from) {
  Vector result(v.size());
  for (Index k = 0; k < v.size(); ++k) result[k] = v[from[at(k)]];
  return result;
}

}  // namespace

void SvmSource::permute(std::span<const Index> from) {
  diagonal_ = permuted(diagonal_, from);
  permute_rows(from);
}

SvmFeatures::SvmFeatures(const Kernel& kernel, ConstMatrixView x, std::span<const Index> chosen,
                         const SvmGroups* groups)
    : kernel_(kernel), centre_(Eigen::RowVectorXd::Zero(x.cols())), x_(std::ssize(chosen), x.cols()) {
  check_kernel(kernel);
  for (Index i = 0; i < x_.rows(); ++i) x_.row(i) = x.row(chosen[at(i)]);
  if (x_.rows() > 0 && (shift_invariant(kernel) || (kernel.kind == KernelKind::linear && groups == nullptr))) {
    centre_ = typical_row(x_).transpose();
    x_.rowwise() -= centre_;
  }
  if (kernel.kind == KernelKind::rbf) norms_ = x_.rowwise().squaredNorm();
  diagonal_ = kernel_diagonal(kernel, x_);
  if (groups == nullptr) return;
  factor_ = groups->factor;
  for (Index i = 0; i < x_.rows(); ++i) {
    const std::int32_t group = groups->x[at(chosen[at(i)])];
    group_.push_back(group);
    diagonal_[i] *= factor_(group, group);
  }
}

Matrix SvmFeatures::gather(std::span<const Index> rows) const {
  Matrix result(std::ssize(rows), x_.cols());
  for (Index r = 0; r < result.rows(); ++r) result.row(r) = x_.row(rows[at(r)]);
  return result;
}

void SvmFeatures::values(ConstMatrixView gathered, std::span<const Index> rows, Index first, MatrixView out) const {
  kernel_values(gathered, rows, first, out);
  if (group_.empty()) return;
  const std::int32_t* const groups = group_.data() + first;
  for (Index r = 0; r < out.rows(); ++r) {
    const double* const factor = factor_.data() + group_[at(rows[at(r)])] * factor_.cols();
    double* const row = out.data() + r * out.outerStride();
    for (Index c = 0; c < out.cols(); ++c) row[c] *= factor[groups[c]];
  }
}

void SvmFeatures::kernel_values(ConstMatrixView gathered, std::span<const Index> rows, Index first,
                                MatrixView out) const {
  if (kernel_.kind == KernelKind::laplacian) {
    for (Index c = 0; c < out.cols(); c += KernelTiles::side) {
      const Index width = std::min(KernelTiles::side, out.cols() - c);
      KernelTiles(kernel_, gathered, x_.middleRows(first + c, width)).tile(0, 0, out.middleCols(c, width));
    }
    return;
  }
  multiply_by_transpose(gathered, x_.middleRows(first, out.cols()), out);
  if (kernel_.kind == KernelKind::linear) return;
  const double scale = 0.5 / kernel_.sigma / kernel_.sigma;
  for (Index r = 0; r < out.rows(); ++r) {
    double* const row = out.data() + r * out.outerStride();
    if (kernel_.kind == KernelKind::rbf) {
      const double norm = norms_[rows[at(r)]];
      if (norm * scale > far) {
        far_values(gathered.middleRows(r, 1), norm, first, row, out.cols());
      } else {
        gaussian_values(norm, norms_.data() + first, scale, row, out.cols());
      }
    } else {
      for (Index c = 0; c < out.cols(); ++c) row[c] = power(kernel_.scale * row[c] + kernel_.coef0, kernel_.degree);
    }
  }
}

void SvmFeatures::far_values(ConstMatrixView row, double norm, Index first, double* values, Index count) const {
  const double scale = 0.5 / kernel_.sigma / kernel_.sigma;
  for (Index c = 0; c < count; ++c) {
    const double other = norms_[first + c];
    // ||x - z|| >= | ||x|| - ||z|| |: a row half or twice as long is so far away that the exponent is the largest.
    const bool apart = other < norm / 4 || other / 4 > norm;
    const double exponent = apart ? largest_exponent : scale * (row.row(0) - x_.row(first + c)).squaredNorm();
    values[c] = std::exp(-std::min(exponent, largest_exponent));
  }
}

void SvmFeatures::permute_rows(std::span<const Index> from) {
  Matrix moved(x_.rows(), x_.cols());
  for (Index k = 0; k < x_.rows(); ++k) moved.row(k) = x_.row(from[at(k)]);
  x_ = std::move(moved);
  if (norms_.size() > 0) norms_ = permuted(norms_, from);
  std::vector<std::int32_t> groups(group_.size());
  for (std::size_t k = 0; k < groups.size(); ++k) groups[k] = group_[at(from[k])];
  group_ = std::move(groups);
}

SvmGram::SvmGram(ConstMatrixView gram, std::span<const Index> chosen)
    : gram_(gram.data(), gram.rows(), gram.cols(), Eigen::OuterStride<>(gram.outerStride())),
      at_(chosen.begin(), chosen.end()) {
  diagonal_.resize(std::ssize(at_));
  for (Index k = 0; k < diagonal_.size(); ++k) diagonal_[k] = gram_(at_[at(k)], at_[at(k)]);
}

void SvmGram::values(ConstMatrixView, std::span<const Index> rows, Index first, MatrixView out) const {
  for (Index r = 0; r < out.rows(); ++r) {
    const double* const row = gram_.data() + at_[at(rows[at(r)])] * gram_.outerStride();
    const Index* const columns = at_.data() + first;
    double* const to = out.data() + r * out.outerStride();
    for (Index c = 0; c < out.cols(); ++c) to[c] = row[columns[c]];
  }
}

void SvmGram::permute_rows(std::span<const Index> from) {
  std::vector<Index> moved(at_.size());
  for (std::size_t k = 0; k < at_.size(); ++k) moved[k] = at_[at(from[k])];
  at_ = std::move(moved);
}

}  // namespace ecotone
