#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/measure/confidence_threshold.h"
#include "ecotone/methods/adapt/prior/shares.h"

/// What a model will score on rows without labels, by several estimators. None of them sees a changed relation of
/// labels to features.
namespace ecotone {

enum class Estimator {
  source,      ///< the mean over the source domains
  doc,         ///< the same, moved by the difference of confidences
  blend,       ///< half of each
  atc,         ///< the share of rows above a threshold of confidence
  cbpe,        ///< from calibrated probabilities
  cbpe_em,     ///< the same after a correction of class shares
  pape,        ///< from probabilities calibrated on source rows like the target's
  importance,  ///< the mean over source rows weighted to the target's
};
struct EstimatorInfo {
  Estimator estimator;
  std::string_view name;
  std::string_view summary;
  bool needs_rows;  ///< of the sources: a model file does not have them
};
std::span<const EstimatorInfo> estimator_infos();
std::string_view estimator_name(Estimator estimator);
/// The one that is used unless another is asked for: blend for accuracy, source for all other metrics.
Estimator default_estimator(std::string_view metric);

/// Labelled rows, each predicted by a model that has not seen its domain.
struct SourceRows {
  Task task = Task::classify;
  std::vector<std::string> domains;  ///< names
  std::vector<Metrics> metrics;      ///< of each domain
  std::vector<Index> count;          ///< rows of each
  std::vector<Index> row;            ///< of the data set, ascending
  UnseenRows unseen;                 ///< domains, weights and, of classes, the predictions; probabilities are clipped
  std::vector<double> log_loss, brier_sum;  ///< of each row, of probabilities as predicted
  Vector value, truth;                      ///< regression
};

/// Rows without labels and what a model predicts for them.
struct TargetRows {
  Matrix probability;  ///< as predicted
  std::vector<std::int32_t> predicted;
  Vector value;

  Index rows() const { return std::max(probability.rows(), value.size()); }
};

/// The values of metrics, by estimator and metric; those that are not defined are absent.
using Estimates = std::map<std::pair<Estimator, std::string>, double>;

/// All that the estimators need of the sources, but for those that need their rows.
struct SourceSummary {
  Metrics mean;                  ///< over domains
  double mean_inverse_rows = 0;  ///< mean of 1 / rows over domains
  // Of classes.
  double confidence = 0;  ///< mean largest probability
  ConfidenceThreshold threshold;
  std::optional<Bcts> calibration;  ///< empty: it cannot be learned, is reversed, or a class has no row
  Vector source_share;
};
SourceSummary summarise_sources(const SourceRows& sources);

/// The estimates that need no source rows.
Estimates estimate(const SourceSummary& sources, const TargetRows& target);

/// Source rows weighted to a target.
struct RowRatio {
  Vector log_weight;  ///< ln of the density ratio at each source row
  Index cols = 0;
};
/// How far the weights had to be flattened.
struct WeightedEstimates {
  Estimates estimates;
  double exponent = 1;
  double ess_raw = 0;
};
/// `pape` and `importance`.
WeightedEstimates estimate_weighted(const SourceRows& sources, const TargetRows& target, const RowRatio& ratio);

}  // namespace ecotone
