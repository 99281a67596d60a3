#include "ecotone/methods/represent/components/components.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/solve/exact_components.h"

namespace ecotone {
namespace {

constexpr ComponentKind kpca{"kpca", false, false};
constexpr ComponentKind udica{"udica", false, true};
constexpr ComponentKind coir{"coir", true, false};
constexpr ComponentKind dica{"dica", true, true};

/// Below this, a row's similarities to all others together are nothing beside its own.
constexpr double no_similarity = 1e-6;
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

Kernel kernel_of(const ComponentStageOptions& options, ConstMatrixView x, ComponentReport& report,
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

/// Classes as delta unless numbers are asked for; numbers as rbf.
OutputFactor output_of(const ComponentKind& kind, const Labels& y, const ComponentStageOptions& options,
                       ComponentReport& report, const Context& context) {
  const bool classes = y.task == Task::classify;
  OutputKernel wanted = options.output_kernel;
  if (wanted == OutputKernel::automatic) wanted = classes ? OutputKernel::delta : OutputKernel::rbf;
  if (!classes && !y.value.allFinite()) data_error("non_finite", "{}: the labels hold an infinite value", kind.name);
  report.output_kernel = wanted == OutputKernel::delta ? "delta" : wanted == OutputKernel::rbf ? "rbf" : "linear";
  if (classes) {
    if (wanted != OutputKernel::delta)
      option_error("bad_option",
                   "{}: output_kernel={} needs numbers, the labels are {} classes; use delta or --task "
                   "regress",
                   kind.name, report.output_kernel, y.classes.size());
    return delta_output(y.index, static_cast<Index>(y.classes.size()));
  }
  if (wanted == OutputKernel::linear) return linear_output(y.value);
  if (wanted == OutputKernel::rbf) {
    report.output_sigma = options.output_sigma.value.value_or(0);
    if (options.output_sigma.is_auto()) report.output_sigma = median_bandwidth(ConstMatrixView(y.value), context).sigma;
    return rbf_output(y.value, report.output_sigma, context);
  }
  // Equal numbers are one class.
  std::map<double, std::int32_t> order;
  for (const double value : y.value) order.emplace(value, 0);
  std::int32_t next = 0;
  for (auto& entry : order) entry.second = next++;
  std::vector<std::int32_t> index;
  for (const double value : y.value) index.push_back(order.at(value));
  return delta_output(index, next);
}

ExactRoute route_of(const ComponentKind& kind, const ComponentOptions& options, ComponentRoute wanted) {
  if (wanted == ComponentRoute::cholesky) return ExactRoute::cholesky;
  if (wanted == ComponentRoute::matvec) return ExactRoute::matvec;
  if (route_applies(options, ExactRoute::matvec)) return ExactRoute::matvec;
  if (!route_applies(options, ExactRoute::cholesky))
    option_error("bad_option", "{}: form=paper needs lam > 0, got {}; use form=symmetric", kind.name, options.lam);
  return ExactRoute::cholesky;
}

ComponentOptions solver_options(const ComponentKind& kind, const ComponentStageOptions& options) {
  return {.supervised = kind.supervised,
          .weight = kind.invariant ? options.weight : 0,
          .lam = options.lam,
          .form = options.form,
          .scaling = options.scaling,
          .components = options.components};
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

void warn_of_spectrum(const ComponentKind& kind, const ComponentStageOptions& options, const ExactComponents& found,
                      const Kernel& kernel, const Context& context) {
  const ComponentSpectrum& spectrum = found.spectrum;
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
  if (shift_invariant(kernel) && found.similarity < no_similarity)
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

Components::Components(ComponentMap map, ComponentCentre centre, ComponentReport report)
    : map_(std::make_shared<const ComponentMap>(std::move(map))), centre_(centre), report_(std::move(report)) {}

Features Components::transform(const Batch& batch, const Context& context) const {
  const Index cols = map_->size();
  std::vector<std::string> names;
  for (Index j = 0; j < cols; ++j) names.push_back(fmt::format("z{}", j + 1));
  Features z = batch.x.map(
      cols, names, [map = map_](ConstMatrixMap x, MatrixView out) { map->project(x, out); }, context);
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
  const ExactRoute route = route_of(kind, solver, options.route);
  const Groups groups = groups_of(view, rows);
  const Matrix x = features.to_matrix();
  ComponentReport report;
  report.rows = rows;
  report.domains = groups.count;
  report.route = route == ExactRoute::cholesky ? "cholesky" : "matvec";
  const Kernel kernel = kernel_of(options, x, report, context);
  OutputFactor output;
  if (kind.supervised) output = output_of(kind, view.y, options, report, context);
  const ComponentProblem problem{.who = kind.name,
                                 .x = {x.data(), x.rows(), x.cols(), Eigen::OuterStride<>(x.cols())},
                                 .kernel = kernel,
                                 .group = groups.index,
                                 .groups = groups.count,
                                 .output = &output,
                                 .epsilon = options.epsilon};
  ExactComponents found = exact_components(problem, solver, route, context);
  report.spectrum = found.spectrum;
  context.note("{}: {} rows of {} domains, route {}", kind.name, rows, groups.count, report.route);
  warn_of_spectrum(kind, options, found, kernel, context);
  warn_of_invariance(kind, options, report, context);
  Status status;
  if (!found.converged) status = {false, "the eigenvectors did not reach full accuracy"};
  return pass_on(std::make_shared<Components>(std::move(found.map), options.centre, std::move(report)), view, context,
                 std::move(status));
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
