#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/files/tensor_file.h"
#include "ecotone/base/json.h"
#include "ecotone/data/dataset.h"
#include "ecotone/methods/method.h"
#include "ecotone/methods/pipeline.h"

namespace ecotone {

struct ModelContents;

/// What each column adds to the scores of rows.
struct Contributions {
  std::vector<std::string> columns;  ///< as the learner sees them
  Matrix values;                     ///< rows x (columns + 1) for every score, as Fitted::contributions gives them

  Index scores() const { return values.cols() / (std::ssize(columns) + 1); }
};

/// A fitted pipeline: immutable, thread-safe, saved and loaded whole.
class Model {
 public:
  /// Fits the stages in order. Before a learner every value must be finite (data error `non_finite`, naming column and
  /// row and suggesting impute). A learner without labels is the error `no_labels`, no rows `empty_data`. Level columns
  /// of categorical inputs that no training row has are dropped; to a first stage that takes categories each such input
  /// is one column of codes (categories.h), and `coded_columns` is the error where it does not. A stage that follows a
  /// learner is fitted on predictions of refits that did not see the rows (cross_fit.h). For a stage that chooses
  /// options of its own, the stages before it are refitted in every fold (refits.h). Warns (`not_converged`) if a stage
  /// did not converge.
  static Model fit(const Pipeline& pipeline, const TrainView& view, const Schema& schema, const Context& context);
  static Model fit(const Pipeline& pipeline, const TrainView& view, const Schema& schema, const Context& context,
                   FitCache& cache);

  /// Finishes a pipeline from sums over rows (require_sums), without the rows. The stages of `behind`, if any, stand
  /// before it: the sums are of what that model makes of the rows. Option error `behind_predicts` if it predicts.
  static Model from_sums(const Pipeline& pipeline, const RowSums& sums, const Schema& schema, const Model* behind,
                         const Context& context);

  /// A fitted pipeline and the view that its last stage passes on.
  struct Passed;
  static Passed fit_and_pass(const Pipeline& pipeline, const TrainView& view, const Schema& schema,
                             const Context& context);

  /// The input of a pipeline's last stage: the stages before it are fitted on the view, the last one is not. For
  /// callers that need more from a method than its fitted stage.
  static TrainView view_of_last(const Pipeline& pipeline, TrainView view, const Schema& schema, const Context& context);

  /// Predictions for a batch whose columns are matched with the model's by name (by position when the batch has none).
  /// Option error `no_learner` when the pipeline does not end in a learner.
  Prediction predict(const Batch& batch, const Context& context) const;
  /// What each column that reaches the learner adds to its scores. Option error `no_contributions` when the last stage
  /// cannot say.
  Contributions contributions(const Batch& batch, const Context& context) const;
  /// This model moved towards the labelled rows of a new domain, less so with a larger `strength`; all but the last
  /// stage stay as they are. The note `refit` says so, and the note `expect` is dropped. Option error `cannot_refit`
  /// where the last stage cannot; data errors `unknown_class`, `needs_classes`, `needs_numbers`, `bad_label` and
  /// `non_finite` where the labels are not the model's or too large.
  Model refitted(const TrainView& view, double strength, const Context& context) const;
  /// What stage i holds.
  StageState state(std::size_t i) const { return fitted_[i]->save(); }
  /// The features after the last stage that transforms.
  Features transform(const Batch& batch, const Context& context) const;
  bool needs_domain_sample() const;
  /// Training rows that a stage holds as numbers; see Fitted::training_rows.
  Index training_rows(std::size_t stage) const { return fitted_[stage]->training_rows(); }
  /// Option error `holds_rows` naming the first stage that holds training rows, and what to use instead.
  void require_no_rows() const;

  const Pipeline& pipeline() const { return pipeline_; }
  const Schema& schema() const { return schema_; }
  Task task() const { return task_; }
  const std::vector<std::string>& classes() const { return classes_; }
  const std::vector<std::string>& features() const { return features_; }
  /// Names of the source and target domains that it was fitted on.
  const std::vector<std::string>& domains() const { return domains_; }
  const std::vector<Status>& statuses() const { return statuses_; }

  /// Facts about the model's origin that no stage knows: JSON objects by name, such as `guard`. Saved with the model
  /// and shown by inspect under their names.
  const Json& notes() const { return notes_; }
  /// This model with a note (an object of finite numbers and strings), replacing any note of that name.
  Model with_note(const std::string& name, Json note) const;

  /// Everything as JSON, as `inspect --json` prints it.
  Json inspect() const;

  /// Model files are safetensors with everything but the arrays in the metadata; equal models give equal bytes.
  std::string bytes() const;
  void save(const std::filesystem::path& path) const;
  static Model load(const std::filesystem::path& path);
  /// From a file's content; every length, name and number is checked (`file` errors `bad_model`, `newer_format`).
  static Model from_tensors(const TensorFile& file);
  /// The same as the state of a stage, for a stage that holds other models: texts and arrays.
  StageState as_state() const;
  static Model from_state(const StageState& state, const std::string& origin);

 private:
  Model(Pipeline pipeline, Schema schema) : pipeline_(std::move(pipeline)), schema_(std::move(schema)) {}
  /// Fits the first `count` stages and returns the view after them.
  TrainView fit_stages(std::size_t count, TrainView view, const Context& context, FitCache& cache);
  /// Fits stage i behind a learner; the stages before it began with `first` and passed `view` on.
  StageResult fit_behind(std::size_t i, const TrainView& first, const TrainView& view, const Context& context) const;
  /// What the first `count` stages predict; the last of them predicts.
  Prediction predict_through(std::size_t count, const Batch& batch, const Context& context) const;
  /// Fits stage i, which chooses options of its own, on `view`; the stages before it begin with `first`.
  StageResult fit_choosing(std::size_t i, const TrainView& first, const TrainView& view, const Context& context,
                           FitCache& cache) const;
  TensorWriter to_tensors() const;
  static Model from_contents(ModelContents contents);
  /// A batch as the first stage sees it, its columns found by name.
  Batch aligned(const Batch& batch, const Context& context) const;

  Pipeline pipeline_;
  Schema schema_;
  Task task_ = Task::classify;
  std::vector<std::string> classes_;
  std::vector<std::string> features_;
  std::vector<std::string> domains_;
  std::uint64_t seed_ = 0;
  std::string version_;  ///< of the program that fitted it; empty: this one
  std::vector<std::shared_ptr<const Fitted>> fitted_;
  std::vector<Status> statuses_;
  Json notes_ = Json::object();
};

struct Model::Passed {
  Model model;
  TrainView next;
};

}  // namespace ecotone
