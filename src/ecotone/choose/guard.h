#pragma once

#include <optional>
#include <string>

#include "ecotone/base/context.h"
#include "ecotone/choose/scorer.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/model.h"

/// Do no harm: use an adapted pipeline only if its estimated gain exceeds the noise of the estimate.
namespace ecotone {

/// The pipeline without adaptation: every stage that adapts to a target or matches domains is dropped or replaced as
/// Method::plain_form says. weight.balance and stages that match nothing stay. Option error `nothing_to_guard` if that
/// changes nothing or a learner that adapts has no plain form, whatever the task.
Pipeline plain_counterpart(const Pipeline& pipeline, Task task);

/// The guard's decision and its reasons; the note `guard` of a model.
struct GuardNote {
  bool adapted = false;                ///< the adapted pipeline was used, not the plain one
  Scorer scorer = Scorer::importance;  ///< that estimated the losses on the target
  RowLoss loss = RowLoss::error;
  std::optional<double> estimate_plain;
  std::optional<double> estimate_adapted;
  std::optional<double> gain;  ///< of the adapted over the plain, paired
  std::optional<double> standard_error;
  std::optional<double> importance_gain;  ///< with the scorer transfer: the gain that importance estimates
  std::optional<Overlap> overlap;         ///< of source and target
  std::string decided_by;                 ///< a veto's name, "gain" or "reference_failed" (veto.h); empty in old models
  std::string reason;                     ///< the veto in words; empty: there was none
  std::string adapted_pipeline;
  std::string plain_pipeline;
  std::string error;  ///< why one of them could not be scored; empty

  /// {"chosen": "adapted" | "plain", "decided_by", "scorer", "loss", "estimate_plain", "estimate_adapted", "gain",
  /// "standard_error", "adapted", "plain"}, and "overlap" ({"auroc", "ess_raw", "rows", "columns"}), "reason",
  /// "importance_gain" and "error" where there is one.
  Json to_json() const;
  /// Checks every field, because the note may come from any file. File error `bad_model` naming `origin`.
  static GuardNote from_json(const Json& json, const std::string& origin);
  /// "adapted, estimated log loss 0.413 against 0.681 plain (by importance: gain 0.268, standard error 0.041)" or
  /// "plain, because source and target do not overlap (...)"
  std::string sentence() const;
};

/// The note of a model that was guarded.
std::optional<GuardNote> guard_note(const Model& model, const std::string& origin);

struct Guarded {
  Model model;  ///< of the pipeline chosen, fitted on the whole view, with the note
  GuardNote note;
};

/// Estimates with the scorer `automatic` the target loss of the pipeline and of its plain counterpart, and fits the one
/// that `decide` picks: the plain one without scoring if no estimate would count. Errors: those of plain_counterpart,
/// of CandidateScorer and of the fit.
Guarded guarded_fit(const Pipeline& pipeline, const TrainView& view, const Schema& schema, const ScorerOptions& options,
                    const Context& context);

}  // namespace ecotone
