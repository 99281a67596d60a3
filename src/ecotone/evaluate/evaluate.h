#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/error.h"
#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/columns/importance.h"
#include "ecotone/evaluate/curves.h"
#include "ecotone/evaluate/protocol.h"
#include "ecotone/measure/bootstrap.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/residual_interval.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// Metric name -> value; empty if undefined (one class in a domain).
using Metrics = std::vector<std::pair<std::string, std::optional<double>>>;
/// The value of a metric; empty if it is undefined or absent.
std::optional<double> value_of(const Metrics& metrics, std::string_view name);

/// One held-out domain or, with `forward`, block of time (over all repetitions that held it out: metrics are averaged,
/// rows are those of one of them). Rows count by their weights.
struct DomainScore {
  std::string domain;
  Index rows = 0;  ///< labelled and of positive weight, hence scored; 0: no metric is defined
  Metrics metrics;
  std::vector<double> prevalence = {};  ///< share of each class; regression: the mean label alone; empty without rows
  /// 95% bootstrap intervals by resampling the domain's rows (whole groups where rows have one); empty: not asked for.
  std::vector<std::pair<std::string, std::optional<Bounds>>> intervals = {};
};

/// A pipeline minus the reference, paired over domains.
struct Difference : Interval {
  std::optional<double> p;           ///< two-sided, of the t test; empty with fewer than two domains
  std::optional<double> p_adjusted;  ///< by Holm over all comparisons of the evaluation
};

/// What a grid's choice inside the training rows of one split ended in.
struct SplitChoice {
  std::string held_out;  ///< the split: the held-out domains, or "fold 3"
  std::string pipeline;
  double mean = 0;  ///< of the choice metric over the folds inside the training rows
};

/// The threshold that a split's training rows chose.
struct SplitThreshold {
  std::string held_out;             ///< as in SplitChoice
  std::optional<double> threshold;  ///< empty if none could be chosen
};

/// The domain where a metric is worst.
struct WorstDomain {
  double value = 0;
  std::string domain;
};

/// The scores of a pipeline on new rows of domains that it was trained on, by k-fold within domains.
struct KnownSite {
  std::vector<DomainScore> domains;  ///< in the order of the scores at new domains
  Metrics mean;                      ///< over domains with a value
  /// What a new domain costs: the scores there minus these, paired over domains where both have a value.
  std::vector<std::pair<std::string, std::optional<Interval>>> cost;
};

/// Where a metric of the next domain is expected: a prediction interval for one new domain that differs from these as
/// they differ from each other, not a confidence interval of the mean.
struct NextDomain {
  double estimate = 0;              ///< the mean over domains
  Bounds reach;                     ///< t interval from what replays missed
  std::optional<Bounds> conformal;  ///< without normality, where there are domains enough
  Index domains = 0;                ///< that were replayed
};

struct PipelineScore {
  std::string pipeline;
  std::vector<DomainScore> domains;  ///< those held out at least once, in order of first appearance
  Metrics mean;                      ///< over domains with a value
  Metrics spread;                    ///< standard deviation over domains (n - 1)
  /// 95% confidence intervals of the mean over domains; empty with one domain.
  std::vector<std::pair<std::string, std::optional<Bounds>>> mean_interval = {};
  /// This minus the reference, over domains where both have a value; none for the reference itself.
  std::vector<std::pair<std::string, std::optional<Difference>>> difference;
  std::vector<SplitChoice> chosen = {};         ///< of a grid: one per split
  std::string choice_metric = {};               ///< of a grid: what it was chosen by
  std::vector<SplitThreshold> thresholds = {};  ///< with a threshold rule: one per split with scored rows
  std::vector<std::pair<std::string, std::optional<WorstDomain>>> worst = {};
  std::optional<Error> error = std::nullopt;  ///< why it could not be fitted; no metric then has a value
  std::vector<std::pair<std::string, std::optional<NextDomain>>> next = {};  ///< by metric (next_domain.h)
  NextDomainBy next_by = NextDomainBy::none;                                 ///< how these were found; never automatic
  std::optional<double> set_level = {};          ///< that its sets are to cover, if it makes any
  std::string promise = {};                      ///< of these sets, in words: that of the first split's model
  std::optional<KnownSite> known = {};           ///< only when asked for (known_site.h)
  std::optional<Importances> importance = {};    ///< only when asked for
  std::optional<ProbabilityCurves> curves = {};  ///< of two classes, only when asked for
};

