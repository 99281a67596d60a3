#include "ecotone/methods/represent/components/component_messages.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

namespace ecotone {
namespace {

/// w tr(KQ) bounds the fraction by which invariance lowers an eigenvalue.
constexpr double weak = 0.1;
/// tr(KQ) below this fraction of the mean k(x, x) counts as rounding.
constexpr double message_rounding = 1e-12;
/// Rows with a larger k(x, z) are near each other.
constexpr double near = 1e-3;
/// If a smaller share of the rows is near another one, the Gram matrix counts as the identity.
constexpr double few_near = 0.05;
/// Number of rows whose neighbours are searched for, and of rows searched.
constexpr Index probes = 200;
constexpr Index others = 5000;

/// The share of rows that are near another one, from rows drawn by the seed if there are many.
double share_near(const Features& x, const Kernel& kernel, const Context& context) {
  Random random = context.random("components.near");
  std::vector<Index> rows(at(x.rows()));
  std::iota(rows.begin(), rows.end(), Index{0});
  if (x.rows() > others) rows = random.sample(x.rows(), others);
  const Matrix all = x.copy(rows);
  const Index looked = std::min(probes, all.rows());
  const std::vector<Index> chosen = random.sample(all.rows(), looked);
  Matrix probe(looked, all.cols());
  for (Index i = 0; i < looked; ++i) probe.row(i) = all.row(chosen[at(i)]);
  Matrix k = kernel_gram(kernel, probe, all, context);
  Index found = 0;
  for (Index i = 0; i < looked; ++i) {
    k(i, chosen[at(i)]) = 0;
    if (k.row(i).maxCoeff() > near) ++found;
  }
  return static_cast<double>(found) / static_cast<double>(looked);
}

/// The mean of k(x, x) over the first rows, centred at their mean for the linear kernel.
double mean_diagonal(const Features& x, const Kernel& kernel) {
  if (shift_invariant(kernel)) return 1;
  Matrix rows = x.head(std::min(probes, x.rows())).to_matrix();
  if (kernel.kind == KernelKind::linear) rows.rowwise() -= rows.colwise().mean().eval();
  return kernel_diagonal(kernel, rows).mean();
}

void warn_of_invariance(const ComponentFit& fit, const Context& context) {
  const ComponentKind& kind = fit.kind;
  if (!kind.invariant || fit.equal_rows) return;
  const double weight = fit.report.spectrum.weight.value_or(0);
  const double tr_kq = fit.report.spectrum.tr_kq;
  const char* plain = kind.supervised ? "coir" : "kpca";
  if (fit.report.domains < 2) {
    context.warn("one_domain",
                 "{}: all rows are of one domain, so there is nothing to be invariant to; the result is that of {}",
                 kind.name, plain);
  } else if (tr_kq <= message_rounding * mean_diagonal(fit.x, fit.kernel)) {
    context.warn("weak_invariance",
                 "{}: the domain means do not differ under this kernel, so there is nothing to be invariant to; the "
                 "result is that of {}",
                 kind.name, plain);
  } else if (weight * tr_kq < weak) {
    context.warn("weak_invariance",
                 "{}: at weight {} the invariance term has almost no effect: weight x tr(KQ) is {:.2g}; use a weight "
                 "of at least "
                 "1 / tr(KQ) = {:.3g}",
                 kind.name, weight, weight * tr_kq, 1 / tr_kq);
  }
}

/// Why there are fewer components than asked for.
std::string reason(const ComponentFit& fit) {
  const Index size = fit.report.spectrum.size();
  if (fit.equal_rows) return "all rows are equal";
  if (fit.report.spectrum.most_negative < 0)
    return "the paper's form has negative eigenvalues here; form=symmetric has none";
  if (fit.kind.supervised) {
    const bool delta = fit.output.kernel == OutputKernel::delta;
    if (fit.output.constant) return "the labels are all equal and explain nothing";
    if (delta && size == fit.output.count - 1)
      return fmt::format("labels of {} classes explain at most {}", fit.output.count, size);
    if (fit.output.kernel == OutputKernel::linear && size == 1)
      return "labels under output_kernel=linear explain at most 1";
  }
  if (size == fit.report.rows - 1) return fmt::format("{} rows allow no more", fit.report.rows);
  return size == 0 ? "no eigenvalue is above rounding" : "the other eigenvalues are below 1e-10 of the largest";
}

void warn_of_count(const ComponentFit& fit, const Context& context) {
  const Index size = fit.report.spectrum.size();
  const Index wanted = fit.options.components;
  if (size >= wanted) return;
  const std::string text = fmt::format("{}: there {} only {} component{}, not {}: {}", fit.kind.name,
                                       size == 1 ? "is" : "are", size, size == 1 ? "" : "s", wanted, reason(fit));
  // Two classes have one component: no warning unless the user asked for more.
  if (size > 0 && wanted == ComponentStageOptions{}.components) {
    context.note("{}", text);
  } else {
    context.warn(size == 0 ? "no_components" : "fewer_components", "{}", text);
  }
}

}  // namespace

void warn_of_components(const ComponentFit& fit, const Context& context) {
  warn_of_count(fit, context);
  if (fit.report.spectrum.complex_pair)
    context.warn("complex_pair",
                 "{}: a pair of eigenvalues is complex; its two components span a plane but are not two directions; "
                 "form=symmetric has none",
                 fit.kind.name);
  // A median sigma has half of the pairs of rows within it, so only a given one is checked.
  if (shift_invariant(fit.kernel) && !fit.options.sigma.is_auto() && !fit.equal_rows) {
    const double share = share_near(fit.x, fit.kernel, context);
    if (share < few_near)
      context.warn("sigma_too_small",
                   "{}: at sigma {:.4g} only {:.2g}% of the rows are near another one (k > {}), so the Gram matrix is "
                   "nearly the identity; use a larger sigma",
                   fit.kind.name, fit.kernel.sigma, 100 * share, near);
  }
  warn_of_invariance(fit, context);
}

void note_unread_options(const ComponentFit& fit, const Context& context) {
  const ComponentStageOptions& options = fit.options;
  const ComponentStageOptions defaults;
  std::vector<std::string> unread;
  const auto add = [&](bool read, bool given, const char* name) {
    if (given && !read) unread.emplace_back(name);
  };
  const bool poly = options.kernel == KernelKind::poly;
  const bool low_rank = fit.report.route == "low_rank";
  add(shift_invariant(fit.kernel), !options.sigma.is_auto(), "sigma");
  add(poly, options.degree != defaults.degree, "degree");
  add(poly, options.coef0 != defaults.coef0, "coef0");
  add(poly, options.scale != defaults.scale, "scale");
  add(low_rank, options.rank != defaults.rank, "rank");
  add(low_rank, options.map != defaults.map, "map");
  add(low_rank, options.residual != defaults.residual, "residual");
  add(fit.kind.supervised && fit.output.kernel == OutputKernel::rbf, !options.output_sigma.is_auto(), "output_sigma");
  if (unread.empty() || fit.equal_rows) return;
  context.note("{}: {} {} nothing under kernel={} and route={}", fit.kind.name, fmt::join(unread, ", "),
               unread.size() == 1 ? "changes" : "change", kernel_name(options.kernel), fit.report.route);
}

}  // namespace ecotone
