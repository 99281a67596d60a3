#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/base/files/dtype.h"
#include "ecotone/base/json.h"
#include "ecotone/base/options.h"
#include "ecotone/data/dataset.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/methods/fit_cache.h"

namespace ecotone {

/// Families are the folders under methods/. Learners and adapters predict and end a pipeline, or stand before stages
/// that revise their predictions; the others pass rows on.
enum class Family { prepare, represent, select, weight, learn, adapt };
std::string_view family_name(Family family);

/// What a model answers for a batch.
struct Prediction {
  Task task = Task::classify;
  std::vector<std::int32_t> index;  ///< predicted class of each row, into the model's classes
  Matrix probability;               ///< n x classes, rows sum to 1
  Vector value;                     ///< predicted value of each row; regression
  Vector variance;                  ///< of the label around `value`, noise included; empty where a learner has none
  Matrix score;                     ///< decision values: n x 1 (of the second class) or n x classes; may be empty

  /// Which classes each row's set holds, n x classes; empty unless a stage makes sets.
  using Sets = Eigen::Array<bool, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  Sets set = {};
  Vector low = {};   ///< ends of each row's interval, which may be infinite; empty unless a stage makes intervals
  Vector high = {};  ///< below `low`: the interval is empty
};

/// The decision values of a classification, made from the probabilities where the learner gave none:
/// ln p_1 - ln p_0 for two classes (n x 1), ln p_k for more (n x classes). Always finite.
Matrix decision_scores(const Prediction& prediction);

/// Columns of decision values for this many classes.
constexpr Index score_columns(std::size_t classes) { return classes <= 2 ? 1 : static_cast<Index>(classes); }

/// How a fit ended. Not converging is a status that users see, not an exception.
struct Status {
  bool converged = true;
  std::string text = "converged";
};

/// A fitted stage's content as plain data: JSON for scalars and texts, arrays for numbers. It is what model files hold
/// and what `inspect` shows, under the same names.
class StageState {
 public:
  Json info = Json::object();

  void set(const std::string& name, const Matrix& value);
  void set(const std::string& name, const Vector& value);
  void set(const std::string& name, const std::vector<double>& value);
  bool has(const std::string& name) const { return arrays_.contains(name); }
  /// Checked reads; -1 matches any size. A `file` error (`bad_model`) names the array when absent, misshapen or not
  /// finite.
  Matrix matrix(const std::string& name, Index rows, Index cols) const;
  Vector vector(const std::string& name, Index size) const;
  /// Checked scalars of `info`.
  double number(const std::string& name) const;
  std::optional<double> number_or_null(const std::string& name) const;
  bool flag(const std::string& name) const;
  Index count(const std::string& name) const;
  std::string text(const std::string& name) const;

  struct Array {
    std::vector<Index> shape;
    std::vector<double> values;
    DType type = DType::f64;  ///< as which files hold them
  };
  const std::map<std::string, Array>& arrays() const { return arrays_; }
  void set(const std::string& name, Array array) { arrays_[name] = std::move(array); }

