#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ecotone/methods/domain_samples.h"
#include "ecotone/methods/represent/align/align_options.h"
#include "ecotone/methods/sums/summed_domains.h"
#include "ecotone/methods/sums/sums_route.h"
#include "ecotone/solve/alignment/group_moments.h"

namespace ecotone {

/// Rows mapped by the shift of their domain: those of places 0, 1, ... are `known`, then `fresh`. The result for a row
/// depends on the row and its domain alone.
Features shifted_by_place(const Features& x, std::vector<std::int32_t> place,
                          std::shared_ptr<const std::vector<GroupShift>> known, std::vector<GroupShift> fresh,
                          std::vector<std::string> names, const Context& context);

/// The moments of the rows of new domains in a batch. Data error `non_finite`.
std::vector<GroupMoments> fresh_moments(const char* who, const Batch& batch, const PlacedRows& placed,
                                        const Context& context);

/// The prior under the names shared_mean, shared_covariance, between and kappa.
void save_prior(const MomentPrior& prior, StageState& state);
/// File error `bad_model`.
MomentPrior load_prior(const StageState& state, Index cols);

/// Linear maps of domains to a reference: to the moments of the target, or to the barycentre of the sources.
class Align : public Fitted {
 public:
  struct Parts {
    std::string who;
    std::vector<std::string> names;  ///< domains of training
    Vector rows;
    std::vector<GroupShift> shifts;
    MomentPrior prior;
    std::vector<SampleDistance> samples;  ///< for people
    AlignTo to = AlignTo::target;
    Vector reference_mean;
    Matrix reference;  ///< covariance
  };

  Align(Parts parts, const AlignOptions& options);

  static StageResult fit(const char* who, const TrainView& view, const AlignOptions& options, const Context& context);
  static SumsResult fit_on_sums(const char* who, const RowSums& sums, const AlignOptions& options,
                                const Context& context);
  static std::shared_ptr<const Fitted> load(const char* who, const StageState& state, const AlignOptions& options,
                                            const StageInput& input);

  const Parts& parts() const { return *parts_; }
  Features transform(const Batch& batch, const Context& context) const override;
  bool needs_domain_sample() const override { return options_.fresh == NewDomain::sample; }
  StageState save() const override;

 private:
  /// What is fitted to the moments of all domains.
  static Parts parts_of(const char* who, SummedDomains domains, const AlignOptions& options, Status& status,
                        const Context& context);

  std::shared_ptr<const Parts> parts_;  ///< shared with the features that transform gives
  AlignOptions options_;
};

}  // namespace ecotone
