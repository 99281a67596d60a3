#pragma once

#include <optional>
#include <string>

#include "ecotone/base/context.h"
#include "ecotone/choose/scorer.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"

/// Do no harm: an adapted pipeline is used only where it is estimated to gain more than the estimate's noise.
namespace ecotone {

/// The pipeline without adaptation: without stages of the family weight, and with the plain learner in the place of one
/// of the family adapt, whose options of the same name it keeps. Option error `nothing_to_guard` when that is the
/// pipeline itself.
Pipeline plain_counterpart(const Pipeline& pipeline);

/// What the guard decided, and why; the note `guard` of a model.
struct GuardNote {
  bool adapted = false;                ///< the adapted pipeline was used, not the plain one
  Scorer scorer = Scorer::importance;  ///< that estimated the losses on the target
  RowLoss loss = RowLoss::error;
  std::optional<double> estimate_plain;
  std::optional<double> estimate_adapted;
  std::optional<double> gain;  ///< of the adapted over the plain, paired
  std::optional<double> standard_error;
  std::optional<double> importance_gain;  ///< beside the scorer transfer: the gain that importance sees
  std::string adapted_pipeline;
  std::string plain_pipeline;
  std::string error;  ///< why one of them could not be scored; empty

  /// {"chosen": "adapted" | "plain", "scorer", "loss", "estimate_plain", "estimate_adapted", "gain", "standard_error",
  /// "adapted", "plain"}, and "importance_gain" and "error" where there is one.
  Json to_json() const;
  /// Checks everything: the note may come from any file. File error `bad_model` naming `origin`.
  static GuardNote from_json(const Json& json, const std::string& origin);
  /// «adapted, estimated Brier score 0.213 against 0.381 plain (by importance: gain 0.168, standard error 0.021)»
  std::string sentence() const;
};

/// The note of a model that was guarded.
std::optional<GuardNote> guard_note(const Model& model, const std::string& origin);

struct Guarded {
  Model model;  ///< of the pipeline chosen, fitted on the whole view, with the note
  GuardNote note;
};

/// Estimates by the scorer `automatic` what the pipeline and its plain counterpart would lose on the target, and fits
/// the one that `choose` takes; the plain one, unscored, when the target has fewer rows than columns and one. Errors:
/// those of plain_counterpart, of CandidateScorer and of the fit.
Guarded guarded_fit(const Pipeline& pipeline, const TrainView& view, const Schema& schema, const ScorerOptions& options,
                    const Context& context);

}  // namespace ecotone
