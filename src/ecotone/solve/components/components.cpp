#include "ecotone/solve/components/components.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/kernels/pivoted_cholesky.h"
#include "ecotone/linalg/cholesky.h"

namespace ecotone {
namespace {

// Eigenvalues below this share of the largest are rounding.
constexpr double meaningful = 1e-10;
constexpr double output_residual = 1e-14;

}  // namespace

double weight_used(const ComponentOptions& options, double tr_kq, double mean_diagonal) {
  if (!options.relative) return options.weight;
  return tr_kq > 1e-12 * mean_diagonal ? options.weight / tr_kq : 0;
}

ChosenPairs choose_pairs(const GeneralEigen& eigen, Index components) {
  const Index size = eigen.real.size();
  ChosenPairs chosen;
  double largest = 0;
  for (Index j = 0; j < size; ++j) {
    largest = std::max(largest, std::hypot(eigen.real[j], eigen.imag[j]));
    chosen.most_negative = std::min(chosen.most_negative, eigen.real[j]);
  }
  if (chosen.most_negative > -meaningful * largest) chosen.most_negative = 0;
  std::vector<Index> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return eigen.real[a] > eigen.real[b]; });

  std::vector<Vector> columns;
  std::vector<double> real, imag;
  for (const Index j : order) {
    if (static_cast<Index>(columns.size()) >= components || !(eigen.real[j] > meaningful * largest)) break;
    if (eigen.imag[j] < 0) continue;  // handled together with its conjugate
    real.push_back(eigen.real[j]);
    imag.push_back(eigen.imag[j]);
    columns.emplace_back(eigen.re.col(j));
    if (eigen.imag[j] == 0) continue;
    chosen.complex_pair = true;
    real.push_back(eigen.real[j]);
    imag.push_back(-eigen.imag[j]);
    columns.emplace_back(eigen.im.col(j));
  }
  const auto count = static_cast<Index>(columns.size());
  chosen.gamma = Eigen::Map<const Vector>(real.data(), count);
  chosen.gamma_imag = Eigen::Map<const Vector>(imag.data(), count);
  chosen.z.resize(size, count);
  for (Index j = 0; j < count; ++j) {
    const Vector& column = columns[at(j)];
    chosen.z.col(j) = column / std::max(column.norm(), std::numeric_limits<double>::min());
  }
  fix_signs(chosen.z);
  return chosen;
}

ChosenPairs choose_pairs(const SymmetricEigen& eigen, Index components) {
  const Index size = eigen.values.size();
  const double largest = size == 0 ? 0 : eigen.values.cwiseAbs().maxCoeff();
  Index count = 0;
  while (count < std::min(size, components) && eigen.values[count] > meaningful * largest) ++count;
  ChosenPairs chosen;
  chosen.gamma = eigen.values.head(count);
  chosen.gamma_imag = Vector::Zero(count);
  chosen.z = eigen.vectors.leftCols(count);
  if (size > 0 && eigen.values[size - 1] < -meaningful * largest) chosen.most_negative = eigen.values[size - 1];
  return chosen;
}

Vector scale_factors(const ComponentOptions& options, const ChosenPairs& pairs, const ComponentNorms& norms,
                     Index rows) {
  const Vector& gamma = pairs.gamma;
  const bool by_coefficients = options.supervised && options.form == ComponentForm::paper;
  Vector factors(gamma.size());
  for (Index j = 0; j < gamma.size(); ++j) {
    switch (options.scaling) {
      case ComponentScaling::reference:
        factors[j] = 1 / std::sqrt((by_coefficients ? norms.coefficients[j] : norms.metric[j]) * gamma[j]);
        break;
      case ComponentScaling::metric:
        factors[j] = 1 / std::sqrt(norms.metric[j]);
        break;
      case ComponentScaling::variance:
        factors[j] = std::sqrt(static_cast<double>(rows) / norms.projections[j]);
        break;
    }
    if (std::isfinite(factors[j])) continue;
    // The real or imaginary part of a complex pair may vanish.
    if (pairs.gamma_imag[j] == 0 || std::isnan(factors[j]))
      data_error("non_finite", "components: component {} with eigenvalue {} has no finite length", j + 1, gamma[j]);
    factors[j] = 0;
  }
  return factors;
}

Matrix group_factor(std::span<const std::int32_t> group, Index groups) {
  Vector rows = Vector::Zero(groups);
  for (const std::int32_t d : group) {
    if (d < 0 || d >= groups) internal_error("components: group {} of {}", d, groups);
    rows[d] += 1;
  }
  for (Index d = 0; d < groups; ++d)
    if (rows[d] == 0) data_error("empty_group", "components: group {} of {} has no rows", d, groups);
  const auto count = static_cast<double>(groups);
  Matrix f = Matrix::Constant(static_cast<Index>(group.size()), groups, 0);
  for (Index i = 0; i < f.rows(); ++i) {
    const std::int32_t d = group[at(i)];
    f.row(i).setConstant(-1 / (rows[d] * count * std::sqrt(count)));
    f(i, d) += 1 / (rows[d] * std::sqrt(count));
  }
  return f;
}

Matrix from_group_means(const Matrix& means) {
  const auto count = static_cast<double>(means.rows());
  if (means.rows() == 0) return means;
  return (means.rowwise() - means.colwise().mean()) / std::sqrt(count);
}

OutputFactor delta_output(std::span<const std::int32_t> classes, Index count) {
  OutputFactor output{Matrix::Zero(static_cast<Index>(classes.size()), count)};
  for (Index i = 0; i < output.g.rows(); ++i) {
    const std::int32_t c = classes[at(i)];
    if (c < 0 || c >= count) internal_error("components: class {} of {}", c, count);
    output.g(i, c) = 1;
  }
  return output;
}

OutputFactor linear_output(ConstMatrixView y) { return {y}; }

OutputFactor rbf_output(ConstMatrixView y, double sigma, const Context& context) {
  return {pivoted_cholesky({.kind = KernelKind::rbf, .sigma = sigma}, y, output_residual, context).factor};
}

Matrix output_transform(const Matrix& centred_gram, Index rows, double epsilon, const Context& context) {
  if (!(epsilon > 0)) option_error("bad_option", "components: epsilon must be > 0, got {}", epsilon);
  Matrix a = centred_gram;
  a.diagonal().array() += static_cast<double>(rows) * epsilon;
  const std::optional<Cholesky> c = Cholesky::factor(std::move(a), context);
  if (!c) data_error("non_finite", "components: the Gram matrix of the outputs is not positive definite");
  const Index size = centred_gram.rows();
  // C^-T = (C^-1)'
  return c->solve_lower(Matrix::Identity(size, size), context).transpose();
}

}  // namespace ecotone
