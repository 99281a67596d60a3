#include "ecotone/methods/represent/components/components.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/methods/held_rows.h"
#include "ecotone/methods/represent/components/component_messages.h"
#include "ecotone/methods/represent/components/component_sums.h"
#include "ecotone/methods/represent/components/low_rank_route.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/solve/components/exact.h"

namespace ecotone {
namespace {

constexpr ComponentKind kpca{"kpca", false, false};
constexpr ComponentKind udica{"udica", false, true};
constexpr ComponentKind coir{"coir", true, false};
constexpr ComponentKind dica{"dica", true, true};

/// With more rows than this, route=auto uses the low-rank map: where the exact route factors a matrix of the rows (2 s
/// of processor time at 6,000 rows, 40 s at 16,000), and where it only multiplies by one.
constexpr Index most_factored_rows = 4000;
constexpr Index most_multiplied_rows = 20000;

/// Domains of the first rows, counted from 0.
struct RowDomains {
  std::vector<std::int32_t> index;
  Index count = 0;
};

RowDomains domains_of(const TrainView& view, Index rows) {
  RowDomains groups;
  std::map<std::int32_t, std::int32_t> seen;
  for (Index i = 0; i < rows; ++i) {
    const auto next = static_cast<std::int32_t>(seen.size());
    groups.index.push_back(seen.emplace(view.domain.index[at(i)], next).first->second);
  }
  groups.count = static_cast<Index>(seen.size());
  return groups;
}

Kernel kernel_of(const ComponentKind& kind, const ComponentStageOptions& options, const Features& x, bool equal,
                 ComponentReport& report, const Context& context) {
  Kernel kernel{options.kernel, options.sigma.value.value_or(1), options.degree, options.coef0, options.scale};
  if (shift_invariant(kernel) && options.sigma.is_auto()) {
    const Bandwidth found = median_bandwidth(x, options.kernel, context);
    if (!std::isfinite(found.sigma))
      data_error("non_finite", "{}: the distances between rows overflow; add scale before it", kind.name);
    if (found.fallback && !equal)
      context.note("{}: most distances between rows are 0; sigma is the median of the others, {:.4g}", kind.name,
                   found.sigma);
    kernel.sigma = found.sigma;
    report.sigma_rows = found.rows;
  }
  check_kernel(kernel);
  return kernel;
}

const char* name_of(ComponentRoute route) {
  return route == ComponentRoute::cholesky ? "cholesky" : route == ComponentRoute::matvec ? "matvec" : "low_rank";
}

/// The exact route that lam allows, or the low-rank one for many rows or if an n x n matrix does not fit in memory.
ComponentRoute route_of(const ComponentKind& kind, const ComponentOptions& options, ComponentRoute wanted,
                        const RouteSize& size, const Context& context) {
  if (options.supervised && options.form == ComponentForm::paper && options.lam == 0)
    option_error("bad_option", "{}: form=paper needs lam > 0, got {}; use form=symmetric", kind.name, options.lam);
  if (wanted != ComponentRoute::automatic) return wanted;
  const bool products = route_applies(options, ExactRoute::matvec);
  const ExactRoute exact = products ? ExactRoute::matvec : ExactRoute::cholesky;
  const Index most_rows = products ? most_multiplied_rows : most_factored_rows;
  if (size.rows > most_rows) return ComponentRoute::low_rank;
  const bool fits = route_bytes(options, exact, size) <= available_memory();
  if (!context.agree("the memory of an exact route", fits)) return ComponentRoute::low_rank;
  return products ? ComponentRoute::matvec : ComponentRoute::cholesky;
}

/// The number of columns of G; for rbf, whose rank is found later, an estimate for one numeric column.
Index output_columns(const ComponentKind& kind, const ChosenOutput& output) {
  if (!kind.supervised) return 0;
  return output.kernel == OutputKernel::delta ? output.count : output.kernel == OutputKernel::rbf ? 50 : 1;
}

/// The input of every route.
struct FitInput {
  const ComponentKind& kind;
  const Features& x;
  const RowDomains& groups;
  const Labels& y;
  const Kernel& kernel;
  const ChosenOutput& output;
  const ComponentStageOptions& options;
  const ComponentOptions& solver;
};

struct Solved {
  ComponentProjection projection;
  Status status = {};
};

Solved solve_by_map(const FitInput& in, ComponentReport& report, const Context& context) {
  const LowRankFitRows rows{in.x, in.groups.index, in.groups.count, in.y, in.kind.supervised ? &in.output : nullptr};
  LowRankProjection found = low_rank_route(in.kind, rows, in.kernel, in.options, in.solver, report, context);
  context.note("{}: {} rows of {} domains, route low_rank{}: rank {}, map {}, residual {:.2g}", in.kind.name,
               report.rows, report.domains,
               in.options.route == ComponentRoute::automatic ? ", as the exact one would take long" : "", report.rank,
               report.map, report.residual);
  return {std::move(found)};
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
  return {std::move(found.map), std::move(status)};
}

/// Whether all rows are equal; stops at the first that differs.
bool equal_rows(const Features& x) {
  Scratch scratch;
  Eigen::RowVectorXd first;
  for (Index b = 0; b < x.blocks(); ++b) {
    const RowBlock block = x.block(b, scratch);
    if (b == 0) first = block.x.row(0);
    for (Index i = 0; i < block.x.rows(); ++i)
      if (!(block.x.row(i).array() == first.array()).all()) return false;
  }
  return true;
}

/// Equal rows have no components, whatever the kernel and the route.
Solved no_components(const Features& x, const Kernel& kernel) {
  ComponentMap map;
  map.kernel = kernel;
  map.rows = x.head(1).to_matrix();
  map.coefficients = Matrix(1, 0);
  map.bias = Vector(0);
  return {std::move(map)};
}

/// Runs a part of a fit. Errors of engines become those of the stage, and a non-finite value is named by its row in the
/// files; the low-rank route searches for it only then.
template <class Part>
auto as_stage(const ComponentKind& kind, const Features& x, const TrainView& view, const Context& context,
              Part&& part) {
  try {
    return part();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::option && error.kind() != ErrorKind::data) throw;
    if (error.code() == "non_finite") require_finite_features(kind.name, x, view.origin, context);
    const std::string_view text = error.what();
    if (text.starts_with(fmt::format("{}: ", kind.name))) throw;
    throw Error(error.kind(), error.code(), fmt::format("{}: {}", kind.name, text));
  }
}

template <class Options, const ComponentKind& kind>
StageResult fit_kind(const TrainView& view, const Options& options, const Context& context, FitCache&) {
  return fit_components(kind, view, options, context);
}

template <class Options>
std::shared_ptr<const Fitted> load_kind(const StageState& state, const Options& options, const StageInput& input) {
  return Components::load(state, options, input);
}

/// How components are learned from sums over rows.
template <class Options, const ComponentKind& kind>
SumsRoute sums_of_kind() {
  SumsRoute route;
  route.options = "route=low_rank map=fourier sigma=NUMBER";
  route.fit = [](const RowSums& sums, const OptionValues& values, const Context& context) {
    return fit_components_on_sums(kind, sums, read_options<Options>(values), context);
  };
  route.check = [](const OptionValues& values) { require_drawn_features(kind, read_options<Options>(values)); };
  route.drawn = [](const Features& x, const OptionValues& values, const Context& context) {
    return drawn_features(read_options<Options>(values), x, context);
  };
  return route;
}

}  // namespace

