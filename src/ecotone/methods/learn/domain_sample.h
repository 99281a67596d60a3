#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ecotone/kernels/distribution_kernel.h"
#include "ecotone/methods/method.h"

/// What the learners with `distributional=true` share: rows and the sample of each domain, the kernel on both, and its
/// warnings.
namespace ecotone {

/// Rows in memory and the domain of each, 0 .. names.size() - 1.
struct DomainSample {
  Matrix x;
  std::vector<std::int32_t> domain;
  std::vector<std::string> names;

  DomainRows rows() const { return {x, domain, static_cast<Index>(names.size())}; }
};

/// The domain of each row, and the domains' names.
struct DomainNumbers {
  std::vector<std::int32_t> domain;
  std::vector<std::string> names;
};

/// Of the labelled rows of a view; domains without one are left out.
DomainNumbers domains_of_labelled(const TrainView& view);
/// Of the rows of a batch; without domains it is one domain.
DomainNumbers batch_domains(const Batch& batch);

/// The labelled rows of a view; domains without one are left out.
DomainSample labelled_sample(const TrainView& view);
/// The rows of a batch; without domains it is one domain.
DomainSample batch_sample(const Batch& batch);

/// Warnings: `one_domain` (k1 of training is 1, so nothing is learned about domains), `domain_width_floored` (the
/// domains are closer to each other than samples of one distribution, or than a quarter of the spread within them),
/// `domain_width_fallback` (all rows are equal).
void warn_of_training_domains(const char* who, const std::vector<std::string>& names, const DomainWidth& width,
                              const Context& context);
/// fit_distribution_kernel on a sample of training rows, with these warnings.
DistributionFit fit_domain_kernel(const char* who, const Kernel& kernel, const DomainSample& sample,
                                  const AutoNumber& sigma1, const Context& context, double sigma1_factor = 1);

/// k1 of the domains of a batch (down) and those of training (across), with warnings: `one_row_domain` (its sample is
/// that row alone), `unlike_any_domain` (all k1 of a domain are below 0.01, so predictions there are near the offset).
Matrix batch_domain_kernel(const char* who, const DistributionKernel& kernel, const DomainSample& sample,
                           const Context& context);
/// The same warnings for k1 that was computed in another way; `rows` counts the rows of each domain.
void warn_of_batch_domains(const char* who, ConstMatrixView k1, const Vector& rows,
                           const std::vector<std::string>& names, const Context& context);

/// The rows of training, their domains, ||mu||^2 of each and sigma1, under the names `domain_rows`, `domain_of_row`,
/// `domain_norms` and `sigma1`.
void save_domain_kernel(const DistributionKernel& kernel, StageState& state);
/// Numbers of domains, under a name.
void save_domains(std::span<const std::int32_t> domain, const std::string& name, StageState& state);
/// Numbers of domains under a name, below `count`. File error `bad_model`.
std::vector<std::int32_t> load_domains(const StageState& state, const std::string& name, Index size, Index count);
/// File error `bad_model` when it is missing or invalid. `cols` are those of the rows.
DistributionKernel load_domain_kernel(const Kernel& kernel, const StageState& state, Index cols);

}  // namespace ecotone
