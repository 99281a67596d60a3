#include "ecotone/methods/select/selection_view.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/prepare/column_moments.h"
#include "ecotone/solve/moments/gram_columns.h"

namespace ecotone {
namespace {

/// The view without domains of zero weight. A single domain loses all rows of weight 0, so that each fold of its rows
/// has some weight.
TrainView weighted_view(std::string_view who, const TrainView& view, const Context& context) {
  if (view.weight.size() == 0 || (view.weight.array() > 0).all()) return view;
  std::vector<double> weight(view.domain.names.size(), -1);
  for (Index i = 0; i < view.labelled(); ++i) {
    double& sum = weight[at(view.domain.index[at(i)])];
    sum = std::max(sum, 0.0) + view.weight[i];
  }
  std::vector<std::string> without;
  for (std::size_t d = 0; d < weight.size(); ++d)
    if (weight[d] == 0) without.push_back(view.domain.names[d]);
  const auto with = std::count_if(weight.begin(), weight.end(), [](double sum) { return sum > 0; });
  if (with == 0) data_error("no_weight", "{}: all rows with a label have weight 0", who);
  if (without.empty() && with > 1) return view;
  if (!without.empty())
    context.warn("domain_without_weight", "{}: all rows of {} '{}' have weight 0 and are left out", who,
                 without.size() == 1 ? "domain" : "the domains", fmt::join(without, "', '"));
  std::vector<Index> kept;
  for (Index i = 0; i < view.labelled(); ++i)
    if (with == 1 ? view.weight[i] > 0 : weight[at(view.domain.index[at(i)])] > 0) kept.push_back(i);
  return view_of_rows(view, kept);
}

/// The means of columns far from 0, and 0 for the others; empty if there are none. A constant column has no digits to
/// lose.
Vector far_means(const Features& x, const Context& context) {
  const ColumnMoments moments = column_moments(x, context);
  const Vector deviation = moments.deviation();
  Vector centre = Vector::Zero(x.cols());
  for (Index j = 0; j < x.cols(); ++j)
    if (deviation[j] > 0 && std::abs(moments.mean[j]) > far_from_zero * deviation[j]) centre[j] = moments.mean[j];
  return centre.isZero(0) ? Vector() : centre;
}

/// The distance of a column from 0 in standard deviations, from its raw sums: |m| / sqrt(E[x^2] - m^2), infinite if
/// rounding lost all of the variance. A column whose groups then have the same mean is constant: 0.
double distance(const Vector& sum, const Vector& squares, const Vector& weight) {
  const double mean = sum.sum() / weight.sum();
  const double raw = squares.sum() / weight.sum();
  const double variance = raw - mean * mean;
  const Vector means = sum.cwiseQuotient(weight);
  const double spread = means.maxCoeff() - means.minCoeff();
  if (variance > 1e-14 * raw) return std::abs(mean) / std::sqrt(variance);
  return spread > 1e-13 * std::abs(mean) ? std::numeric_limits<double>::infinity() : 0.0;
}

}  // namespace

double SelectionView::moved_back(double offset, ConstVectorView weights) const {
  return offset + y_centre - (centre.size() > 0 ? weights.dot(centre) : 0.0);
}

void SelectionView::move_back(PathResult& path) const {
  if (centre.size() == 0 && y_centre == 0) return;
  path.empty_offset += y_centre;
  for (std::size_t step = 0; step < path.offset.size(); ++step) {
    path.offset[step] += y_centre;
    if (centre.size() == 0) continue;
    const std::vector<double>& weights = path.weights[step];
    for (std::size_t k = 0; k < weights.size(); ++k) path.offset[step] -= weights[k] * centre[path.support[k]];
  }
}

SelectionView selection_view(std::string_view who, const TrainView& view, Centring centring, const Context& context) {
  SelectionView result;
  result.view = weighted_view(who, view, context);
  TrainView& moved = result.view;
  if (centring.y && moved.y.task == Task::regress && !(moved.y.value.array().abs() == 1).all()) {
    const Vector centre = far_means(Features::dense(Matrix(moved.y.value)), context);
    if (centre.size() > 0) {
      result.y_centre = centre[0];
      moved.y.value.array() -= result.y_centre;
    }
  }
  if (!centring.x || moved.x.is_sparse()) return result;
  result.centre = far_means(moved.labelled_x(), context);
  if (result.centre.size() == 0) return result;
  const auto map = [centre = result.centre](ConstMatrixMap x, MatrixView out) {
    out = x.rowwise() - centre.transpose();
  };
  moved.x = moved.x.map(moved.x.cols(), moved.x.names(), map, context);
  return result;
}

void warn_lost_digits(std::string_view who, const Moments& moments, Centring centring, const Context& context) {
  const std::vector<Index> labelled = labelled_list(moments);
  if (labelled.empty()) return;
  const Vector weight = moments.weight(labelled);
  double worst = 0;
  std::string name;
  const auto look = [&](const Vector& sum, const Vector& squares, double most, const std::string& what) {
    const double found = distance(sum, squares, weight);
    if (!(found > most && found > worst)) return;
    worst = found;
    name = what;
  };
  const double most = moments.gram_kind() == GramKind::single_precision ? 1e2 : 1e5;
  for (Index j = 0; centring.x && j < moments.cols(); ++j)
    look(moments.x1.col(j)(labelled), moments.xx.col(j)(labelled), most,
         fmt::format("column '{}'", moments.features[at(j)]));
  // Sums of labels are never single precision.
  if (centring.y) look(moments.y1(labelled), moments.yy(labelled), 1e5, "the label");
  if (worst == 0) return;
  context.warn("lost_digits",
               "{}: {} lies {} standard deviations from 0, and raw sums keep too few digits of it; subtract a constant "
               "near its mean before the sums are made, or learn from the rows",
               who, name, std::isfinite(worst) ? fmt::format("{:.2g}", worst) : "more than 1e+07");
}

}  // namespace ecotone
