#pragma once

#include <string>
#include <vector>

#include "ecotone/base/json.h"

/// Results from the JSON documents that to_json makes of them (json.h); `origin` names the file. Made into JSON again,
/// they are the same document. Anything that is missing, of another type or at odds with the rest is a file error
/// (`bad_result`) that names the field. Fields that are not known are ignored.
namespace ecotone {

struct ColumnEffects;
struct Diagnosis;
struct Evaluation;
struct Expectation;
struct Explanation;
struct FeatureSelection;
struct Figures;
struct LabelSimulation;
struct Population;
struct Projections;
struct Reproduction;
struct Tuning;
struct WholeModel;

/// Without the predictions of single rows, which no document has.
Evaluation evaluation_from_json(const Json& json, const std::string& origin);
std::vector<Expectation> expectations_from_json(const Json& json, const std::string& origin);
/// Without the weights of single rows, which no document has.
std::vector<Explanation> explanations_from_json(const Json& json, const std::string& origin);
WholeModel whole_model_from_json(const Json& json, const std::string& origin);
ColumnEffects column_effects_from_json(const Json& json, const std::string& origin);
Tuning tuning_from_json(const Json& json, const std::string& origin);
Diagnosis diagnosis_from_json(const Json& json, const std::string& origin);
Population population_from_json(const Json& json, const std::string& origin);
Projections projections_from_json(const Json& json, const std::string& origin);
Figures figures_from_json(const Json& json, const std::string& origin);
Reproduction reproduction_from_json(const Json& json, const std::string& origin);
/// The path has the steps that were kept. Of the paths without a domain, `step` has one that stands for all: its losses
/// are their means; `greedy` and `tgreedy` have the losses alone.
FeatureSelection selection_from_json(const Json& json, const std::string& origin);
LabelSimulation simulation_from_json(const Json& json, const std::string& origin);

}  // namespace ecotone
