#pragma once

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/methods/overlap.h"
#include "ecotone/solve/conformal/quantiles.h"
#include "ecotone/solve/conformal/scores.h"

namespace ecotone {

class Model;

enum class ConformalMethod { automatic, hcp, cdf, domainwise, jackknife, weighted, pooled };
enum class ConformalScore { automatic, lac, aps, raps, absolute, scaled };
std::string_view method_name(ConformalMethod method);
std::string_view score_name(ConformalScore score);

struct ConformalOptions {
  double level = 0.9;
  ConformalMethod method = ConformalMethod::automatic;
  ConformalScore score = ConformalScore::automatic;
  double share = 0.9;
  int folds = 0;

  static constexpr auto fields() {
    using O = ConformalOptions;
    return std::tuple{
        field("level", &O::level, "Share of rows of a new domain that the sets are to cover", between(0.5, 0.999)),
        field("method", &O::method,
              "auto: hcp if there are domains enough, else cdf; hcp: on average over new domains; cdf: right for many "
              "domains only; domainwise: in a share of new domains; jackknife: as hcp with the models of all folds; "
              "weighted: for the target's rows; pooled: for new rows of known domains",
              one_of("auto", "hcp", "cdf", "domainwise", "jackknife", "weighted", "pooled")),
        field(
            "score", &O::score,
            "auto: lac for classes, absolute for numbers; lac: the probability of a class; aps, raps: how many are as "
            "probable; absolute: the distance from the prediction; scaled: that in units of the learner's own sd",
            one_of("auto", "lac", "aps", "raps", "absolute", "scaled")),
        field("share", &O::share, "domainwise: share of new domains in which the level is reached",
              between(0.5, 0.999)),
        field("folds", &O::folds, "Refits, each without some domains; 0: one for every domain", between(0, 10'000))};
  }
};

/// Whether a stage with these options needs rows of a target.
bool weights_to_target(const OptionValues& options);

/// What sets would have covered in a source domain, by models and quantiles that have not seen it.
struct DomainCoverage {
  std::string domain;
  Index rows = 0;
  double coverage = 0;
  std::optional<double> size;  ///< mean number of classes, or mean width; empty: infinite
};

/// What the sets of a fitted stage promise.
struct ConformalReport {
  ConformalMethod method = ConformalMethod::hcp;  ///< that was used, never automatic
  ConformalScore score = ConformalScore::lac;     ///< likewise
  double level = 0.9;
  double share = 0.9;  ///< domainwise
  Index domains = 0;   ///< with scores
  Index rows = 0;
  std::vector<std::string> left_out = {};  ///< domainwise: domains of too few rows
  std::vector<DomainCoverage> by_domain = {};
  bool everything = false;  ///< a finite quantile that every class is within, even one of probability 0
  // weighted
  std::optional<double> ess = {};
  std::optional<double> exponent = {};
  std::optional<double> infinite_share = {};  ///< of target rows whose set is everything

  /// Whether domains are too few for the promise, so that sets hold everything.
  bool too_few_domains() const;
  /// Whether domains are enough only with all of them, so that each is covered by sets of everything under the others.
  bool coverage_says_nothing() const;
  /// Whether every class is within this quantile, which may be finite.
  bool holds_everything(double quantile) const;
  /// How many are there, and what they can promise: "4 domains can promise at most 80%, and useful sets up to 60%".
  std::string possible() const;
  /// domainwise: rows that a domain must have to count, 1 / (1 - level). In smaller ones the quantile is the largest
  /// score.
  double fewest_rows() const;
  /// "average over new domains", "share of new domains", "rows like the target's", "rows of known domains", "none"
  std::string_view guarantee() const;
  /// The promise in words.
  std::string promise() const;

 private:
  /// Whether so many domains would be.
  bool too_few(Index count) const;
};

/// Sets of classes or intervals of numbers that hold for new domains, from predictions of models that have not seen a
/// domain.
class Conformal : public Fitted {
 public:
  /// One quantile for all rows; it may be infinite.
  struct Fixed {
    double quantile = 0;
  };
  /// The scores of every domain with the model that has not seen it.
  struct Jackknife {
    ScoredDomains domains;
    std::vector<std::size_t> model_of;  ///< of each domain
    std::vector<std::shared_ptr<const Model>> models;
  };
  /// Scores weighted to a target's rows; a new row has a weight of its own.
  struct Weighted {
    std::vector<double> score, weight;
    TargetRatio ratio;  ///< without the rows it was fitted on
    double exponent = 1;
    double log_scale = 0;  ///< the weight of a row is exp(exponent ln ratio + log_scale)
  };

  Conformal(ConformalReport report, std::vector<std::string> classes, Fixed rule);
  Conformal(ConformalReport report, std::vector<std::string> classes, Jackknife rule);
  Conformal(ConformalReport report, std::vector<std::string> classes, Weighted rule);

  static StageResult fit(const Upstream& upstream, const ConformalOptions& options, const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const ConformalOptions& options,
                                            const StageInput& input);

  const ConformalReport& report() const { return report_; }
  Prediction revised(Prediction before, const Batch& batch, const Context& context) const override;
  bool needs_domain_sample() const override;
  Index training_rows() const override;
  StageState save() const override;

 private:
  ConformalReport report_;
  std::vector<std::string> classes_;
  std::optional<Fixed> fixed_;
  std::optional<Jackknife> jackknife_;
  std::optional<JackknifeScores> jackknife_scores_;
  std::optional<Weighted> weighted_;
  std::optional<WeightedQuantiles> weighted_scores_;
  bool loaded_ = false;

  /// The quantile of each row.
  Vector quantiles(const Batch& batch, const Context& context) const;
  /// For models from files: fitting has said so.
  void warn_of_infinite_sets(Index infinite, Index rows, const Context& context) const;
  void add_sets(Prediction& prediction, Index row, double quantile) const;
  void add_by_models(Prediction& prediction, const Batch& batch, const Context& context) const;
};

}  // namespace ecotone
