#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/json.h"
#include "ecotone/report/text/text_width.h"

/// Results as text for a terminal of 100 columns.
namespace ecotone {

class Context;
class Model;
struct Choice;
struct ColumnEffects;
struct Computer;
struct Dataset;
struct DecisionTree;
struct DeskProgress;
struct DeskState;
struct Diagnosis;
struct Evaluation;
struct Expectation;
struct Explanation;
struct Experiment;
struct FeatureSelection;
struct Generator;
struct GuardNote;
struct LabelSimulation;
struct LabelTask;
struct Method;
struct Moments;
struct SumsDiagnosis;
struct SumsPart;
struct Question;
struct Reproduction;
struct TrainView;
struct TreeColumn;
struct Tuning;

/// The metric that a table shows by default: auroc, or accuracy if auroc is undefined everywhere; rmse for regression.
std::string headline_metric(const Evaluation& evaluation);
/// One line per held-out domain and one column per pipeline for one metric (empty: the headline), then mean, spread and
/// the paired differences from the first pipeline in words. Pipelines too long for a column head are lettered, with a
/// legend above. Option error `unknown_metric` when the evaluation does not have the metric.
std::string evaluation_table(const Evaluation& evaluation, std::string_view metric = {});

/// What the models of the best pipeline use, by the loss of it on held-out rows; empty if that was not measured.
std::string importance_table(const Evaluation& evaluation, std::size_t top = 10);

/// One scorer's choices by target, or the means of several scorers.
std::string choice_table(const Choice& choice);
/// The pipelines that were tried, in order, the chosen one marked.
std::string tuning_table(const Tuning& tuning);
/// The diagnosis in a few sentences, then as tables of at most `top` lines with the advice below.
std::string diagnosis_text(const Diagnosis& diagnosis, std::size_t top = 10);
/// What to expect in targets without labels: every metric with its interval, then all estimators of one.
std::string expectations_text(const std::vector<Expectation>& expectations);
/// Why targets cost more: the parts of the difference, at most `top` regions, and what to do.
std::string explanations_text(const std::vector<Explanation>& explanations, std::size_t top = 10);
/// What a model makes of its columns: at most `top` of them with their importance by domain, then what is remarkable.
std::string column_effects_text(const ColumnEffects& effects, std::size_t top = 10);
/// A line that counts the verdicts, then published numbers beside ours, a block per column, followed by the claims and,
/// if numbers are published, the rule of the verdicts. A matrix shows only ours, a line per row.
std::string reproduction_table(const Reproduction& reproduction);
/// A table of the steps, where and why the path ends, and how penalty and size were chosen.
std::string selection_text(const FeatureSelection& found);

/// What a fitted stage of trees says of itself: how many, how they were chosen, and the gains by column with the
/// domains that a column's splits hurt. `names` are those of its columns. `refitted`: the leaves were moved later,
/// which is said where lines are about the old ones.
std::string tree_stage_text(const Json& stage, const std::vector<std::string>& names, bool refitted = false);

/// What a stage of sets promises and what it covered in each source domain.
std::string conformal_stage_text(const Json& stage);
/// Whether a stage corrects for other shares of classes, and what speaks for it.
std::string prior_stage_text(const Json& stage, const std::vector<std::string>& classes);

/// The loss and the start of the scores, then all trees of a model's stage of trees, one after the other, each with the
/// round and class it belongs to where there are more than two classes. Option error `no_trees` if it has none.
std::string model_trees_text(const Model& model, const Context& context);

/// A decision tree, a line for every node and leaf, the rows that a node's line holds for first and then the others,
/// both indented: "age <= 54.5 (missing left), gain 12.3", "site is Graz, Linz, gain 2.1", "0.25 (31 rows)". `names`
/// are those of the columns; `levels` has the texts of each column's codes, none for numbers.
std::string tree_text(const DecisionTree& tree, const std::vector<TreeColumn>& columns,
                      const std::vector<std::string>& names, const std::vector<std::vector<std::string>>& levels);

/// What labels are worth: a sentence, then the values at a few numbers of labels by strategy with their range over the
/// runs, the labels to reach the goal, and how often the audit's interval was right.
std::string simulation_text(const LabelSimulation& simulation);

/// "920 rows, 13 features, 4 domains (cleveland 303, hungarian 294, switzerland 123, va 200), label 'label' (classify:
/// 0, 1)"
std::string data_summary(const Dataset& data);
/// Describes a file of moments: sizes, labels, the kind of Gram matrix, and a table of the domains.
std::string moments_text(const Moments& moments);
/// Describes a file of sums: what they are of, what they reveal, and a table of the parts and domains.
std::string parts_text(const std::vector<SumsPart>& parts);
/// How domains differ by their sums, with at most `top` features.
std::string sums_diagnosis_text(const SumsDiagnosis& found, std::size_t top = 10);
/// What `finish` made of them.
std::string finish_text(const Model& model, const std::vector<SumsPart>& parts);
/// Describes a model: its pipeline, columns and domains, the guard's decision, and every stage.
std::string model_text(const Model& model, const std::optional<GuardNote>& guard, const Context& context);

/// What `fit` says of a new model: the data, the rows used, the state of its stages and the guard's decision.
std::string fit_text(const Model& model, const Dataset& data, const TrainView& view,
                     const std::optional<GuardNote>& guard);

/// The key of each class, as on the page: its own digit if all classes are single digits, otherwise 1 to 9 for the
/// first nine and none for the others.
std::vector<std::string> class_keys(const std::vector<std::string>& classes);
/// What may be typed to answer a question.
std::string keys_text(const Question& question, const LabelTask& task);
/// A row to label in front of a person, for a terminal of `width` columns: its fields against their distribution, the
/// nearest labelled rows, the model's belief and why it is asked; or, without a question, what to do now.
std::string question_text(const DeskState& state, const LabelTask& task, Index width = page_width);
/// What has been labelled, the estimate with its interval and the advice, a line each.
std::string labelling_text(const DeskProgress& progress);

/// Generators of synthetic data with their options.
std::string generators_text(const std::vector<Generator>& generators);
/// Experiments with their parts.
std::string experiments_text(const std::vector<Experiment>& experiments);
/// What this build can do on this computer, below the version.
std::string computer_text(const Computer& computer);

/// All methods, a line each.
std::string methods_text();
/// One method: an example, when to use it, its citation and its options.
std::string method_text(const Method& method);
/// A command that shows a method at work, on the data of `generate clinics`.
std::string example_command(const Method& method);
/// The reference page docs/methods.md.
std::string methods_markdown();
/// Strategies of `label` with their options.
std::string strategies_text();
/// The reference page docs/strategies.md.
std::string strategies_markdown();
/// All metrics with their formulas.
std::string metrics_text();
/// The reference page docs/metrics.md.
std::string metrics_markdown();

}  // namespace ecotone
