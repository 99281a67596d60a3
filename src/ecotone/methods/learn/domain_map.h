#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ecotone/kernels/distribution_map.h"
#include "ecotone/methods/method.h"

/// What the learners with `distributional=true` share on their low-rank routes; beside domain_sample.h.
namespace ecotone {

/// Rows in memory or on disk, the domain of each and the domains' names.
struct DomainRowsOf {
  Features x;
  std::vector<std::int32_t> domain;
  std::vector<std::string> names;

  DomainFeatures rows() const { return {x, domain, static_cast<Index>(names.size())}; }
};

/// The labelled rows of a view; domains without one are left out.
DomainRowsOf labelled_rows(const TrainView& view);
/// The rows of a batch; without domains it is one domain.
DomainRowsOf batch_rows(const Batch& batch);

/// fit_distribution_map of training rows, with the warnings of fit_domain_kernel.
DistributionMapFit fit_domain_map(const char* who, const Kernel& kernel, const DomainRowsOf& rows,
                                  const AutoNumber& sigma1, const LowRankOptions& options, const Context& context,
                                  double sigma1_factor = 1);
/// Warning `rough_map`: a map that leaves out more than a tenth of the kernel's trace.
void warn_of_rough_map(const char* who, Index rank, double residual, const Context& context);
/// phi of the rows of a batch, after one pass over the domains' samples, with the warnings of batch_domain_kernel.
Features batch_domain_map(const char* who, const DistributionMap& map, const DomainRowsOf& rows,
                          const Context& context);

/// A low-rank map of landmarks under the names PREFIX_origin, PREFIX_landmarks and PREFIX_factor; nothing where it has
/// none.
void save_landmarks(const std::string& prefix, const LowRankMap& map, StageState& state);
/// File error `bad_model` when it is missing or invalid. `cols` are those of the landmarks; negative: any.
LowRankMap load_landmarks(const std::string& prefix, const Kernel& kernel, const StageState& state, Index cols);

/// Under the names `sigma1`, `domain_centre`, `domain_basis`, `domain_coordinates`, `mean_origin` (linear kernel),
/// and the landmarks of `mean` (embeddings), `domain` (k1) and `row`.
void save_domain_map(const DistributionMap& map, StageState& state);
/// File error `bad_model` when it is missing or invalid. `cols` are those of the rows.
DistributionMap load_domain_map(const Kernel& kernel, const StageState& state, Index cols);

}  // namespace ecotone
