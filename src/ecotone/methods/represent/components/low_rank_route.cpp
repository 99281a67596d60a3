#include "ecotone/methods/represent/components/low_rank_route.h"

#include <string>
#include <utility>

#include "ecotone/solve/components/low_rank.h"

namespace ecotone {
namespace {

/// A map that leaves out more than this fraction of the kernel's trace gets a warning.
constexpr double rough = 0.1;
/// The output kernel acts on single numbers and has a small rank, so it is mapped down to rounding.
constexpr LowRankOptions of_outputs{.kind = LowRankKind::greedy, .rank = 500, .residual = 1e-14};

const char* name_of(LowRankKind kind) {
  switch (kind) {
    case LowRankKind::uniform:
      return "uniform";
    case LowRankKind::greedy:
      return "greedy";
    case LowRankKind::fourier:
      return "fourier";
    default:
      return "pivoted";
  }
}

/// Sums over the rows, with the outputs as classes, numbers or mapped features.
LowRankSums sums_of(const LowRankFitRows& rows, const LowRankMap& map, const Context& context) {
  LowRankOutputs outputs;
  Matrix y;
  LowRankMap output_map;
  if (rows.output && rows.output->kernel == OutputKernel::delta) {
    outputs = LowRankOutputs::of_classes(rows.output->classes, rows.output->count);
  } else if (rows.output) {
    y = rows.y.value;
    outputs = LowRankOutputs::of_rows(y);
    if (rows.output->kernel == OutputKernel::rbf) {
      const Kernel kernel{.kind = KernelKind::rbf, .sigma = rows.output->sigma};
      output_map = fit_low_rank(Features::dense(y), kernel, of_outputs, context).map;
      outputs = LowRankOutputs::of_map(output_map, y);
    }
  }
  return gather_low_rank_sums({rows.x, map, rows.group, rows.groups, outputs}, context);
}

void warn_of_map(const ComponentKind& kind, const ComponentStageOptions& options, const LowRankFit& fit, Index rows,
                 const Context& context) {
  const Index rank = fit.map.rank();
  if (rank < options.rank && fit.residual > options.residual)
    context.note("{}: {} of {} landmarks explain the kernel up to rounding", kind.name, rank, options.rank);
  // The paper's form inverts K + lam I, so what the map leaves out must be below lam.
  const double left = fit.residual * fit.diagonal * static_cast<double>(rows);
  if (kind.supervised && options.form == ComponentForm::paper && left > options.lam * static_cast<double>(rank)) {
    context.warn("rough_map",
                 "{}: the map leaves {:.2g} of the kernel's trace unexplained, {:.3g} in total, and form=paper needs "
                 "less than lam x rank = {:.3g}; raise lam or rank, or use form=symmetric",
                 kind.name, fit.residual, left, options.lam * static_cast<double>(rank));
  } else if (fit.residual > rough) {
    const std::string text = fmt::format(
        "{}: the map of rank {} leaves {:.2g} of the kernel{} unexplained, so components are rough; raise "
        "rank or sigma",
        kind.name, rank, fit.residual, fit.map.fourier() ? "" : "'s trace");
    // The choice of route=auto is not one to warn about.
    if (options.route == ComponentRoute::automatic) {
      context.note("{}", text);
    } else {
      context.warn("rough_map", "{}", text);
    }
  }
}

}  // namespace

LowRankProjection low_rank_route(const ComponentKind& kind, const LowRankFitRows& rows, const Kernel& kernel,
                                 const ComponentStageOptions& options, const ComponentOptions& solver,
                                 ComponentReport& report, const Context& context) {
  LowRankFit fit =
      fit_low_rank(rows.x, kernel, {.kind = options.map, .rank = options.rank, .residual = options.residual}, context);
  const LowRankSums sums = sums_of(rows, fit.map, context);
  LowRankComponents found = low_rank_components(sums, solver, options.epsilon, context);
  report.map = name_of(options.map);
  report.rank = fit.map.rank();
  report.residual = fit.residual;
  report.map_rows = fit.sample;
  report.spectrum = found.spectrum;
  warn_of_map(kind, options, fit, rows.x.rows(), context);
  const bool direct = direct_is_safe(fit.map, found);
  return {std::move(fit.map), std::move(found.theta), std::move(found.mean), direct};
}

}  // namespace ecotone
