#include "ecotone/solve/ratios/kernel_ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr std::array<double, 5> width_factors = {2, 1.4, 1, 0.7, 0.5};
constexpr Index most_kept_bumps = 1 << 20;
constexpr Index most_centre_candidates = 20000;

Kernel bump_kernel(double sigma) { return {.kind = KernelKind::rbf, .sigma = sigma}; }

/// Target rows that centres are chosen from.
Features centre_candidates(const RatioRows& rows, const Context& context) {
  std::vector<Index> chosen(at(rows.targets()));
  std::iota(chosen.begin(), chosen.end(), Index{0});
  if (rows.targets() > most_centre_candidates) {
    chosen = context.random("ratio centres").sample(rows.targets(), most_centre_candidates);
    std::sort(chosen.begin(), chosen.end());
  }
  for (Index& each : chosen) each += rows.sources;
  return Features::dense(rows.x.copy(chosen));
}

}  // namespace

RatioBumps::RatioBumps(RatioRows rows, ConstMatrixView centres, double sigma, const Context& context)
    : rows_(std::move(rows)), kernel_(bump_kernel(sigma), typical_row(centres), centres) {
  if (rows_.x.rows() * count() > most_kept_bumps) return;
  Matrix all(rows_.x.rows(), count());
  context.parallel(blocks(), [&](Index b) {
    Workspace workspace;
    fill(b, all.middleRows(rows_.x.first_row(b), rows_.x.rows_in(b)), workspace);
  });
  kept_ = std::move(all);
}

void RatioBumps::fill(Index b, MatrixView phi, Workspace& workspace) const {
  kernel_.block(rows_.x.block(b, workspace.scratch).x, phi, workspace.centred);
}

RatioBumps::Block RatioBumps::block(Index b, Workspace& workspace) const {
  const Index first = rows_.x.first_row(b), rows = rows_.x.rows_in(b);
  const bool kept = kept_.size() > 0;
  if (!kept) {
    if (workspace.phi.rows() != rows) workspace.phi.resize(rows, count());
    fill(b, workspace.phi, workspace);
  }
  const double* values = kept ? kept_.data() + first * count() : workspace.phi.data();
  const Index of_source = std::clamp<Index>(sources() - first, 0, rows);
  const auto part = [&](Index from, Index size) {
    return ConstMatrixMap(values + from * count(), size, count(), Eigen::OuterStride<>(count()));
  };
  return {std::min(first, sources()), std::max<Index>(0, first - sources()), part(0, of_source),
          part(of_source, rows - of_source)};
}

Vector source_ratio_of(const RatioBumps& bumps, const Vector& alpha, const Context& context) {
  Vector ratio(bumps.sources());
  context.parallel(bumps.blocks(), [&](Index b) {
    RatioBumps::Workspace workspace;
    const RatioBumps::Block block = bumps.block(b, workspace);
    if (block.source.rows() > 0) multiply(block.source, alpha, ratio.segment(block.first_source, block.source.rows()));
  });
  return ratio;
}

Matrix ratio_centres(const RatioRows& rows, double sigma, Index most, const Context& context) {
  const Features target = centre_candidates(rows, context);
  if (target.rows() <= most) return target.to_matrix();
  return fit_low_rank(target, bump_kernel(sigma), {.kind = LowRankKind::greedy, .rank = most}, context).map.points();
}

std::vector<double> ratio_widths(const RatioRows& rows, const KernelRatioOptions& options, const Context& context) {
  if (rows.sources <= 0 || rows.targets() <= 0)
    data_error("empty_data", "{}: the {} domain has no rows", options.who, rows.sources <= 0 ? "source" : "target");
  if (options.sigma) return {*options.sigma};
  const double median = median_bandwidth(rows.x, context).sigma;
  if (!std::isfinite(median))
    data_error("non_finite", "{}: the distances between rows overflow; add scale before it", options.who);
  std::vector<double> widths;
  for (const double factor : width_factors) widths.push_back(factor * median);
  return widths;
}

}  // namespace ecotone
