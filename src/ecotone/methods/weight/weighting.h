#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/method.h"

/// What all weight stages share: estimated weights are normalised, clipped and flattened, reported, and passed on as
/// row weights. The learner that follows sees row weights and nothing else.
namespace ecotone {

/// How all weight stages shape the weights that they estimate.
struct WeightOptions {
  bool normalise = true;
  WordOrNumber clip;     // none
  WordOrNumber flatten;  // auto
  bool per_source = false;

  static constexpr int flatten_auto = 0;
  static constexpr int flatten_none = 1;

  static constexpr auto fields() {
    return std::tuple{
        field("normalise", &WeightOptions::normalise, "Divide weights by their mean; false: keep them as estimated"),
        field("clip", &WeightOptions::clip, "Clip weights at this multiple of their mean",
              or_words(above(0.0), "none")),
        field("flatten", &WeightOptions::flatten,
              "Raise weights to the largest power up to 1 that leaves this effective sample size, in rows; auto: 20 "
              "(columns + 1)",
              or_words(at_least(1.0), "auto", "none")),
        field("per_source", &WeightOptions::per_source,
              "Weight each source domain to the target separately, keeping its share of the rows; false: treat all "
              "source rows as one sample")};
  }
};

/// The result of weighting one sample of source rows to the target.
struct WeightReport {
  Index rows = 0;       ///< source rows
  double exponent = 1;  ///< the power to which the weights were raised
  /// Effective sample size of the estimated weights times the given row weights; empty if none were estimated, because
  /// flattening would make them equal anyway.
  std::optional<double> ess_raw = 0.0;
  double ess = 0;            ///< of the weights passed to the learner
  double largest_share = 0;  ///< the largest of these weights as a share of their sum
  /// Cross-validated, of a classifier of source against target; empty if one of them has a single row or if no weights
  /// were estimated.
  std::optional<double> auroc;
  Json chosen = Json::object();  ///< what the stage chose or found on the way: "sigma", "shares"
};

/// What was requested of the weights, for the warnings of a report.
struct WeightRequest {
  const char* who;
  Index cols = 0;     ///< features of the learner
  Index targets = 0;  ///< rows
  double ess = 0;     ///< effective sample size to flatten to; 0: none
  std::string asked;  ///< how it was asked for: "flatten=auto"
  double least = 0;   ///< raw effective sample size below which no weights are applied
  bool told = false;  ///< a warning has said already that none are
};

/// Warns `few_target_rows` if the target has fewer rows than a linear model has parameters, and `low_effective_sample`
/// if the weights leave few effective rows or were flattened a lot.
void warn_of_weights(const WeightReport& report, const WeightRequest& request, const Context& context);

/// The AUROC of a stage's state, which may be null. File error `bad_model` if it is not a number in [0, 1].
std::optional<double> saved_auroc(const StageState& state);

/// A fitted weight stage; it passes rows on unchanged in prediction.
class Weighting : public Fitted {
 public:
  /// A report per source domain, if they are weighted separately.
  struct Source {
    std::string domain;
    WeightReport report;
  };

  Weighting(WeightReport all, std::vector<Source> sources) : all_(all), sources_(std::move(sources)) {}

  static std::shared_ptr<const Fitted> load(const StageState& state);

  const WeightReport& all() const { return all_; }
  const std::vector<Source>& sources() const { return sources_; }
  StageState save() const override;

 private:
  WeightReport all_;
  std::vector<Source> sources_;
};

/// Weights of the first `sources` rows of x towards the others, as logarithms; minus infinity for a weight of 0.
using LogRatio = std::function<Vector(const Features& x, Index sources)>;
/// The same where labels are needed: source row i of x is row rows[i] of the view.
using LogRatioOfRows = std::function<Vector(const Features& x, const std::vector<Index>& rows)>;

/// A weight stage without its options: how it estimates weights, and which features its domain classifier sees.
struct Weigher {
  const char* who;
  LogRatio log_ratio = {};
  bool squares = false;  ///< the domain classifier of the report also sees squared features
  /// With flatten=auto, no weights are applied if fewer effective rows than columns + 1 (and than 5) would remain: a
  /// ratio of densities fitted to other rows is wild there, and flattening keeps its order.
  bool falls_back = false;
  LogRatioOfRows log_ratio_of_rows = {};  ///< in place of log_ratio
  /// Weights are found as numbers and not as logarithms: what is far below their mean is what a solver leaves of 0.
  bool solved = false;
  const Json* chosen = nullptr;  ///< what the last call of either chose, for the report
};

/// Fits a weight stage: passes on the view with the same features and with row weights multiplied by the estimated
/// ones. If there are fewer source rows than the effective rows asked for, nothing is estimated and all weights are 1.
/// Data errors: `no_target`; `zero_weights` if all weights are 0; `non_finite` if weights that are not normalised
/// overflow. Warns as `warn_of_weights` does.
StageResult weigh(const TrainView& view, const Weigher& weigher, const WeightOptions& options, const Context& context);

}  // namespace ecotone
