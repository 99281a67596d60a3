#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/measure/residual_interval.h"
#include "ecotone/methods/model.h"
#include "ecotone/trust/replay.h"

/// What a pipeline will score in a domain without labels: estimates, and intervals from how wrong the same estimates
/// were when every source domain played the target.
namespace ecotone {

struct ExpectOptions {
  double level = 0.9;
  NextDomainBy replay = NextDomainBy::automatic;
  Journal* journal = nullptr;

  static constexpr auto fields() {
    using O = ExpectOptions;
    return std::tuple{
        field("level", &O::level, "Share of new domains whose value lies in the interval", between(0.5, 0.99)),
        field("replay", &O::replay,
              "replay: fit a model without every pair of domains; cheap: no more fits, a little too narrow; auto: "
              "replay for up to 20 domains",
              one_of("auto", "replay", "cheap"))};
  }
};

/// What one estimator expects of one metric.
struct EstimatedValue {
  Estimator estimator = Estimator::source;
  double estimate = 0;
  /// t interval of its replayed errors; empty: too few domains have a value, or too few rows (too_few_rows).
  std::optional<Bounds> interval = {};
  std::optional<Bounds> conformal = {};  ///< without normality, where there are domains enough
  /// Mean absolute error in the replays, on the metric's scale; empty: too few replays.
  std::optional<double> error = {};
  Index domains = 0;      ///< that were replayed
  bool doubtful = false;  ///< it rests on few effective rows
};

struct ExpectedMetric {
  std::string metric;
  std::vector<EstimatedValue> estimators;  ///< the first is the one to use
};

/// What a pipeline will score in one target.
struct Expectation {
  std::string pipeline;
  std::string target;
  Index rows = 0;
  Task task = Task::classify;
  double level = 0.9;
  Index domains = 0;  ///< source domains
  /// Of the source domains on average (the harmonic mean, which is what their noise goes by); 0: not known.
  double source_domain_rows = 0;
  NextDomainBy by = NextDomainBy::replay;  ///< or cheap
  std::vector<ExpectedMetric> metrics;
  MoreDomains more;                ///< what more source domains would do to the widths
  std::optional<Overlap> overlap;  ///< of source and target rows; empty if the rows are not at hand
  Index apart = 0;                 ///< source domains that the others do not overlap either
  std::optional<double> exponent;  ///< of the weights of pape and importance

  /// Whether the target is so much smaller than the source domains (less than half) that the replays say too little
  /// about its noise. Then only metrics that are shares of rows have intervals, as their noise is known.
  bool too_few_rows() const { return 2 * static_cast<double>(rows) < source_domain_rows; }
  /// "the target has 15 rows, source domains 100 on average: no interval holds for so few, ..."
  std::string few_rows_words() const;
  /// Whether it was possible to see where the target's rows lie.
  bool compared() const { return overlap && overlap->auroc; }
  /// "not checked: whether these rows lie where the sources do; ...", if it was not.
  std::string not_compared_words() const;

  /// Whether the target lies where no source row does, and most sources do not: then no interval can be relied on.
  bool unlike_sources() const { return lacks_overlap() && 2 * apart < domains; }
  /// Whether source rows do not reach the target; a single row cannot tell.
  bool lacks_overlap() const { return compared() && !overlap->enough(); }
};

/// Replayed errors of the estimators, and what they need of the sources: all that is stored with a model.
struct ExpectBasis {
  SourceSummary summary;
  std::vector<std::string> domains;
  NextDomainBy by = NextDomainBy::replay;
  /// Residuals by estimator and metric; one for each domain where both are defined, on the metric's scale.
  std::map<std::pair<Estimator, std::string>, std::vector<double>> residuals;
};

/// A sample of a target.
struct TargetSample {
  std::string name;
  Batch batch;     ///< for the model
  Batch compared;  ///< the same rows for comparisons, with one feature per category
};

/// Expectations for samples of targets. The data's source domains are the sources; labels of other domains are not
/// looked at, nor are classes that only those have. Data errors: `no_labels`, `too_few_domains`, `empty_data` for a
/// sample without rows, and those of fits. Rows of weight 0 in domains of the data are left out; row weights of a
/// target are not used beyond that.
std::vector<Expectation> expect_targets(const Dataset& data, const Pipeline& pipeline,
                                        const std::vector<TargetSample>& targets, const ExpectOptions& options,
                                        const Context& context);
/// The same for the data's target domains.
std::vector<Expectation> expect_targets(const Dataset& data, const Pipeline& pipeline, const ExpectOptions& options,
                                        const Context& context);

/// The basis of later expectations, from the data that a model was fitted on.
ExpectBasis expect_basis(const Dataset& data, const Pipeline& pipeline, const ExpectOptions& options,
                         const Context& context);
/// As the note `expect` of a model.
Json note_of(const ExpectBasis& basis);
/// The basis in a model's notes. Option error `no_expectation` if it has none; file error `bad_model`, which names
/// `origin`, for anything wrong.
ExpectBasis expect_basis(const Model& model, const std::string& origin);
/// What the model will score on new rows: without the estimators that need source rows.
Expectation expect_model(const Model& model, const ExpectBasis& basis, const TargetSample& target, double level,
                         const Context& context);

}  // namespace ecotone
