#pragma once

#include <vector>

#include "ecotone/base/json.h"

/// Results as the JSON documents that `--json` prints. Undefined and non-finite values are null.
namespace ecotone {

class Context;
class Model;
struct Choice;
struct ColumnEffects;
struct Computer;
struct Dataset;
struct DeskProgress;
struct DeskState;
struct Diagnosis;
struct Evaluation;
struct Expectation;
struct Explanation;
struct Experiment;
struct FeatureSelection;
struct Figures;
struct Generator;
struct LabelSimulation;
struct LabelEvent;
struct LabelTask;
struct Method;
struct MetricInfo;
struct Moments;
struct SumsDiagnosis;
struct SumsPart;
struct OptionInfo;
struct Population;
struct Projections;
struct Reproduction;
struct StrategyInfo;
struct TrainView;
struct Tuning;
struct WholeModel;

/// Of `evaluate`; the first pipeline's "difference" is {}.
Json to_json(const Evaluation& evaluation);
/// Of the page of `evaluate`: its best pipeline fitted on all rows.
Json to_json(const WholeModel& whole);
/// Of `inspect --on`; docs/inspect.md explains the fields.
Json to_json(const ColumnEffects& effects);
/// Of `expect` and `explain`: {"expectations": [..]}, {"explanations": [..]}; docs/trust.md explains the fields.
Json to_json(const std::vector<Expectation>& expectations);
Json to_json(const std::vector<Explanation>& explanations);
/// Of `evaluate --choose`; docs/choose.md explains the fields.
Json to_json(const Choice& choice);
/// Of `tune`.
Json to_json(const Tuning& tuning);
/// Of `diagnose`; docs/diagnose.md explains the fields.
Json to_json(const Diagnosis& diagnosis);
/// Who is in the data: {"domain_word", "domains": [{"domain", "rows", "labelled", "share" by class or "label_mean"}],
/// "label", "classes", "columns": [{"column", "kind", "domains": [figures], "all": figures, "levels"}],
/// "further_columns": their number}, where figures are {"missing", "mean", "sd"} or, of texts, {"missing", "share"}.
Json to_json(const Population& population);
/// Of the pages of `evaluate` and `diagnose`: rows in the plane.
Json to_json(const Projections& projections);
/// Of `reproduce`.
Json to_json(const Reproduction& reproduction);
/// Of the pictures of `reproduce`.
Json to_json(const Figures& figures);
/// Of `select`: parallel arrays over the steps that were kept, under the names of the golden cases.
Json to_json(const FeatureSelection& found);
/// Of `label --simulate`; docs/label.md explains the fields.
Json to_json(const LabelSimulation& simulation);
/// Of `moments`: {"kind": "moments", "features": their number, "classes", "domains": [{"domain", "rows", "labelled"}],
/// "gram"}.
Json to_json(const Moments& moments);
/// Of `partial` and `merge`: {"kind": "sums", "pipeline", "seed", "behind", "columns", "task", "parts": [{"part",
/// "rows": by domain, "classes": by class and domain}]}.
Json to_json(const std::vector<SumsPart>& parts);
/// Of `diagnose` on sums: {"kind": "sums_diagnosis", "pipeline", "domains": [{"domain", "rows", "share": by class}],
/// "smd": [{"feature", "by_domain"}], "mmd2": a matrix or null}.
Json to_json(const SumsDiagnosis& found);
/// Of `finish`.
Json finish_json(const Model& model, const std::vector<SumsPart>& parts);

/// Of `label`, for its page: docs/label.md explains the fields. Rows count from 1.
Json to_json(const DeskState& state, const LabelTask& task);
/// How far the labelling is: labels, budget, unsure, skipped, audits, the estimate and the advice.
Json to_json(const DeskProgress& progress);
/// A line of journal.jsonl. Rows count from 1.
Json to_json(const LabelEvent& event);

/// What every verb says of its data: {"rows", "features", "task", "classes", "domains": [{"domain", "rows", "role"}]}.
Json data_json(const Dataset& data);
/// Of `fit`, without the name of the file.
/// The trees of a model, each with nodes (feature, column, threshold or levels, missing, left, right, gain; a child
/// below 0 is leaf -(child + 1)), leaf values and rows. Option error `no_trees` if it has none.
Json trees_json(const Model& model, const Context& context);
Json fit_json(const Model& model, const Dataset& data, const TrainView& view);
/// One of `generate --list`: {"name", "summary", "citation", "options"}.
Json to_json(const Generator& generator);
/// One of `reproduce --list`: {"experiment", "paper", "title", "items": [{"item", "sort", "kind", "title", "metric",
/// "repetitions"}]}.
Json to_json(const Experiment& experiment);
/// Of `doctor`, without the version.
Json to_json(const Computer& computer);
/// One of `methods --metrics`: {"name", "title", "task", "best": "highest", "lowest", "one" or "zero", "help",
/// "formula", "two_classes", "at_threshold"}.
Json to_json(const MetricInfo& metric);
/// One of `methods --strategies`: {"name", "summary", "citation"}.
Json to_json(const StrategyInfo& strategy);
/// One method: name, family, summary, when, example (a pipeline), citation, reference, needs_labels, follows_learner,
/// learner_when_last, options.
Json to_json(const Method& method);
/// [{name, type, default, help, low, high, open_low, open_high, choices}].
Json to_json(const std::vector<OptionInfo>& options);

}  // namespace ecotone