 private:
  std::map<std::string, Array> arrays_;
};

/// One fitted stage: immutable, thread-safe.
class Fitted {
 public:
  virtual ~Fitted() = default;
  /// New features for a batch. Default: unchanged (weight stages, learners).
  virtual Features transform(const Batch& batch, const Context& context) const;
  /// Columns that transform gives for this many input columns.
  virtual Index output_cols(Index input_cols) const { return input_cols; }
  /// The columns that transform passes on as they are, in order; only selectors have them.
  virtual std::optional<std::vector<Index>> selected() const { return std::nullopt; }
  /// Predictions; only learners and adapters have them.
  virtual Prediction predict(const Batch& batch, const Context& context) const;
  /// What a stage behind a learner makes of its predictions. `batch` is what the first stage of the pipeline sees.
  virtual Prediction revised(Prediction before, const Batch& batch, const Context& context) const;
  /// Whether a prediction depends on the other rows of its domain (so that rows must not be split into arbitrary
  /// batches).
  virtual bool needs_domain_sample() const { return false; }
  /// What each column adds to the scores of each row: rows x (columns + 1) for every score, one after the other; the
  /// last column of each is the mean score of training, and a row adds up to its score. Empty: it cannot say.
  virtual Matrix contributions(const Batch& batch, const Context& context) const;
  /// The same stage moved towards the labelled rows of a new domain, less so with a larger `strength`. Null: it cannot.
  virtual std::shared_ptr<const Fitted> refitted(const TrainView& view, double strength, const Context& context) const;
  /// Rows of the training data that it holds as numbers (support vectors, landmarks), each as often as it is held.
  /// Whoever has the model can read them.
  virtual Index training_rows() const { return 0; }
  /// Everything that load needs, and what inspect shows.
  virtual StageState save() const = 0;
};

/// What fitting a stage gives: the fitted stage and the view for the next one (new features or new row weights).
struct StageResult {
  std::shared_ptr<const Fitted> fitted;
  TrainView next;
  Status status;
};

/// What a stage that is loaded may check its arrays against.
struct StageInput {
  Index cols = 0;
  Task task = Task::classify;
  std::vector<std::string> classes;
};

/// Rows that statistics are learned from: the labelled source rows, or all rows where nothing is labelled (pipelines
/// that only transform).
Features fitting_rows(const TrainView& view);

/// How most fits end: the view goes on with the features that the fitted stage makes of it.
StageResult pass_on(std::shared_ptr<const Fitted> fitted, TrainView view, const Context& context, Status status = {});

using FitStage = std::function<StageResult(const TrainView&, const OptionValues&, const Context&, FitCache&)>;
using LoadStage =
    std::function<std::shared_ptr<const Fitted>(const StageState&, const OptionValues&, const StageInput&)>;

/// The folds in which a method chooses options of its own, with the stages before it refitted; see refits.h.
struct Refits;
using FitWithRefits =
    std::function<StageResult(const TrainView&, const Refits&, const OptionValues&, const Context&, FitCache&)>;

/// The stages before one that stands behind a learner, and what they were fitted on; see cross_fit.h.
struct Upstream;
using FitBehindLearner = StageResult (*)(const Upstream&, const OptionValues&, const Context&);

/// Where the rows may be while a method is fitted.
enum class Route {
  memory,    ///< in memory: every method
  streamed,  ///< in a file: memory is for blocks of rows and for a few numbers per row
  ranks,     ///< shared by several processes: each reads some and all sum; see base/blocks.h, sum_rows
  sums,      ///< elsewhere: sums over them are enough; see sums/sums_route.h
};
std::string_view route_name(Route route);
/// One sentence on what the route is.
std::string_view route_text(Route route);

/// A route of a method, and the options with which it has that route; none: with any.
struct MethodRoute {
  Route route;
  std::string options = {};
};

/// How a method is learned from sums over the rows of domains alone, where it can be; see sums/sums_route.h.
struct RowSums;
struct SumsResult;
struct SumsRoute {
  /// Null: the method needs rows.
  SumsResult (*fit)(const RowSums&, const OptionValues&, const Context&) = nullptr;
  /// Throws an option error where these options need rows. Null: none do.
  void (*check)(const OptionValues&) = nullptr;
  /// Of a method that learns from features drawn with the seed before any row is seen: these features of the rows.
  Features (*drawn)(const Features&, const OptionValues&, const Context&) = nullptr;
  /// Whether it knows what to do beside sums of target domains: to use them, or to leave them alone as `fit` does.
  bool beside_targets = false;
  /// The options that it needs, for people.
  const char* options = "";
};

/// What a method learns from the labels.
enum class Learns {
  nothing,      ///< it does not need any
  labels,       ///< classes or numbers, whatever there is
  two_classes,  ///< two classes, some also numbers; the registry adds more classes, and class weights of learners
  classes,      ///< the same, and several classes at once without being combined from two
  numbers,      ///< numbers: regression only
};

/// An option that only says how much is penalised. Fits that differ in penalties alone start from each other.
struct PenaltyOption {
  std::string name;
  bool inverse = false;  ///< a cost: the larger it is, the less is penalised
};

/// A default that depends on another option: unless `option` is given, it is `value` where `beside` is not 0.
struct DefaultBeside {
  std::string option;
  std::string beside;
  Json value;
};

/// What a selector is run on by `select`, and what it finds; see select/feature_selection.h.
struct SelectionInput;
struct FeatureSelection;
using SelectFeatures = std::function<FeatureSelection(const SelectionInput&, const OptionValues&, const Context&)>;

/// What a stage that adapts is without adapting; `fit --guard` compares both.
struct PlainForm {
  /// The method in its place, with the options that both have; the stage's own method: with its default options.
  /// Empty: the stage is left out.
  std::string method = {};
  /// The one option with which the stage adapts, as in pipeline text ("by=domain"). Empty: it always does.
  std::string only_with = {};
  /// In place of `method` where labels are numbers.
  std::string of_numbers = {};
  /// What l2 is multiplied with there, where the two methods count squared errors differently.
  double l2_of_numbers = 1;
};

/// A registered method. The one list of them is methods.def. What a method says of itself comes first; the rest follows
/// from its option struct and functions.
struct Method {
  std::string name;  ///< as in pipeline text
  Family family = Family::prepare;
  std::string summary = {};              ///< one sentence
  std::string when = {};                 ///< when to use it, after "Use it "
  std::string example = {};              ///< a pipeline with it that predicts
  std::string citation = {};             ///< key of docs/glossary.md; empty when there is none to cite
  std::vector<MethodRoute> routes = {};  ///< beside `memory`, and `sums`, which follows from `sums`
  Learns learns = Learns::nothing;
  bool reads_features = true;                 ///< false: it never looks at them, so missing values do not matter to it
  bool takes_missing = false;                 ///< missing values and infinities are values to it
  bool takes_categories = false;              ///< where it stands first, a column of text is one column of codes to it
  bool has_contributions = false;             ///< fitted, it says what each column adds to a score
  std::optional<PlainForm> plain = {};        ///< see plain_form
  std::vector<PenaltyOption> penalties = {};  ///< in the order in which fits that differ in them are sorted
  std::vector<DefaultBeside> defaults_beside = {};
  SelectFeatures select = {};     ///< of family select: all that the path of a run says
  std::string without_rows = {};  ///< what to do so that a model holds no training rows; empty: none does

