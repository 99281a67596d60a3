#pragma once

#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/method.h"

namespace ecotone {

/// What all weight stages do with the weights that they estimate.
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

/// What came out of weighting one sample of source rows to the target.
struct WeightReport {
  Index rows = 0;            ///< source rows
  double exponent = 1;       ///< the power that the weights were raised to
  double ess_raw = 0;        ///< effective sample size of the weights as estimated, times the given row weights
  double ess = 0;            ///< of the weights that the learner gets
  double largest_share = 0;  ///< the largest of these weights' part of their sum
  /// Of a classifier of source against target, cross-validated; empty when one of them has a single row.
  std::optional<double> auroc;
};

/// What was asked of weights, for the warnings of a report.
struct WeightRequest {
  const char* who;
  Index cols = 0;     ///< features of the learner
  Index targets = 0;  ///< rows
  double ess = 0;     ///< effective sample size to flatten to; 0: none
  std::string asked;  ///< how it was asked for: «flatten=auto»
};

/// Warns `few_target_rows` when the target has fewer rows than a line through them has parameters, and
/// `low_effective_sample` when the weights leave few effective rows or were flattened much.
void warn_of_weights(const WeightReport& report, const WeightRequest& request, const Context& context);

/// The AUROC of a stage's state, which may be null. File error `bad_model` when it is no number in [0, 1].
std::optional<double> saved_auroc(const StageState& state);

/// A fitted weight stage: at prediction it passes rows on as they are.
class Weighting : public Fitted {
 public:
  /// A report by source domain, when they are weighted one by one.
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

/// What a weight stage is but for its options: how it estimates, and what its domain classifier sees.
struct Weigher {
  const char* who;
  LogRatio log_ratio;
  bool squares = false;  ///< the domain classifier of the report also sees squared features
};

/// Fits a weight stage: the view goes on with the same features and with row weights that the estimated ones have
/// multiplied. Data errors: `no_target`; `zero_weights` when all weights are 0; `non_finite` when weights that are not
/// normalised are too large. Warns as `warn_of_weights`.
StageResult weigh(const TrainView& view, const Weigher& weigher, const WeightOptions& options, const Context& context);

}  // namespace ecotone
