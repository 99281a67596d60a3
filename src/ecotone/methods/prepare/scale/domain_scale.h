#pragma once

#include <string>
#include <vector>

#include "ecotone/methods/prepare/scale/scale.h"
#include "ecotone/solve/alignment/group_moments.h"

namespace ecotone {

/// `scale by=domain`: z = (x - m~) / s~ with the shrunk mean and standard deviation of the row's domain. Domains of
/// training keep the statistics of training; a new one has those of its rows in the batch, shrunk with the prior of
/// training, or the prior alone. A column of one value in every domain of training becomes 0 there, to the last digit.
class DomainScale : public Fitted {
 public:
  struct Parts {
    std::vector<std::string> names;  ///< domains of training
    Vector rows;                     ///< of each
    Matrix mean;                     ///< m~, one row per domain
    Matrix scale;                    ///< s~
    MomentPrior prior;
  };

  DomainScale(Parts parts, const ScaleOptions& options);

  static StageResult fit(const TrainView& view, const ScaleOptions& options, const Context& context);
  static SumsResult fit_on_sums(const RowSums& sums, const ScaleOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const ScaleOptions& options,
                                            const StageInput& input);

  const Parts& parts() const { return parts_; }
  Features transform(const Batch& batch, const Context& context) const override;
  bool needs_domain_sample() const override { return options_.fresh == NewDomain::sample; }
  StageState save() const override;

 private:
  Parts parts_;
  ScaleOptions options_;
};

}  // namespace ecotone
