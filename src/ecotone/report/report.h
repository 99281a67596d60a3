#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/diagnose/diagnose.h"
#include "ecotone/diagnose/population.h"
#include "ecotone/diagnose/projection.h"
#include "ecotone/evaluate/columns/column_effects.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/evaluate/whole_model.h"
#include "ecotone/label/simulate.h"
#include "ecotone/methods/select/feature_selection.h"
#include "ecotone/report/provenance.h"
#include "ecotone/reproduce/experiment.h"
#include "ecotone/trust/expect.h"
#include "ecotone/trust/explain.h"

namespace ecotone {

/// Results that belong together, in any combination: what one page shows and one JSON document holds. A verb adds its
/// result here, its panels in report/html/panels.h and its reader in report/json/read.h.
struct Report {
  std::string title = {};
  std::string intended_use = {};  ///< in the user's words
  std::optional<Evaluation> evaluation = {};
  std::vector<Expectation> expectations = {};  ///< of targets without labels
  std::vector<Explanation> explanations = {};  ///< of targets that cost more
  std::optional<WholeModel> whole = {};        ///< the best pipeline of the evaluation
  std::optional<ColumnEffects> effects = {};
  std::optional<LabelSimulation> simulation = {};
  std::optional<Tuning> tuning = {};
  std::optional<FeatureSelection> selection = {};
  std::vector<Reproduction> reproductions = {};
  std::optional<Diagnosis> diagnosis = {};
  bool diagnosis_beside = false;   ///< it came with another result, and gives way to one that is given by itself
  std::string not_diagnosed = {};  ///< why an evaluation has no diagnosis beside it; empty: it was not tried
  std::optional<Population> population = {};
  std::optional<Projections> projections = {};
  std::vector<Provenance> provenance = {};  ///< of each result
};

/// One document: the fields of the first result, its "kind" (evaluation, expectation, explanation, effects, simulation,
/// tuning, selection, reproduction or diagnosis), and under their names what else there is: "diagnosis", "population",
/// "projections", "whole_model", "provenance". Several reproductions are the list "reproductions" of the kind of that
/// name.
Json document_of(const Report& report);
/// Adds the results of such a document. File error `bad_result`, which names `origin`, for anything else, and for a
/// second result of a kind that a page shows once.
void add_document(Report& report, const Json& document, const std::string& origin);

}  // namespace ecotone