ComponentOptions solver_options(const ComponentKind& kind, const ComponentStageOptions& options) {
  return {.supervised = kind.supervised,
          .weight = kind.invariant ? options.weight.value.value_or(1) : 0,
          .relative = kind.invariant && options.weight.is_auto(),
          .lam = options.lam,
          .form = options.form,
          .scaling = options.scaling,
          .components = options.components};
}

Components::Components(ComponentProjection projection, ComponentCentre centre, ComponentReport report)
    : projection_(std::make_shared<const ComponentProjection>(std::move(projection))),
      centre_(centre),
      report_(std::move(report)) {}

Index Components::training_rows() const {
  const auto* exact = std::get_if<ComponentMap>(projection_.get());
  if (exact == nullptr) return held_rows(std::get<LowRankProjection>(*projection_).map());
  // Exact components of the linear kernel are directions, not rows.
  const bool directions = exact->kernel.kind == KernelKind::linear && exact->size() > 0;
  return directions ? 0 : exact->rows.rows();
}

Features Components::project(const Features& x, const Context& context) const {
  const Index cols = output_cols(x.cols());
  std::vector<std::string> names;
  for (Index j = 0; j < cols; ++j) names.push_back(fmt::format("z{}", j + 1));
  const auto project = [projection = projection_](ConstMatrixMap rows, MatrixView out) {
    std::visit([&](const auto& of) { of.project(rows, out); }, *projection);
  };
  return x.map(cols, std::move(names), project, context);
}

Features Components::transform(const Batch& batch, const Context& context) const {
  Features z = project(batch.x, context);
  const Index cols = z.cols();
  if (centre_ == ComponentCentre::train || z.rows() == 0) return z;
  const Vector sum = sum_blocks(z.blocks(), context, Vector(Vector::Zero(cols)), [&](Vector& into, Index b) {
    Scratch scratch;
    into += z.block(b, scratch).x.colwise().sum().transpose();
  });
  const Vector mean = sum / static_cast<double>(z.rows());
  return z.map(
      cols, z.names(), [mean](ConstMatrixMap in, MatrixView out) { out = in.rowwise() - mean.transpose(); }, context);
}

