#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "ecotone/methods/learn/calibrate/score_maps.h"
#include "ecotone/methods/learn/domain_sample.h"
#include "ecotone/methods/learn/learner_kernel.h"
#include "ecotone/methods/learn/svm/support_vectors.h"
#include "ecotone/methods/method.h"
#include "ecotone/methods/refits.h"
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// How the support vector machine is fitted.
enum class SvmRoute { automatic, exact, low_rank };

/// Strategies for more than two classes, of which the combinator reads the name (methods/multiclass/multiclass.h).
enum class SvmStrategy { automatic, ova, ovo, ecoc };

/// Options of svm.
struct SvmOptions {
  double cost = 1;
  LearnerKernelKind kernel = LearnerKernelKind::automatic;
  AutoNumber sigma{};
  int degree = 3;
  double coef0 = 1;
  double scale = 1;
  double epsilon = 0.1;
  double tolerance = 1e-3;
  SvmRoute route = SvmRoute::automatic;
  int rank = 500;
  bool distributional = false;
  AutoNumber sigma1{};
  bool probability = false;
  int max_iterations = 0;
  int cache_mb = 0;
  SvmStrategy multiclass = SvmStrategy::automatic;

  static constexpr auto fields() {
    using O = SvmOptions;
    const auto cost = std::tuple{
        field("C", &O::cost,
              "Cost of a row's loss in 1/2 ||f||^2 + C sum w_i loss_i, w_i the row weights; a smaller C regularises "
              "more, and C = 1 / (2 rows l2) is as strong as l2 of the linear models",
              above(0.0))};
    const auto others = std::tuple{
        field("distributional", &O::distributional,
              "Multiply the kernel of two rows by a kernel of their domains, Gaussian on the mean embeddings of the "
              "domains' rows. Each row counts once whatever its weight, except rows of weight 0"),
        field("sigma1", &O::sigma1,
              "Width of the kernel of domains; auto: the median distance between domains, but at least the distance "
              "between samples of one distribution and a quarter of the spread within domains",
              above(0.0)),
        field("epsilon", &O::epsilon, "Regression: errors up to this size cost nothing", at_least(0.0)),
        common_field(
            "tolerance", &O::tolerance,
            "Stopping tolerance: the largest violation of the optimality conditions or, where weights are fitted "
            "(see route), 10 x the relative duality gap",
            at_least(1e-12)),  // rounding keeps fits from getting closer
        field("route", &O::route,
              "exact: one coefficient per row, updated in pairs; low_rank: weights of a low-rank kernel map, or of the "
              "columns themselves if the kernel is linear and there are at most 1,000 columns, in time linear in the "
              "rows; auto: exact up to 50,000 rows, but weights of the columns from 1,000 rows and 4 rows per column",
              one_of("auto", "exact", "low_rank")),
        field("rank", &O::rank, "Largest number of landmarks of route=low_rank", between(1, 20000)),
        field("probability", &O::probability,
              "Probabilities by Platt scaling of out-of-fold scores (up to five folds of whole domains; up to ten if "
              "there are stages before it, which are fitted again in each); false: 1 / (1 + exp(-2 score)), a "
              "convention. Either way the predicted class is that of the score"),
        common_field(
            "max_iterations", &O::max_iterations,
            "Largest number of pair updates, 0: 100 per row, at least ten million; where weights are fitted, of "
            "Newton steps, 0: 200",
            at_least(0)),
        common_field(
            "cache_mb", &O::cache_mb,
            "Megabytes for cached kernel rows; 0: half of the free memory. If not all rows fit, the last digits of "
            "the result depend on this size; set it to be independent of the free memory",
            at_least(0)),
        common_field(
            "multiclass", &O::multiclass,
            "Strategy for more than two classes: one versus all, one versus one, or error-correcting output codes; "
            "auto: one versus one, which is faster, but one versus all with distributional=true",
            one_of("auto", "ova", "ovo", "ecoc"))};
    return std::tuple_cat(cost, learner_kernel_fields<O>(), others);
  }
};

/// A support vector machine for two classes (C-SVC) or regression (epsilon-SVR), on rows or on pairs (domain, row).
class Svm : public Fitted {
 public:
  static StageResult fit(const TrainView& view, const SvmOptions& options, const Context& context, FitCache& cache);
  /// The same with the stages before it refitted in the folds of probability=true; null: there are none.
  static StageResult fit_refitting(const TrainView& view, const Refits* refits, const SvmOptions& options,
                                   const Context& context, FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const SvmOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  bool needs_domain_sample() const override { return domains_.has_value(); }
  Index training_rows() const override { return domains_ ? domains_->x().rows() : machine_.rows.rows(); }
  StageState save() const override;

 private:
  /// What `inspect` shows beside the support vectors.
  struct Notes {
    double objective = 0;
    double gap = 0;
    double kkt = 0;
    Index bounded = 0;
    Index iterations = 0;
  };

  /// `platt`: of refits; the map of its own folds if there is none.
  static StageResult fit_rows(const TrainView& view, const SvmOptions& options, std::optional<PlattMap> platt,
                              const Context& context, FitCache& cache);
  Vector scores(const Batch& batch, const Context& context) const;

  Task task_ = Task::classify;
  SupportVectors machine_;
  std::optional<DistributionKernel> domains_;  ///< with distributional=true
  std::vector<std::int32_t> support_domain_;
  std::optional<PlattMap> platt_;
  Notes notes_;
};

}  // namespace ecotone
