#include "ecotone/methods/represent/components/component_sums.h"

#include <string>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/solve/moments/moved_moments.h"

namespace ecotone {
namespace {

Kernel kernel_of(const ComponentStageOptions& options) {
  return {options.kernel, options.sigma.value.value_or(1), options.degree, options.coef0, options.scale};
}

/// Measured from 0: no row is known when it is drawn.
LowRankMap map_of(const ComponentStageOptions& options, Index cols, const Context& context) {
  return drawn_map(kernel_of(options), Vector::Zero(cols), options.rank, context);
}

std::vector<std::string> numbered(const char* letter, Index count) {
  std::vector<std::string> names;
  for (Index j = 0; j < count; ++j) names.push_back(fmt::format("{}{}", letter, j + 1));
  return names;
}

/// The sums of the outputs: of each class, or of the numbers themselves.
void add_outputs(const ComponentKind& kind, const RowSums& sums, LowRankSums& low) {
  const Index outputs = sums.task == Task::classify ? std::ssize(sums.classes) : 1;
  if (sums.task == Task::classify && outputs < 2)
    data_error("one_class", "{}: all labels are equal, so there is nothing to learn", kind.name);
  low.output_shift = Vector::Zero(outputs);
  low.output_sum = Matrix::Zero(outputs, sums.cols());
  low.output_gram = Matrix::Zero(outputs, outputs);
  low.output_one = Vector::Zero(outputs);
  if (sums.task == Task::regress) {
    low.output_sum.row(0) = sums.moments.xy.colwise().sum();
    low.output_gram(0, 0) = sums.moments.yy.sum();
    low.output_one[0] = sums.moments.y1.sum();
    return;
  }
  for (Index c = 0; c < outputs; ++c) {
    const Moments& own = sums.of_class[at(c)];
    low.output_sum.row(c) = own.x1.colwise().sum();
    low.output_gram(c, c) = low.output_one[c] = own.rows.sum();
  }
}

LowRankSums low_rank_sums(const ComponentKind& kind, const RowSums& sums) {
  const Moments& moments = sums.moments;
  LowRankSums low(Vector::Zero(sums.cols()), moments.group_count(), Vector());
  low.rows = sums.rows();
  for (Index g = 0; g < moments.group_count(); ++g) low.gram += gram_of(moments, g);
  low.group_sum = moments.x1;
  low.group_rows = moments.rows;
  if (kind.supervised) add_outputs(kind, sums, low);
  return low;
}

}  // namespace

void require_drawn_features(const ComponentKind& kind, const ComponentStageOptions& options) {
  if (options.route != ComponentRoute::low_rank || options.map != LowRankKind::fourier || options.sigma.is_auto() ||
      !shift_invariant(kernel_of(options)) || options.residual > 0)
    option_error("needs_rows",
                 "{0}: from sums it learns with features that are drawn before any row is seen: {0} route=low_rank "
                 "map=fourier and a number as sigma, kernel rbf or laplacian, no residual",
                 kind.name);
}

Features drawn_features(const ComponentStageOptions& options, const Features& x, const Context& context) {
  const auto map = std::make_shared<const LowRankMap>(map_of(options, x.cols(), context));
  return x.map(
      map->rank(), numbered("rho", map->rank()),
      [map](ConstMatrixMap rows, MatrixView out) {
        LowRankMap::Workspace workspace;
        map->features(rows, out, workspace);
      },
      context);
}

SumsResult fit_components_on_sums(const ComponentKind& kind, const RowSums& sums, const ComponentStageOptions& options,
                                  const Context& context) {
  const bool numbers = kind.supervised && sums.task == Task::regress;
  if (numbers && options.output_kernel != OutputKernel::linear)
    option_error("needs_rows", "{}: from sums, labels that are numbers need output_kernel=linear", kind.name);
  if (sums.rows() < 2) data_error("too_few_rows", "{}: at least two rows are needed", kind.name);
  if (sums.cols() != options.rank)
    data_error("different_sums", "{}: sums of {} features, not of rank {}", kind.name, sums.cols(), options.rank);
  LowRankMap map = map_of(options, sums.row_cols, context);
  LowRankComponents found =
      low_rank_components(low_rank_sums(kind, sums), solver_options(kind, options), options.epsilon, context);
  ComponentReport report;
  report.route = "low_rank";
  report.rows = static_cast<Index>(sums.rows());
  report.domains = sums.moments.group_count();
  if (kind.supervised) report.output_kernel = numbers ? "linear" : "delta";
  report.spectrum = found.spectrum;
  report.map = "fourier";
  report.rank = map.rank();
  const Index size = found.spectrum.size();
  if (size < options.components)
    context.warn(size == 0 ? "no_components" : "fewer_components", "{}: there are {} components, not {}", kind.name,
                 size, options.components);
  // z = theta' (rho - mean)
  RowSums next = projected_sums(moved_sums(sums, found.mean, Vector::Ones(sums.cols()), context), found.theta,
                                numbered("z", size), context);
  const bool direct = direct_is_safe(map, found);
  LowRankProjection projection(std::move(map), std::move(found.theta), std::move(found.mean), direct);
  return {std::make_shared<Components>(std::move(projection), options.centre, std::move(report)), std::move(next)};
}

}  // namespace ecotone
