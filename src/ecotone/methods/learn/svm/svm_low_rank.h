#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "ecotone/kernels/distribution_map.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/methods/held_rows.h"
#include "ecotone/methods/learn/calibrate/score_maps.h"
#include "ecotone/methods/learn/svm/svm.h"
#include "ecotone/methods/method.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// What is fitted: coefficients of rows in pairs, weights of the columns (linear kernel), or weights of a low-rank map.
enum class SvmPlan { exact, linear, low_rank };

/// What the options mean for data of this size. A linear kernel on few columns gets weights from 1,000 rows on.
SvmPlan svm_plan(const SvmOptions& options, const Kernel& kernel, Index rows, Index cols);

/// A support vector machine by its weights: f = weights.phi + offset, where phi are the columns, a low-rank map of the
/// kernel or, with distributional=true, a map of pairs (domain, row). Time is linear in the rows.
class SvmLowRank : public Fitted {
 public:
  /// The labels and weights are those of the problem; the plan is linear or low_rank; `platt` as for Svm::fit_rows.
  static StageResult fit(const TrainView& view, const SvmOptions& options, const Kernel& kernel, SvmPlan plan,
                         const SvmProblem& problem, std::optional<PlattMap> platt, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const SvmOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  bool needs_domain_sample() const override { return domain_map_.has_value(); }
  Index training_rows() const override { return domain_map_ ? held_rows(*domain_map_) : held_rows(map_); }
  StageState save() const override;

 private:
  /// What `inspect` shows beside the weights.
  struct Notes {
    double objective = 0;
    double gap = 0;
    double residual = 0;
    Index support = 0;
    Index bounded = 0;
    Index iterations = 0;
  };

  Features fit_map(const TrainView& view, const SvmOptions& options, const Context& context);
  Features mapped(const Batch& batch, const Context& context) const;

  Task task_ = Task::classify;
  Kernel kernel_;
  SvmPlan plan_ = SvmPlan::linear;
  LowRankMap map_;                             ///< of the plan low_rank, without domains
  std::optional<DistributionMap> domain_map_;  ///< the same with domains
  Vector weights_;
  double offset_ = 0;
  std::optional<PlattMap> platt_;
  Notes notes_;
};

}  // namespace ecotone
