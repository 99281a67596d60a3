#include "ecotone/methods/represent/components/components.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/file.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/methods/represent/components/component_outputs.h"
#include "ecotone/methods/represent/components/low_rank_route.h"
#include "ecotone/solve/exact_components.h"

namespace ecotone {
namespace {

constexpr ComponentKind kpca{"kpca", false, false};
constexpr ComponentKind udica{"udica", false, true};
constexpr ComponentKind coir{"coir", true, false};
constexpr ComponentKind dica{"dica", true, true};

/// Below this, a row's similarities to all others together are nothing beside its own.
constexpr double no_similarity = 1e-6;
/// With more rows route=auto takes the low-rank map.
constexpr Index most_exact_rows = 20000;
/// w tr(KQ) bounds by what part invariance lowers an eigenvalue.
constexpr double weak = 0.1;

void require_finite(const ComponentKind& kind, const Features& x, const TrainView& view, const Context& context) {
  const NonFinite found = find_non_finite(x, context);
  if (found.row < 0) return;
  data_error("non_finite", "{}: column '{}' is {} in row {}; {}", kind.name, x.name(found.column),
             std::isnan(found.value) ? "not a number" : "infinite", origin_of(view.origin, found.row) + 1,
             std::isnan(found.value) ? "add impute before it" : "leave the row out");
}

/// Domains of the first rows, counted from 0.
struct Groups {
  std::vector<std::int32_t> index;
  Index count = 0;
};

Groups groups_of(const TrainView& view, Index rows) {
  Groups groups;
  std::map<std::int32_t, std::int32_t> seen;
  for (Index i = 0; i < rows; ++i) {
    const auto next = static_cast<std::int32_t>(seen.size());
    groups.index.push_back(seen.emplace(view.domain.index[static_cast<std::size_t>(i)], next).first->second);
  }
  groups.count = static_cast<Index>(seen.size());
  return groups;
}

Kernel kernel_of(const ComponentStageOptions& options, const Features& x, ComponentReport& report,
                 const Context& context) {
  Kernel kernel{options.kernel, options.sigma.value.value_or(1), options.degree, options.coef0, options.scale};
  if (shift_invariant(kernel) && options.sigma.is_auto()) {
    const Bandwidth found = median_bandwidth(x, context);
    kernel.sigma = found.sigma;
    report.sigma_rows = found.rows;
  }
  check_kernel(kernel);
  return kernel;
}

const char* name_of(ComponentRoute route) {
  return route == ComponentRoute::cholesky ? "cholesky" : route == ComponentRoute::matvec ? "matvec" : "lowrank";
}

/// The exact route that lam allows; the low-rank one for many rows and where an n x n matrix does not fit.
ComponentRoute route_of(const ComponentKind& kind, const ComponentOptions& options, ComponentRoute wanted,
                        const RouteSize& size) {
  if (options.supervised && options.form == ComponentForm::paper && options.lam == 0)
    option_error("bad_option", "{}: form=paper needs lam > 0, got {}; use form=symmetric", kind.name, options.lam);
  if (wanted != ComponentRoute::automatic) return wanted;
  const bool products = route_applies(options, ExactRoute::matvec);
  const ExactRoute exact = products ? ExactRoute::matvec : ExactRoute::cholesky;
  if (size.rows > most_exact_rows || route_bytes(options, exact, size) > available_memory())
    return ComponentRoute::lowrank;
  return products ? ComponentRoute::matvec : ComponentRoute::cholesky;
}

ComponentOptions solver_options(const ComponentKind& kind, const ComponentStageOptions& options) {
  return {.supervised = kind.supervised,
          .weight = kind.invariant ? options.weight : 0,
          .lam = options.lam,
          .form = options.form,
          .scaling = options.scaling,
          .components = options.components};
}

/// Columns of G; of rbf, whose rank is found later, about as many as one column of numbers has.
Index output_columns(const ComponentKind& kind, const ChosenOutput& output) {
  if (!kind.supervised) return 0;
  return output.kernel == OutputKernel::delta ? output.count : output.kernel == OutputKernel::rbf ? 50 : 1;
}

/// What every route reads.
struct FitInput {
  const ComponentKind& kind;
  const Features& x;
  const Groups& groups;
  const Labels& y;
  const Kernel& kernel;
  const ChosenOutput& output;
  const ComponentStageOptions& options;
  const ComponentOptions& solver;
};

struct Solved {
  ComponentProjection projection;
  double similarity = 0;  ///< see ExactComponents
  Status status = {};
};

Solved solve_by_map(const FitInput& in, ComponentReport& report, const Context& context) {
  const LowRankFitRows rows{in.x, in.groups.index, in.groups.count, in.y, in.kind.supervised ? &in.output : nullptr};
  LowRankRoute found = low_rank_route(in.kind, rows, in.kernel, in.options, in.solver, report, context);
  context.note("{}: {} rows of {} domains, route lowrank: rank {}, map {}, residual {:.2g}", in.kind.name, report.rows,
               report.domains, report.rank, report.map, report.residual);
  return {std::move(found.projection), found.similarity};
}

Solved solve_exactly(const FitInput& in, ComponentRoute route, ComponentReport& report, const Context& context) {
  const Matrix x = in.x.to_matrix();
  const OutputFactor factor = in.kind.supervised ? factor_of(in.output, in.y, context) : OutputFactor{};
  const ComponentProblem problem{.who = in.kind.name,
                                 .x = {x.data(), x.rows(), x.cols(), Eigen::OuterStride<>(x.cols())},
                                 .kernel = in.kernel,
                                 .group = in.groups.index,
                                 .groups = in.groups.count,
                                 .output = &factor,
                                 .epsilon = in.options.epsilon};
  const auto exact = route == ComponentRoute::cholesky ? ExactRoute::cholesky : ExactRoute::matvec;
  ExactComponents found = exact_components(problem, in.solver, exact, context);
  report.spectrum = found.spectrum;
  context.note("{}: {} rows of {} domains, route {}", in.kind.name, report.rows, report.domains, report.route);
  Status status;
  if (!found.converged) status = {false, "the eigenvectors did not reach full accuracy"};
  return {std::move(found.map), found.similarity, std::move(status)};
}

/// What a user should know beyond the result.
void warn_of_invariance(const ComponentKind& kind, const ComponentStageOptions& options, const ComponentReport& report,
                        const Context& context) {
  if (!kind.invariant) return;
  const double tr_kq = report.spectrum.tr_kq;
  if (report.domains < 2) {
    context.warn("one_domain", "{}: all rows are of one domain, so there is nothing to be invariant to; it is {}",
                 kind.name, kind.supervised ? "coir" : "kpca");
  } else if (options.weight * tr_kq < weak) {
    context.warn(
        "weak_invariance",
        "{}: at weight {} invariance does next to nothing: weight x tr(KQ) is {:.2g}; use a weight of at least "
        "1 / tr(KQ) = {:.3g}",
        kind.name, options.weight, options.weight * tr_kq, 1 / std::max(tr_kq, 1e-300));
  }
}

void warn_of_spectrum(const ComponentKind& kind, const ComponentStageOptions& options,
                      const ComponentSpectrum& spectrum, double similarity, const Kernel& kernel,
                      const Context& context) {
  if (spectrum.size() < options.components) {
    const bool negative = spectrum.most_negative < 0;
    context.warn(spectrum.size() == 0 ? "no_components" : "fewer_components",
                 "{}: there are {} components, {} were asked for; {}", kind.name, spectrum.size(), options.components,
                 negative          ? "eigenvalues of the paper's form are negative here, form=symmetric has none such"
                 : kind.supervised ? "labels of C classes explain at most C - 1"
                                   : "the centred Gram matrix has no more");
  }
  if (spectrum.complex_pair)
    context.warn("complex_pair",
                 "{}: a pair of eigenvalues is complex; its two components are a plane, not two directions; "
                 "form=symmetric has none",
                 kind.name);
  if (shift_invariant(kernel) && similarity < no_similarity)
    context.warn("sigma_too_small",
                 "{}: at sigma {:.4g} no row is near another and the Gram matrix is the identity; use a larger sigma",
                 kind.name, kernel.sigma);
}

template <class Options, const ComponentKind& kind>
StageResult fit_kind(const TrainView& view, const Options& options, const Context& context, FitCache&) {
  return fit_components(kind, view, options, context);
}

template <class Options>
std::shared_ptr<const Fitted> load_kind(const StageState& state, const Options& options, const StageInput& input) {
  return Components::load(state, options, input);
}

}  // namespace

Components::Components(ComponentProjection projection, ComponentCentre centre, ComponentReport report)
    : projection_(std::make_shared<const ComponentProjection>(std::move(projection))),
      centre_(centre),
      report_(std::move(report)) {}

Features Components::transform(const Batch& batch, const Context& context) const {
  const Index cols = output_cols(batch.x.cols());
  std::vector<std::string> names;
  for (Index j = 0; j < cols; ++j) names.push_back(fmt::format("z{}", j + 1));
  const auto project = [projection = projection_](ConstMatrixMap x, MatrixView out) {
    std::visit([&](const auto& of) { of.project(x, out); }, *projection);
  };
  Features z = batch.x.map(cols, names, project, context);
  if (centre_ == ComponentCentre::train || z.rows() == 0) return z;
  const Vector sum = sum_blocks(z.blocks(), context, Vector(Vector::Zero(cols)), [&](Vector& into, Index b) {
    Scratch scratch;
    into += z.block(b, scratch).x.colwise().sum().transpose();
  });
  const Vector mean = sum / static_cast<double>(z.rows());
  return z.map(
      cols, std::move(names), [mean](ConstMatrixMap in, MatrixView out) { out = in.rowwise() - mean.transpose(); },
      context);
}

StageResult fit_components(const ComponentKind& kind, const TrainView& view, const ComponentStageOptions& options,
                           const Context& context) {
  const Index rows = kind.supervised ? view.labelled() : view.x.rows();
  const Features features = kind.supervised ? view.labelled_x() : view.x;
  require_finite(kind, features, view, context);
  const ComponentOptions solver = solver_options(kind, options);
  const Groups groups = groups_of(view, rows);
  ComponentReport report;
  report.rows = rows;
  report.domains = groups.count;
  ChosenOutput output;
  if (kind.supervised) output = choose_output(kind, view.y, options, report, context);
  const RouteSize size{rows, features.cols(), groups.count, output_columns(kind, output), context.threads()};
  const ComponentRoute route = route_of(kind, solver, options.route, size);
  report.route = name_of(route);
  const Kernel kernel = kernel_of(options, features, report, context);

  const FitInput input{kind, features, groups, view.y, kernel, output, options, solver};
  Solved found = route == ComponentRoute::lowrank ? solve_by_map(input, report, context)
                                                  : solve_exactly(input, route, report, context);
  warn_of_spectrum(kind, options, report.spectrum, found.similarity, kernel, context);
  warn_of_invariance(kind, options, report, context);
  return pass_on(std::make_shared<Components>(std::move(found.projection), options.centre, std::move(report)), view,
                 context, std::move(found.status));
}

Method kpca_method() {
  return make_method<KpcaOptions, fit_kind<KpcaOptions, kpca>, load_kind<KpcaOptions>>(
      {.name = "kpca",
       .family = Family::represent,
       .summary = "Principal components of a kernel, from all rows without their labels.",
       .citation = "schoelkopf1998"});
}

Method udica_method() {
  return make_method<UdicaOptions, fit_kind<UdicaOptions, udica>, load_kind<UdicaOptions>>(
      {.name = "udica",
       .family = Family::represent,
       .summary = "Components of a kernel that vary much over rows and little over domain means, from all rows without "
                  "their labels.",
       .citation = "muandet2013"});
}

Method coir_method() {
  return make_method<CoirOptions, fit_kind<CoirOptions, coir>, load_kind<CoirOptions>>(
      {.name = "coir",
       .family = Family::represent,
       .summary = "Components of a kernel that the labels explain, from labelled rows.",
       .citation = "kim2011",
       .needs_labels = true});
}

Method dica_method() {
  return make_method<DicaOptions, fit_kind<DicaOptions, dica>, load_kind<DicaOptions>>(
      {.name = "dica",
       .family = Family::represent,
       .summary =
           "Components of a kernel that the labels explain and that vary little over domain means, from labelled "
           "rows.",
       .citation = "muandet2013",
       .needs_labels = true});
}

}  // namespace ecotone
