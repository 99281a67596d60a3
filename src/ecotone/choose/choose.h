#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/choose/scorer.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/pipeline.h"

/// Measures what choosing without the target's labels costs: every domain in turn is the target, a scorer chooses a
/// candidate without its labels, and the labels then show how that choice, the best choice and no adaptation really
/// scored.
namespace ecotone {

struct ChooseOptions {
  std::vector<Scorer> scorers = {Scorer::automatic};
  std::string metric;                    ///< of the true scores; empty: accuracy or rmse
  int folds = 5;                         ///< of rows, where a scorer holds rows out
  std::vector<std::string> target = {};  ///< domains that are the target in turn; empty: every domain
};

/// One scorer's choice for one target. Scores are values of the metric; regret and gain are in its units, and a
/// positive regret is a loss whichever direction is better.
struct TargetChoice {
  std::string domain;
  Scorer used = Scorer::importance;
  std::size_t chosen = 0;  ///< into the candidates
  std::vector<CandidateScore> estimates;
  std::optional<Overlap> overlap;          ///< of the sources and this target; `automatic` only
  std::string decided_by;                  ///< what decided (veto.h); `automatic` only
  std::optional<double> score;             ///< of the choice; empty if the metric is undefined
  std::optional<double> regret;            ///< to the best candidate, >= 0
  std::optional<double> gain;              ///< over no adaptation, the first candidate
  std::optional<double> rank_correlation;  ///< Spearman's, of estimates and true scores; 1: the right order
};

/// Means over the targets that have a value.
struct ScorerSummary {
  std::optional<double> score;
  std::optional<double> regret;
  std::optional<double> gain;
  std::optional<double> rank_correlation;
};

struct ScorerChoice {
  Scorer scorer = Scorer::automatic;
  std::vector<TargetChoice> targets;  ///< empty if the scorer could not be used
  ScorerSummary mean;
  std::string error_code;  ///< why the scorer could not be used
  std::string error;
};

/// The true scores of one target.
struct TargetTruth {
  std::string domain;
  Index rows = 0;                            ///< with a label
  std::vector<std::optional<double>> score;  ///< of each candidate
  std::optional<std::size_t> best;           ///< the best of them, the first among equals
};

struct Choice {
  std::string metric;
  Task task = Task::classify;
  std::vector<std::string> candidates;  ///< the first is "no adaptation"
  std::vector<TargetTruth> targets;
  std::vector<ScorerChoice> scorers;
  ScorerSummary best;       ///< of always taking the best candidate
  ScorerSummary reference;  ///< of always taking the first
};

/// All scorers see the same fits. Option errors: `unknown_metric`, `no_pipeline`, `no_learner`, `scorer_undefined`;
/// data errors: `no_labels`, `needs_two_domains`, and those of the first candidate. Another candidate that cannot be
/// fitted to every target has no true scores (warning `candidate_failed`). Errors of a single scorer are thrown; with
/// several, a failing scorer is left out and its error is in the result.
Choice choose_candidates(const Dataset& data, const std::vector<Pipeline>& candidates, const ChooseOptions& options,
                         const Context& context);

}  // namespace ecotone