/// The prediction of one held-out row, for --save-predictions.
struct HeldOutPrediction {
  Index pipeline = 0;
  Index repetition = 0;
  Index row = 0;  ///< 0-based row of the data set
  std::string prediction;
  std::vector<std::optional<double>> probability;  ///< per class of the data set; empty for regression
};

/// A block of time that `forward` scored.
struct ScoredBlock {
  std::string name;
  double first = 0, last = 0;  ///< its times
  Index trained = 0;           ///< rows before it that its models were trained on, with and without a label
};

/// `forward`: what was scored, in order of time.
struct ForwardBlocks {
  std::string time;  ///< the column
  double gap = 0;
  double window = 0;  ///< 0: the whole past
  std::vector<ScoredBlock> blocks;
};

/// Groups of rows that were kept on one side of every split.
struct KeptGroups {
  std::string column;
  Index groups = 0;
};

struct Evaluation {
  Protocol protocol = Protocol::leave_one_domain_out;
  Task task = Task::classify;
  std::vector<std::string> metrics;
  std::vector<PipelineScore> pipelines;
  std::size_t reference = 0;                   ///< what the others are compared with: the first that could be fitted
  std::vector<std::string> classes;            ///< of the data set
  std::vector<HeldOutPrediction> predictions;  ///< only when asked for
  std::string choice_metric = {};              ///< that all grids were chosen by; empty without one, or if they differ
  std::optional<ForwardBlocks> forward = {};
  std::optional<KeptGroups> groups = {};
  std::string threshold = {};  ///< the rule, as given; empty without one

  /// What is scored, in words.
  std::string_view unit() const { return forward ? "block" : "domain"; }
  /// The number of pipelines that could not be fitted.
  std::size_t failures() const;
};

/// The pipeline with the best mean of the metric that stands for the result (headline_metric); empty if none has one.
std::optional<std::size_t> best_pipeline(const Evaluation& evaluation);

/// The pipelines of a text whose options may be lists in braces. A text without braces gives one.
struct PipelineGrid {
  std::string text;  ///< as given; canonical if there is one point
  std::vector<Pipeline> points;

  /// The errors of `PipelineSpace`.
  static PipelineGrid parse(std::string_view text);
};

/// Fits every pipeline on every split and scores it on the rows held out; all pipelines see the same splits. The type
/// of the training view cannot hold held-out labels. Roles in the data are ignored: the protocol decides what is held
/// out. Rows without a label or of weight 0 are not scored. k-fold metrics pool a domain's predictions from all folds,
/// except AUROC and average precision: scores of different models cannot be ranked together, so they are means over the
/// folds in which the domain has both classes, weighted by the domain's rows in them.
///
/// With a threshold rule, every split chooses its threshold on cross-fitted probabilities of its training rows alone.
///
/// A pipeline whose fit throws a data or option error on a split has that error, prefixed with the pipeline and what
/// was held out, instead of scores; if all do, the first one's is thrown. Not enough memory and other errors end the
/// evaluation. Data errors: `no_labels`, `needs_two_domains` (protocols over domains), and those of require_weight.
/// Option errors: `no_pipeline`, `no_learner`, those of make_splits and of the threshold rule.
Evaluation evaluate(const Dataset& data, const std::vector<Pipeline>& pipelines, const EvaluateOptions& options,
                    const Context& context);

/// The same with a choice nested inside every split: of a grid with several points, the one that `tune` chooses on the
/// training rows of the split (under `adapt` with the target's rows, never its labels) is fitted on all of them and
/// scored. Option error `unknown_metric` for a choice metric that the task does not have.
Evaluation evaluate_grids(const Dataset& data, const std::vector<PipelineGrid>& grids, const EvaluateOptions& options,
                          const Context& context);

}  // namespace ecotone
