#include "ecotone/diagnose/sums_diagnosis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ecotone/measure/shift.h"

namespace ecotone {
namespace {

SampleMoments column_of(const Moments& moments, Index group, Index j) {
  const double rows = moments.rows[group], mean = moments.x1(group, j) / rows;
  return {rows, mean, std::max(0.0, moments.xx(group, j) - rows * mean * mean)};
}

/// Of every domain against the others together.
std::vector<std::optional<double>> shifts_of(const Moments& moments, Index j) {
  std::vector<std::optional<double>> result;
  for (Index g = 0; g < moments.group_count(); ++g) {
    SampleMoments others;
    for (Index o = 0; o < moments.group_count(); ++o)
      if (o != g) others = others.merged(column_of(moments, o, j));
    result.push_back(standardised_mean_difference(column_of(moments, g, j), others));
  }
  return result;
}

/// Means that differ while nothing varies are farther apart than any number.
double largest_of(const std::vector<std::optional<double>>& shifts) {
  double largest = 0;
  for (const auto& each : shifts)
    largest = std::max(largest, each ? std::abs(*each) : std::numeric_limits<double>::infinity());
  return largest;
}

void add_shifts(SumsDiagnosis& result, const Moments& moments) {
  std::vector<std::vector<std::optional<double>>> all;
  for (Index j = 0; j < moments.cols(); ++j) all.push_back(shifts_of(moments, j));
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t j) { return largest_of(all[j]); });
  for (const std::size_t j : order) {
    result.features.push_back(moments.features[j]);
    result.smd.push_back(std::move(all[j]));
  }
}

/// With s and q the sums of rho(x) and of |rho(x)|^2 over n rows: (|s_a|^2 - q_a) / (n_a (n_a - 1)) + the same of b
/// - 2 s_a.s_b / (n_a n_b).
Matrix squared_mmd(const Moments& moments) {
  const Index groups = moments.group_count();
  Vector own(groups);
  for (Index g = 0; g < groups; ++g) {
    const double n = moments.rows[g];
    own[g] = (moments.x1.row(g).squaredNorm() - moments.xx.row(g).sum()) / (n * (n - 1));
  }
  Matrix result = Matrix::Zero(groups, groups);
  for (Index a = 0; a < groups; ++a)
    for (Index b = 0; b < groups; ++b)
      if (a != b)
        result(a, b) =
            own[a] + own[b] - 2 * moments.x1.row(a).dot(moments.x1.row(b)) / (moments.rows[a] * moments.rows[b]);
  return result;
}

}  // namespace

SumsDiagnosis diagnose_parts(const std::vector<SumsPart>& parts, const Context& context) {
  const RowSums sums = added(parts, context).sums;
  Moments moments = sums.moments;
  if (moments.group_count() == 0)
    moments = sums.targets;
  else if (sums.has_targets())
    moments.merge(sums.targets);
  SumsDiagnosis result;
  result.pipeline = parts.front().pipeline;
  result.domains = moments.groups;
  result.classes = sums.classes;
  for (const double rows : moments.rows) result.rows.push_back(static_cast<Index>(rows));
  result.class_share = Matrix::Zero(moments.group_count(), std::ssize(sums.classes));
  for (std::size_t c = 0; c < sums.classes.size(); ++c) {
    const Moments& own = sums.of_class[c];
    for (Index g = 0; g < own.group_count(); ++g) {
      const Index place = std::ranges::find(moments.groups, own.groups[at(g)]) - moments.groups.begin();
      result.class_share(place, static_cast<Index>(c)) = own.rows[g] / moments.rows[place];
    }
  }
  const bool drawn = Pipeline::parse(result.pipeline).stages().front().method->sums.drawn != nullptr;
  if (!drawn) {
    add_shifts(result, moments);
  } else if (moments.rows.minCoeff() > 1) {
    result.mmd2 = squared_mmd(moments);
  }
  return result;
}

}  // namespace ecotone