StageResult fit_components(const ComponentKind& kind, const TrainView& view, const ComponentStageOptions& options,
                           const Context& context) {
  const Index rows = kind.supervised ? view.labelled() : view.x.rows();
  const Features x = kind.supervised ? view.labelled_x() : view.x;
  if (rows < 2) data_error("too_few_rows", "{}: at least two rows are needed, got {}", kind.name, rows);
  const ComponentOptions solver = solver_options(kind, options);
  const RowDomains groups = domains_of(view, rows);
  ComponentReport report;
  report.rows = rows;
  report.domains = groups.count;
  ChosenOutput output;
  if (kind.supervised) output = choose_output(kind, view.y, options, report, context);
  const RouteSize size{rows, x.cols(), groups.count, output_columns(kind, output), context.threads()};
  const ComponentRoute route = route_of(kind, solver, options.route, size, context);
  const bool equal = equal_rows(x);
  report.route = equal ? "none" : name_of(route);
  if (route != ComponentRoute::low_rank || equal) require_finite_features(kind.name, x, view.origin, context);

  const auto make_kernel = [&] { return kernel_of(kind, options, x, equal, report, context); };
  const Kernel kernel = as_stage(kind, x, view, context, make_kernel);
  const FitInput input{kind, x, groups, view.y, kernel, output, options, solver};
  Solved found = as_stage(kind, x, view, context, [&] {
    if (equal) return no_components(x, kernel);
    if (route == ComponentRoute::low_rank) return solve_by_map(input, report, context);
    return solve_exactly(input, route, report, context);
  });
  const ComponentFit fit{kind, options, x, kernel, output, report, equal};
  warn_of_components(fit, context);
  note_unread_options(fit, context);
  const auto fitted = std::make_shared<Components>(std::move(found.projection), options.centre, std::move(report));
  // Training rows are centred at the training mean, even if new rows are centred at their batch.
  TrainView next = view;
  next.x = fitted->project(view.x, context);
  next.kernel_coordinates = true;
  return {fitted, std::move(next), std::move(found.status)};
}

namespace {

constexpr const char* no_rows = "route=low_rank map=fourier holds random frequencies instead";

}  // namespace

Method kpca_method() {
  return make_method<KpcaOptions, fit_kind<KpcaOptions, kpca>, load_kind<KpcaOptions>>(
      {.name = "kpca",
       .family = Family::represent,
       .summary = "Kernel principal components, learned from all rows without labels.",
       .when = "to make linear learners curved, or to reduce many correlated columns (kernel=linear: principal "
               "components).",
       .example = "impute | scale | kpca components=10 route=low_rank | logistic",
       .citation = "schoelkopf1998",
       .routes = {{Route::streamed, "route=low_rank"}, {Route::ranks, "route=low_rank"}},
       .without_rows = no_rows,
       .sums = sums_of_kind<KpcaOptions, kpca>()});
}

Method udica_method() {
  return make_method<UdicaOptions, fit_kind<UdicaOptions, udica>, load_kind<UdicaOptions>>(
      {.name = "udica",
       .family = Family::represent,
       .summary = "Kernel components that vary much over rows and little over domain means, learned from all rows "
                  "without labels.",
       .when = "when domains differ in their means in ways that do not matter, and labels are few or come later.",
       .example = "impute | scale | udica components=10 route=low_rank | logistic",
       .citation = "muandet2013",
       .routes = {{Route::streamed, "route=low_rank"}, {Route::ranks, "route=low_rank"}},
       .without_rows = no_rows,
       .sums = sums_of_kind<UdicaOptions, udica>()});
}

Method coir_method() {
  return make_method<CoirOptions, fit_kind<CoirOptions, coir>, load_kind<CoirOptions>>(
      {.name = "coir",
       .family = Family::represent,
       .summary = "Kernel components that the labels explain, learned from labelled rows.",
       .when = "when few directions of many columns carry the label and domains differ little.",
       .example = "impute | scale | coir components=5 route=low_rank | logistic",
       .citation = "kim2011",
       .routes = {{Route::streamed, "route=low_rank"}, {Route::ranks, "route=low_rank"}},
       .learns = Learns::labels,
       .without_rows = no_rows,
       .sums = sums_of_kind<CoirOptions, coir>()});
}

Method dica_method() {
  return make_method<DicaOptions, fit_kind<DicaOptions, dica>, load_kind<DicaOptions>>(
      {.name = "dica",
       .family = Family::represent,
       .summary = "Kernel components that the labels explain and that vary little over domain means, learned from "
                  "labelled rows.",
       .when = "when several labelled domains differ in ways that the label does not depend on, and the next one may "
               "differ again.",
       .example = "impute | scale | dica components=5 route=low_rank | logistic",
       .citation = "muandet2013",
       .routes = {{Route::streamed, "route=low_rank"}, {Route::ranks, "route=low_rank"}},
       .learns = Learns::labels,
       .without_rows = no_rows,
       .sums = sums_of_kind<DicaOptions, dica>()});
}

}  // namespace ecotone
