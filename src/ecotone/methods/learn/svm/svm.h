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
#include "ecotone/solve/svm/svm.h"

namespace ecotone {

/// How machines are fitted.
enum class SvmRoute { automatic, exact, low_rank };

/// Options of svm.
struct SvmOptions {
  double cost = 1;
  KernelChoice kernel = KernelChoice::automatic;
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

  static constexpr auto fields() {
    using O = SvmOptions;
    const auto cost = std::tuple{
        field("C", &O::cost, "Cost of a row, times its weight, in 1/2 ||f||^2 + C sum w_i loss_i", above(0.0))};
    const auto others = std::tuple{
        field("distributional", &O::distributional,
              "The kernel is multiplied by one of the domains that two rows come from, Gaussian on the mean embeddings "
              "of their rows, each counted once whatever its weight, but not those of weight 0"),
        field("sigma1", &O::sigma1,
              "Width of that kernel; auto: the median distance of the domains, but not below what samples of one "
              "distribution differ by, nor below a quarter of the spread within domains",
              above(0.0)),
        field("epsilon", &O::epsilon, "Numbers: errors up to this cost nothing", at_least(0.0)),
        field("tolerance", &O::tolerance,
              "Where it stops: largest violation of the optimality conditions; of weights ten times the duality gap as "
              "a part of the objective",
              above(0.0)),
        field("route", &O::route,
              "exact: coefficients of rows, by pairs; low_rank: weights of a low-rank kernel map, time linear in the "
              "rows, and of the columns themselves where the kernel is linear and has at most 1,000 of them; auto: "
              "exact up to 50,000 rows, but such linear kernels by weights from 1,000 rows and 4 per column on",
              one_of("auto", "exact", "low_rank")),
        field("rank", &O::rank, "Of low_rank: at most so many landmarks", between(1, 20000)),
        field("probability", &O::probability,
              "Probabilities by Platt's map of scores that refits without a fold give (up to five folds, by whole "
              "domains); false: 1 / (1 + exp(-2 score)), a convention. The predicted class is the score's either way"),
        field("max_iterations", &O::max_iterations,
              "Steps of two coefficients before giving up, 0: 100 per row, at least ten million; of weights Newton "
              "steps, 0: 200",
              at_least(0)),
        field("cache_mb", &O::cache_mb,
              "Megabytes for kernel rows; 0: half of the memory that is free. Where not all rows fit the last digits "
              "depend on it, so a number makes results the same whatever is free",
              at_least(0))};
    return std::tuple_cat(cost, learner_kernel_fields<O>(), others);
  }
};

/// A support vector machine: of two classes (C-SVC) or of numbers (epsilon-SVR), of rows or of pairs (domain, row).
class Svm : public Fitted {
 public:
  static StageResult fit(const TrainView& view, const SvmOptions& options, const Context& context, FitCache& cache);
  static std::shared_ptr<const Fitted> load(const StageState& state, const SvmOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  bool needs_domain_sample() const override { return domains_.has_value(); }
  StageState save() const override;

 private:
  /// What `inspect` shows beside the machine.
  struct Notes {
    double objective = 0;
    double gap = 0;
    double kkt = 0;
    Index bounded = 0;
    Index iterations = 0;
  };

  static StageResult fit_rows(const TrainView& view, const SvmOptions& options, const Context& context,
                              FitCache& cache);
  Vector scores(const Batch& batch, const Context& context) const;

  Task task_ = Task::classify;
  SupportVectors machine_;
  std::optional<DistributionKernel> domains_;  ///< with distributional=true
  std::vector<std::int32_t> support_domain_;
  std::optional<PlattMap> platt_;
  Notes notes_;
};

}  // namespace ecotone
