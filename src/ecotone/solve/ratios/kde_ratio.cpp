#include "ecotone/solve/ratios/kde_ratio.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/numbers.h"
#include "ecotone/linalg/exponential.h"
#include "ecotone/linalg/row_product.h"

namespace ecotone {
namespace {

constexpr Index most_density_columns = 10;
constexpr Index most_density_rows = 20000;
constexpr Index density_rows_at_once = 64;

/// Standard deviations, divisor n - 1; exactly 0 for a constant column.
Vector deviations_of(ConstMatrixView x) {
  Vector result(x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    const double mean = x.col(j).mean();
    const double square = (x.col(j).array() - mean).square().sum();
    const bool constant = x.col(j).minCoeff() == x.col(j).maxCoeff();
    result[j] = constant ? 0 : std::sqrt(square / static_cast<double>(x.rows() - 1));
  }
  return result;
}

/// ln of the density of `points` (rows of one side, divided by the widths) at `at_rows`, up to what the sides share.
/// `skip`: row i is left out at row i.
Vector log_density(ConstMatrixView at_rows, ConstMatrixView points, double log_widths, bool skip,
                   const Context& context) {
  Vector result(at_rows.rows());
  const Index n = points.rows(), d = points.cols();
  const Index pieces = (at_rows.rows() + density_rows_at_once - 1) / density_rows_at_once;
  context.parallel(pieces, [&](Index piece) {
    std::vector<double> distance(static_cast<std::size_t>(n));
    const Index last = std::min(at_rows.rows(), (piece + 1) * density_rows_at_once);
    for (Index i = piece * density_rows_at_once; i < last; ++i) {
      const double* row = at_rows.data() + i * at_rows.outerStride();
      double least = infinity;
      for (Index k = 0; k < n; ++k) {
        const double found = squared_distance(row, points.data() + k * points.outerStride(), d);
        distance[at(k)] = found;
        if (!(skip && k == i)) least = std::min(least, found);
      }
      for (double& each : distance) each = std::max(0.0, each - least);
      exp_of_negative(0.5, distance.data(), n);
      double sum = 0;
      for (Index k = 0; k < n; ++k)
        if (!(skip && k == i)) sum += distance[at(k)];
      result[i] = std::log(sum) - 0.5 * least - std::log(static_cast<double>(skip ? n - 1 : n)) - log_widths;
    }
  });
  return result;
}

}  // namespace

Vector kde_log_ratio(const Features& x, Index sources, const KdeRatioOptions& options, const Context& context) {
  const Index targets = x.rows() - sources;
  if (sources <= 0 || targets <= 0)
    data_error("empty_data", "{}: the {} domain has no rows", options.who, sources <= 0 ? "source" : "target");
  if (x.cols() > most_density_columns)
    data_error("too_many_columns",
               "{}: densities of {} columns cannot be estimated by kernels, {} is the most; use weight.rulsif",
               options.who, x.cols(), most_density_columns);
  if (sources > most_density_rows || targets > most_density_rows)
    data_error("too_many_rows",
               "{}: all pairs of {} {} rows and of the others would take too long, {} is the most; use weight.rulsif",
               options.who, std::max(sources, targets), sources > targets ? "source" : "target", most_density_rows);
  if (sources < 2 || targets < 2)
    data_error("too_few_rows", "{}: the {} has one row, which has no width", options.who,
               sources < 2 ? "source" : "target");
  require_memory(4 * static_cast<std::size_t>(x.rows() * x.cols()) * sizeof(double), options.who, "the rows",
                 "use fewer rows");
  const Matrix rows = x.to_matrix();
  const Vector sd_s = deviations_of(rows.topRows(sources)), sd_t = deviations_of(rows.bottomRows(targets));
  std::vector<Index> kept;
  for (Index j = 0; j < x.cols(); ++j)
    if (sd_s[j] > 0 && sd_t[j] > 0) kept.push_back(j);
  if (kept.empty()) return Vector::Zero(sources);
  const auto power = -1 / (static_cast<double>(kept.size()) + 4);
  const double rate_s = std::pow(static_cast<double>(sources), power);
  const double rate_t = std::pow(static_cast<double>(targets), power);
  Matrix in_s(sources, std::ssize(kept)), in_t(sources, std::ssize(kept)), target(targets, std::ssize(kept));
  double log_s = 0, log_t = 0;
  for (Index j = 0; j < in_s.cols(); ++j) {
    const Index column = kept[at(j)];
    const double width_s = sd_s[column] * rate_s, width_t = sd_t[column] * rate_t;
    // Relative to a source row, so that a large common offset costs no digits.
    const double origin = rows(0, column);
    in_s.col(j) = (rows.col(column).head(sources).array() - origin) / width_s;
    in_t.col(j) = (rows.col(column).head(sources).array() - origin) / width_t;
    target.col(j) = (rows.col(column).tail(targets).array() - origin) / width_t;
    log_s += std::log(width_s);
    log_t += std::log(width_t);
  }
  return log_density(in_t, target, log_t, false, context) - log_density(in_s, in_s, log_s, options.skip_self, context);
}

}  // namespace ecotone
