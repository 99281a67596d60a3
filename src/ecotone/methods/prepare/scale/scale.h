#pragma once

#include <tuple>

#include "ecotone/methods/domain_places.h"
#include "ecotone/methods/method.h"
#include "ecotone/methods/sums/sums_route.h"

namespace ecotone {

enum class ScaleBy { all, domain };
enum class ScaleCentre { domain, pooled };

/// All but `by` are for by=domain; see domain_scale.h.
struct ScaleOptions {
  ScaleBy by = ScaleBy::all;
  ScaleCentre centre = ScaleCentre::domain;
  AutoNumber shrink_mean;
  AutoNumber shrink_sd;
  NewDomain fresh = NewDomain::sample;

  static constexpr auto fields() {
    using O = ScaleOptions;
    return std::tuple{
        field("by", &O::by,
              "all: the mean and deviation of the labelled source rows; domain: those of each domain, shrunk towards "
              "what the domains share",
              one_of("all", "domain")),
        field("centre", &O::centre, "by=domain: centre at the domain's mean, or all domains at the shared one",
              one_of("domain", "pooled")),
        field("shrink_mean", &O::shrink_mean,
              "by=domain: rows that the shared mean counts for; 0: the domain's own mean; auto: few where domains "
              "differ, at most 100",
              at_least(0.0)),
        field("shrink_sd", &O::shrink_sd,
              "by=domain: rows that the shared deviation counts for; 0: the domain's own; auto: few where deviations "
              "differ, at most 100",
              at_least(0.0)),
        field("new", &O::fresh,
              "by=domain: a domain that training did not have has the moments of its rows in the batch, or the shared "
              "ones, which makes the answer for a row independent of other rows",
              one_of("sample", "pooled"))};
  }
};

/// Columns with mean 0 and standard deviation 1 over the labelled source rows: z = (x - mean) / scale.
/// Columns of sparse features are divided but not centred, so they stay sparse.
class Scale : public Fitted {
 public:
  Scale(Vector mean, Vector scale);

  static StageResult fit(const TrainView& view, const ScaleOptions& options, const Context& context, FitCache& cache);
  static SumsResult fit_on_sums(const RowSums& sums, const ScaleOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const ScaleOptions& options,
                                            const StageInput& input);

  Features transform(const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  Vector mean_;  ///< all 0 when fitted on sparse features
  Vector scale_;
};

}  // namespace ecotone
