#pragma once

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/represent/align/align.h"
#include "ecotone/solve/alignment/subspace.h"

namespace ecotone {

struct SubspaceOptions {
  AutoNumber components;
  bool pool_sources = false;
  NewDomain fresh = NewDomain::sample;

  static constexpr auto fields() {
    using O = SubspaceOptions;
    return std::tuple{
        field("components", &O::components,
              "Directions m that are kept; auto: as many as hold 90% of the target's variance, fewer than its rows. As "
              "many as there are columns: a rotation, which changes nothing else",
              between(1.0, 5000.0)),
        field("pool_sources", &O::pool_sources,
              "One basis for all source rows, in place of one for each source domain"),
        field(
            "new", &O::fresh,
            "A domain that training did not have gets a basis from its rows in the batch (m + 1 or more); pooled: the "
            "target's, so that the answer for a row does not depend on others",
            one_of("sample", "pooled"))};
  }
};

/// Principal directions of every domain, aligned with those of the target, or of the rows within all domains where
/// there is no target: z = (x - m) P P' P_t.
class Subspace : public Fitted {
 public:
  struct Parts {
    std::vector<std::string> names;  ///< domains of training
    Vector rows;
    std::vector<GroupShift> shifts;
    MomentPrior prior;
    PrincipalBasis target;  ///< only its first m directions, and all variances
  };

  Subspace(Parts parts, const SubspaceOptions& options);

  static StageResult fit(const TrainView& view, const SubspaceOptions& options, const Context& context,
                         FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const SubspaceOptions& options,
                                            const StageInput& input);

  const Parts& parts() const { return *parts_; }
  Index directions() const { return parts_->target.vectors.cols(); }
  Features transform(const Batch& batch, const Context& context) const override;
  Index output_cols(Index) const override { return directions(); }
  bool needs_domain_sample() const override { return options_.fresh == NewDomain::sample; }
  StageState save() const override;

 private:
  std::shared_ptr<const Parts> parts_;  ///< shared with the features that transform gives
  SubspaceOptions options_;
};

}  // namespace ecotone
