#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/data/dataset.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/methods/method.h"

namespace ecotone {

/// The predictions of one fitted pipeline for the held-out rows of its split, in the classes of the data set.
struct Outcome {
  Index repetition = 0;
  std::vector<Index> rows;              ///< of the data set; empty if there was nothing to predict
  std::vector<std::int32_t> predicted;  ///< classification
  Matrix probability;                   ///< rows x classes; 0 for classes unseen in training
  std::vector<bool> seen;               ///< per class: whether it occurred in training
  Vector value;                         ///< regression
  Prediction::Sets set = {};            ///< rows x classes; empty: the pipeline makes no sets
  Vector low = {}, high = {};           ///< regression: the ends of the intervals; empty: it makes none
  /// From which on the second class's probability means that class; empty if none was asked for or can be chosen.
  std::optional<double> threshold = std::nullopt;
};

struct ScoreOptions {
  MetricsAsked asked = {};  ///< which metrics beyond those of every outcome
  int resamples = 0;        ///< of the intervals within domains; 0: none
};

/// Converts the prediction of a model with these classes for the held-out rows of a split.
Outcome outcome_of(Prediction prediction, const std::vector<std::string>& model_classes, const Labels& y,
                   const Split& split);

/// The scores of one pipeline in each domain marked in `held_out`. Metrics use all labelled rows of a domain that one
/// repetition held out, by their weights, except AUROC and average precision, which are means over the repetition's
/// models (folds) for which they are defined, weighted by their rows. All are averaged over the repetitions that held
/// the domain out. Rows of weight 0 are not scored.
std::vector<DomainScore> score_domains(const Dataset& data, const std::vector<bool>& held_out,
                                       const std::vector<Outcome>& outcomes, const ScoreOptions& options,
                                       const Context& context);

/// The curves of one pipeline, of two classes, in each domain marked in `held_out`. Rows without a label or of weight 0
/// are left out.
ProbabilityCurves probability_curves(const Dataset& data, const std::vector<bool>& held_out,
                                     const std::vector<Outcome>& outcomes);

/// What a metric is in `scores` minus what it is in `others`, in domains where both have a value. Both have the same
/// domains in the same order.
std::vector<double> paired_differences(const std::vector<DomainScore>& scores, const std::vector<DomainScore>& others,
                                       std::string_view metric);

/// Fills in what follows from the scores by domain: mean, spread and worst over domains, the reference (the first
/// pipeline without an error) and the paired differences from it with adjusted p-values.
void compare_pipelines(Evaluation& evaluation);

}  // namespace ecotone
