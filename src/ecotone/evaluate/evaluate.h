#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/protocol.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

/// Metric name -> value; empty if undefined (one class in a domain).
using Metrics = std::vector<std::pair<std::string, std::optional<double>>>;
/// The value of a metric; empty if it is undefined or absent.
std::optional<double> value_of(const Metrics& metrics, std::string_view name);

/// One held-out domain (over all repetitions that held it out: metrics are averaged, rows are those of one of them).
/// Metrics ignore row weights.
struct DomainScore {
  std::string domain;
  Index rows = 0;  ///< labelled, hence scored; 0: no metric is defined
  Metrics metrics;
};

struct PipelineScore {
  std::string pipeline;
  std::vector<DomainScore> domains;  ///< those held out at least once, in order of first appearance
  Metrics mean;                      ///< over domains with a value
  Metrics spread;                    ///< standard deviation over domains (n - 1)
  /// This minus the first pipeline, paired over domains where both have a value; none for the first pipeline itself.
  std::vector<std::pair<std::string, std::optional<Interval>>> difference;
};

/// The prediction of one held-out row, for --save-predictions.
struct HeldOutPrediction {
  Index pipeline = 0;
  Index repetition = 0;
  Index row = 0;  ///< 0-based row of the data set
  std::string prediction;
  std::vector<std::optional<double>> probability;  ///< per class of the data set; empty for regression
};

struct Evaluation {
  Protocol protocol = Protocol::leave_one_domain_out;
  Task task = Task::classify;
  std::vector<std::string> metrics;
  std::vector<PipelineScore> pipelines;
  std::vector<std::string> classes;            ///< of the data set
  std::vector<HeldOutPrediction> predictions;  ///< only when asked for
};

/// Fits every pipeline on every split and scores it on the rows held out; all pipelines see the same splits. The type
/// of the training view cannot hold held-out labels. Roles in the data are ignored: the protocol decides what is held
/// out. Rows without a label are not scored. k-fold metrics pool a domain's predictions from all folds, except AUROC:
/// scores of different models cannot be ranked together, so it is the mean over the folds in which the domain has both
/// classes, weighted by the domain's rows in them. Data errors: `no_labels`, `needs_two_domains` (protocols over
/// domains), and whatever a fit throws, prefixed with the pipeline and the domain held out. Option errors:
/// `no_pipeline`, `no_learner`, and those of make_splits.
Evaluation evaluate(const Dataset& data, const std::vector<Pipeline>& pipelines, const EvaluateOptions& options,
                    const Context& context);

}  // namespace ecotone
