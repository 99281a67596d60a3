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

GpChoice choose_by_rows(const TrainView& view, const Matrix& x, const Kernel& kernel, const GpOptions& options,
                        const Context& context) {
  GpFoldProblem problem{view, options.mean, x, given_parameters(options), {}, {}};
  for (const double factor : sigma_factors(kernel, options)) problem.widths.push_back({factor, 1});
  problem.gram = [&](const GpWidths& w) { return kernel_gram(widened(kernel, w.sigma), x, context); };
  GpFoldChoice found = choose_by_folds(problem, context);
  found.choice.parameters.sigma = kernel.sigma * found.widths.sigma;
  return std::move(found.choice);
}

/// Every width of rows has embeddings and a floored width of its own, which the factors of sigma1 multiply.
DistributionalChoice choose_by_domains(const TrainView& view, const DomainSample& sample, const Kernel& kernel,
                                       const GpOptions& options, const Context& context) {
  GpFoldProblem problem{view, options.mean, sample.x, given_parameters(options), {}, {}};
  const bool free = options.sigma1.is_auto() && sample.names.size() > 1;
  for (const double factor : sigma_factors(kernel, options))
    for (const double factor1 : gp_sigma1_factors)
      if (free || factor1 == 1) problem.widths.push_back({factor, factor1});
  const auto sigma1_of = [&](const GpWidths& w, const MeanEmbeddings& means) {
    return options.sigma1.value.value_or(domain_width(means).sigma * w.sigma1);
  };
  problem.gram = [&](const GpWidths& w) {
    const Kernel k2 = widened(kernel, w.sigma);
    const double sigma1 = sigma1_of(w, mean_embeddings(k2, sample.rows(), context));
    const DistributionFit fit = fit_distribution_kernel(k2, sample.rows(), sigma1, context);
    return fit.kernel.gram(fit.k1, context);
  };
  GpFoldChoice found = choose_by_folds(problem, context);
  const Kernel k2 = widened(kernel, found.widths.sigma);
  found.choice.parameters.sigma = k2.sigma;
  return {std::move(found.choice), sigma1_of(found.widths, mean_embeddings(k2, sample.rows(), context))};
}

/// The parameters, and the kernel that belongs to them.
struct Distributional {
  GpChoice choice;
  DistributionFit domains;
};

Distributional distributional(const TrainView& view, const DomainSample& sample, Kernel kernel,
                              const GpOptions& options, const Context& context) {
  const auto domains_at = [&](double sigma1) {
    const AutoNumber given = sigma1 > 0 ? AutoNumber{sigma1} : options.sigma1;
    return fit_domain_kernel("gp", kernel, sample, given, context);
  };
  const bool constant = constant_labels(view.y.value);
  if (options.fit == GpFitRule::cv && !constant) {
    DistributionalChoice found = choose_by_domains(view, sample, kernel, options, context);
    kernel.sigma = found.choice.parameters.sigma;
    return {std::move(found.choice), domains_at(found.sigma1)};
  }
  DistributionFit domains = domains_at(0);
  const Matrix gram = domains.kernel.gram(domains.k1, context);
  const GpProblem problem{GpRows(gram), view.y.value, sample.x, options.mean, "gp", gp_weights(view)};
  GpChoice choice = choose_by_likelihood(problem, options, context);
  choice.parameters.sigma = kernel.sigma;
  return {std::move(choice), std::move(domains)};
}

}  // namespace

GpChoice choose_gp(const TrainView& view, const Kernel& kernel, const GpOptions& options, const Context& context) {
  const Matrix x = view.labelled_x().to_matrix();
  if (options.fit == GpFitRule::cv && !constant_labels(view.y.value))
    return choose_by_rows(view, x, kernel, options, context);
  const GpProblem problem{GpRows(kernel, x), view.y.value, x, options.mean, "gp", gp_weights(view)};
  return choose_by_likelihood(problem, options, context);
}

DistributionalChoice choose_distributional_gp(const TrainView& view, const Kernel& kernel, const GpOptions& options,
                                              const Context& context) {
  const DomainSample sample = labelled_sample(view);
  Distributional found = distributional(view, sample, kernel, options, context);
  return {std::move(found.choice), found.domains.kernel.sigma1()};
}

GpFitted fit_exact_gp(const TrainView& view, const GpOptions& options, const Context& context) {
  Kernel kernel = learner_kernel(kernel_options(options), view, context);
  const GpChoice choice = choose_gp(view, kernel, options, context);
  kernel.sigma = choice.parameters.sigma;
  Matrix x = view.labelled_x().to_matrix();
  const GpProblem problem{GpRows(kernel, x), view.y.value, x, options.mean, "gp", gp_weights(view)};
  GpFit fit = fit_gp(problem, choice.parameters, context);
  return fitted_of({kernel, std::move(x), {}, std::move(fit)}, choice);
}

GpFitted fit_distributional_gp(const TrainView& view, const GpOptions& options, const Context& context) {
  Kernel kernel = learner_kernel(kernel_options(options), view, context);
  const DomainSample sample = labelled_sample(view);
  Distributional found = distributional(view, sample, kernel, options, context);
  kernel.sigma = found.choice.parameters.sigma;
  const Matrix gram = found.domains.kernel.gram(found.domains.k1, context);
  const GpProblem problem{GpRows(gram), view.y.value, sample.x, options.mean, "gp", gp_weights(view)};
  GpFit fit = fit_gp(problem, found.choice.parameters, context);
  return fitted_of({kernel, {}, std::move(found.domains.kernel), std::move(fit)}, found.choice);
}

}  // namespace ecotone