  std::vector<OptionInfo> options = {};
  FitStage fit = {};
  /// Set beside `fit` by a method that chooses options of its own on held-out rows; used if stages stand before it.
  FitWithRefits fit_with_refits = {};
  LoadStage load = {};
  /// Set instead of `fit` by a method that stands behind a learner and revises its predictions.
  FitBehindLearner fit_behind_learner = nullptr;
  bool makes_sets = false;    ///< its predictions have sets or intervals; nothing may stand behind it
  bool needs_target = false;  ///< it prepares source rows for a target, without which it cannot be fitted
  SumsRoute sums = {};

  bool needs_labels() const { return learns != Learns::nothing; }
  /// Whether the registry combines it from two classes to more.
  bool combines_classes() const { return learns == Learns::two_classes || learns == Learns::classes; }
  /// Whether that comes with options; selectors take each class against the rest.
  bool has_class_options() const { return combines_classes() && family != Family::select; }
  bool regression_only() const { return learns == Learns::numbers; }
  /// Whether it can be learned from sums over rows, without the rows.
  bool from_sums() const { return sums.fit != nullptr; }
  /// All routes, `memory` first.
  std::vector<MethodRoute> all_routes() const;
  /// Whether it cannot be fitted without rows of a target.
  bool adapts() const { return needs_target || family == Family::adapt; }
  /// What a stage of it is without adapting: `plain`; of stages that cannot be fitted without a target and of those
  /// that correct predictions for one, nothing at all. None: it does not adapt.
  std::optional<PlainForm> plain_form() const;
  bool follows_learner() const { return fit_behind_learner != nullptr; }
  /// Wherever it stands; see Pipeline::predicts_at.
  bool predicts() const { return family == Family::learn || family == Family::adapt; }
  /// Selectors predict where they stand last (or only stages that follow a learner are behind them); elsewhere they
  /// pass rows on.
  bool predicts_when_last() const { return family == Family::select; }
  bool can_predict() const { return predicts() || predicts_when_last(); }
};

/// Makes the registry entry of a method from typed functions:
/// StageResult fit(const TrainView&, const Options&, const Context&, FitCache&) and
/// std::shared_ptr<const Fitted> load(const StageState&, const Options&, const StageInput&).
template <class Options, auto fit, auto load>
Method make_method(Method method) {
  method.options = describe_options<Options>();
  method.fit = [](const TrainView& view, const OptionValues& values, const Context& context, FitCache& cache) {
    return fit(view, read_options<Options>(values), context, cache);
  };
  method.load = [](const StageState& state, const OptionValues& values, const StageInput& input) {
    return load(state, read_options<Options>(values), input);
  };
  return method;
}

/// The same for a method that stands behind a learner: StageResult fit(const Upstream&, const Options&, const
/// Context&). `load` sees the number of the learner's decision values as the columns.
template <class Options, auto fit, auto load>
Method make_follower(Method method) {
  method.options = describe_options<Options>();
  method.load = [](const StageState& state, const OptionValues& values, const StageInput& input) {
    return load(state, read_options<Options>(values), input);
  };
  method.fit_behind_learner = [](const Upstream& upstream, const OptionValues& values, const Context& context) {
    return fit(upstream, read_options<Options>(values), context);
  };
  return method;
}

}  // namespace ecotone
