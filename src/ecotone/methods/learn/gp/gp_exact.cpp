#include <memory>
#include <optional>
#include <utility>

#include "ecotone/methods/learn/domain_sample.h"
#include "ecotone/methods/learn/gp/gp_fit.h"
#include "ecotone/methods/learn/gp/gp_folds.h"
#include "ecotone/methods/learn/learner_kernel.h"

namespace ecotone {
namespace {

GpFitted fitted_of(ExactGp gp, const GpChoice& choice) {
  const GpNotes notes{.rows = gp.fit.alpha.rows(), .evaluations = choice.evaluations, .at_bound = choice.at_bound};
  return {std::move(gp), notes, choice.status};
}

/// The factors of sigma to try.
std::vector<double> sigma_factors(const Kernel& kernel, const GpOptions& options) {
  if (!width_is_free(kernel, options)) return {1};
  return {gp_sigma_factors.begin(), gp_sigma_factors.end()};
}

Kernel widened(Kernel kernel, double factor) {
  kernel.sigma *= factor;
  return kernel;
}

GpChoice choose_by_rows(const TrainView& view, const Refits* refits, const Matrix& x, const Kernel& kernel,
                        const GpOptions& options, const Context& context) {
  GpFoldProblem problem{view, options.mean, x, given_parameters(options), {}, {}, refits};
  for (const double factor : sigma_factors(kernel, options)) problem.widths.push_back({factor, 1});
  problem.gram = [&](ConstMatrixView rows) -> GpGram {
    return [&, rows](const GpWidths& w) { return kernel_gram(widened(kernel, w.sigma), rows, context); };
  };
  GpFoldChoice found = choose_by_folds(problem, context);
  found.choice.parameters.sigma = kernel.sigma * found.widths.sigma;
  return std::move(found.choice);
}

/// Every width of rows has embeddings and a median distance of its own, which the factors of sigma1 multiply.
DistributionalChoice choose_by_domains(const TrainView& view, const Refits* refits, const DomainSample& sample,
                                       const Kernel& kernel, const GpOptions& options, const Context& context) {
  GpFoldProblem problem{view, options.mean, sample.x, given_parameters(options), {}, {}, refits};
  const auto domains = std::ssize(sample.names);
  const bool free = options.sigma1.is_auto() && domains > 1;
  for (const double factor : sigma_factors(kernel, options))
    for (const double factor1 : gp_sigma1_factors)
      if (free || factor1 == 1) problem.widths.push_back({factor, factor1});
  problem.gram = [&](ConstMatrixView rows) -> GpGram {
    // Embeddings depend on sigma alone, so candidates that follow each other share them.
    auto fit = std::make_shared<std::optional<DistributionFit>>();
    return [&, rows, fit](const GpWidths& w) {
      const Kernel k2 = widened(kernel, w.sigma);
      if (!*fit || (*fit)->kernel.row_kernel().sigma != k2.sigma)
        fit->emplace(
            fit_distribution_kernel(k2, {rows, sample.domain, domains}, options.sigma1.value.value_or(0), context));
      const DistributionFit& found = **fit;
      if (!options.sigma1.is_auto()) return found.kernel.gram(found.k1, context);
      return found.kernel.gram(domain_kernel(found.means.squared, domain_width(found.means, w.sigma1).sigma), context);
    };
  };
  GpFoldChoice found = choose_by_folds(problem, context);
  found.choice.parameters.sigma = kernel.sigma * found.widths.sigma;
  return {std::move(found.choice), found.widths.sigma1};
}

}  // namespace

GpChoice choose_gp(const TrainView& view, const Refits* refits, const Kernel& kernel, const GpOptions& options,
                   const Context& context) {
  const Matrix x = view.labelled_x().to_matrix();
  if (options.fit == GpFitRule::cv && !constant_labels(view.y.value))
    return choose_by_rows(view, refits, x, kernel, options, context);
  const GpProblem problem{GpRows(kernel, x), view.y.value, x, options.mean, "gp", gp_weights(view)};
  return choose_by_likelihood(problem, options, context);
}

DistributionalChoice choose_distributional_gp(const TrainView& view, const Refits* refits, const Kernel& kernel,
                                              const GpOptions& options, const Context& context) {
  return choose_by_domains(view, refits, labelled_sample(view), kernel, options, context);
}

GpFitted fit_exact_gp(const TrainView& view, const Refits* refits, const GpOptions& options, const Context& context) {
  Kernel kernel = learner_kernel(kernel_options(options), view, context);
  const GpChoice choice = choose_gp(view, refits, kernel, options, context);
  kernel.sigma = choice.parameters.sigma;
  Matrix x = view.labelled_x().to_matrix();
  const GpProblem problem{GpRows(kernel, x), view.y.value, x, options.mean, "gp", gp_weights(view)};
  GpFit fit = fit_gp(problem, choice.parameters, context);
  return fitted_of({kernel, std::move(x), {}, std::move(fit)}, choice);
}

GpFitted fit_distributional_gp(const TrainView& view, const Refits* refits, const GpOptions& options,
                               const Context& context) {
  Kernel kernel = learner_kernel(kernel_options(options), view, context);
  const DomainSample sample = labelled_sample(view);
  const bool by_folds = options.fit == GpFitRule::cv && !constant_labels(view.y.value);
  double sigma1_factor = 1;
  GpChoice choice;
  if (by_folds) {
    DistributionalChoice found = choose_by_domains(view, refits, sample, kernel, options, context);
    choice = std::move(found.choice);
    kernel.sigma = choice.parameters.sigma;
    sigma1_factor = found.sigma1_factor;
  }
  DistributionFit domains = fit_domain_kernel("gp", kernel, sample, options.sigma1, context, sigma1_factor);
  const Matrix gram = domains.kernel.gram(domains.k1, context);
  const GpProblem problem{GpRows(gram), view.y.value, sample.x, options.mean, "gp", gp_weights(view)};
  if (!by_folds) choice = choose_by_likelihood(problem, options, context);
  choice.parameters.sigma = kernel.sigma;
  GpFit fit = fit_gp(problem, choice.parameters, context);
  return fitted_of({kernel, {}, std::move(domains.kernel), std::move(fit)}, choice);
}

}  // namespace ecotone
