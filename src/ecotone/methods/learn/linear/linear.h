#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/learn/linear/penalty_path.h"
#include "ecotone/methods/method.h"
#include "ecotone/methods/sums/sums_route.h"
#include "ecotone/solve/linear/linear.h"

namespace ecotone {

/// What the loss is divided by: the number of rows, or the sum of their weights.
enum class LinearNorm { count, sum };
/// Whether the gradients of a mini-batch are averaged or added (59.19).
enum class BatchReduce { mean, sum };

/// What is minimised: the mean loss of the rows, or a risk that looks at domains; see solve/robust/robust.h.
enum class LinearRisk { mean, vrex, irm, cvar };
/// What the worst share of cvar is of.
enum class RiskLevel { domain, row };

/// Options of all generalised linear models.
struct LinearOptions {
  AutoNumber l2{};
  AutoNumber l1{0.0};
  LinearSolver solver = LinearSolver::automatic;
  bool offset = true;
  bool penalise_offset = false;
  LinearNorm norm = LinearNorm::count;
  double tol = 1e-6;
  int max_iterations = 1000;
  PenaltyRule rule = PenaltyRule::one_se;
  AutoNumber step{};
  StepSchedule schedule = StepSchedule::inverse;
  int batch = 1;
  BatchReduce reduce = BatchReduce::mean;
  int epochs = 20;
  LinearRisk risk = LinearRisk::mean;
  double strength = 10;
  RiskLevel level = RiskLevel::domain;
  double share = 0.5;
  double anchor = 1;  ///< an option of probit alone

  static constexpr auto fields() {
    return std::tuple{
        field("l2", &LinearOptions::l2,
              "Penalty l2 ||w||^2 (not l2/2) added to the mean loss. As strong as C = 1 / (2 rows l2) of svm; in "
              "least_squares on scaled features, as lam = 2 l2 of ridge and step. auto: chosen by the loss on left-out "
              "training domains, or on left-out rows if there is one domain; 1 / (2 rows) where that would take long; "
              "0 by "
              "default if l1 is given",
              at_least(0.0)),
        field("l1", &LinearOptions::l1,
              "Penalty l1 ||w||_1 added to the mean loss; auto: chosen by the loss on left-out training "
              "domains, or on left-out rows if there is one domain",
              at_least(0.0)),
        common_field(
            "solver", &LinearOptions::solver,
            "auto chooses by size and penalty; sgd and prox-sgd read rows one by one and stop near the optimum",
            one_of("auto", "lbfgs", "newton", "irls", "prox-newton", "sgd", "prox-sgd")),
        field("offset", &LinearOptions::offset, "Whether the model has an offset (intercept)"),
        common_field("penalise_offset", &LinearOptions::penalise_offset, "Whether the penalties include the offset"),
        common_field("norm", &LinearOptions::norm,
                     "What the loss is divided by: the number of rows or the sum of their weights",
                     one_of("count", "sum")),
        common_field("tol", &LinearOptions::tol,
                     "Largest entry of the gradient, in standardised units, at which a solver stops; 0: to the last "
                     "digit; not for sgd",
                     between(0.0, 1.0)),
        common_field("max_iterations", &LinearOptions::max_iterations, "Largest number of iterations", at_least(1)),
        field("rule", &LinearOptions::rule,
              "Penalty that auto takes: the one with the smallest held-out loss, or the largest one whose loss is "
              "within one standard error of it (of their difference, paired over folds)",
              one_of("best", "one_se")),
        common_field("step", &LinearOptions::step, "sgd: step size mu; auto: a quarter of what the curvature allows",
                     above(0.0)),
        common_field("schedule", &LinearOptions::schedule,
                     "sgd: mu, mu / sqrt(1 + epochs) or mu / (1 + epochs), with the epochs done so far",
                     one_of("constant", "root", "inverse")),
        common_field("batch", &LinearOptions::batch, "sgd: rows per step", between(1, 1e6)),
        common_field("reduce", &LinearOptions::reduce, "sgd: whether the gradients of a batch are averaged or added",
                     one_of("mean", "sum")),
        common_field("epochs", &LinearOptions::epochs, "sgd: passes over the rows", between(1, 1e6)),
        common_field(
            "risk", &LinearOptions::risk,
            "What is minimised beside the penalty: the mean loss of the rows; vrex: the mean loss of domains "
            "plus strength times its variance over them; irm: the same mean plus strength times the squared pull of "
            "each "
            "domain on the scores' scale; cvar: the mean of the worst share. No target is needed. Harms where a "
            "domain is hard because its labels are noisy; in our study vrex was better than nothing in 7 and "
            "worse in 9 of 24 new domains. l2=auto chooses for the mean loss",
            one_of("mean", "vrex", "irm", "cvar")),
        common_field("strength", &LinearOptions::strength, "Strength of risk=vrex and risk=irm", at_least(0.0)),
        common_field("level", &LinearOptions::level,
                     "risk=cvar: the worst domains, or the worst rows, which are often those with wrong labels",
                     one_of("domain", "row")),
        common_field(
            "share", &LinearOptions::share,
            "risk=cvar: the share of domains or rows that is worst; 1: all of them; of domains, less than one: "
            "the worst one",
            Limits{.low = 0, .high = 1, .open_low = true})};
  }
};

/// Options of probit.
struct ProbitOptions : LinearOptions {
  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{field("anchor", &ProbitOptions::anchor,
                         "Anchor probit: how often slopes of the loss that all rows of a domain share are counted. 1: "
                         "probit regression; above 1: guards against shifts like those between the training domains, "
                         "at a price where the next domain is not shifted so; not convex for large values",
                         at_least(1.0))},
        LinearOptions::fields());
  }
};

/// The loss of a domain at the optimum of a risk that looks at domains.
struct DomainRisk {
  std::string domain;
  double loss = 0;
  std::optional<double> share;  ///< in the worst mixture
};

/// A generalised linear model: logistic, softmax, probit, poisson or least squares.
class Linear : public Fitted {
 public:
  /// What `inspect` shows beside the optimum.
  struct Notes {
    std::string solver;
    std::optional<PenaltyPath> path;
    double fixed_l2 = 0;                   ///< taken by l2=auto without a path; 0: none
    std::vector<DomainRisk> domains = {};  ///< of a risk that looks at them
    std::optional<double> lower = {};      ///< a bound of the risk's minimum, where it is known
  };

  Linear(LinearFamily family, LinearFit fit, Notes notes);

  /// With a cache in order a fit starts at the weights of the previous one on the same labels; the optimum is the same
  /// up to the solver's tolerance.
  static StageResult fit(LinearFamily family, const TrainView& view, const Refits& refits, const LinearOptions& options,
                         const Context& context, FitCache& cache);
  /// Least squares from sums over rows.
  static SumsResult fit_on_sums(const RowSums& sums, const LinearOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(LinearFamily family, const StageState& state, const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  StageState save() const override;

 private:
  void predict_rows(const Matrix& scores, Index first, Prediction& prediction) const;

  LinearFamily family_;
  LinearFit fit_;
  Notes notes_;
  Matrix columns_;  ///< the weights as columns, ready for X W
};

/// Name of the method ("least_squares").
const char* family_text(LinearFamily family);

}  // namespace ecotone
