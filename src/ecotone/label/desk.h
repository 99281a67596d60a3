#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/label/estimate.h"
#include "ecotone/label/label_store.h"
#include "ecotone/label/row_facts.h"
#include "ecotone/methods/model.h"
#include "ecotone/methods/query/strategy.h"

namespace ecotone {

struct DeskOptions {
  Index budget = 100;                     ///< labels, audits included
  Index audit = 5;                        ///< every N-th question is an audit; 0: none
  std::optional<Strategy> strategy = {};  ///< empty: the default of the task
  std::vector<std::string> classes = {};  ///< further classes that may be answered
};

/// What the model believes of a row.
struct Belief {
  std::vector<double> probability;  ///< by class of the desk
  std::optional<double> value;      ///< numbers
  std::optional<double> sd;
};

/// One row in front of a person.
struct Question {
  Index row = 0;     ///< of the data
  Index origin = 0;  ///< of the files, counted from 0
  std::string domain;
  Why why = Why::uncertain;
  std::string reason;            ///< one sentence
  std::optional<Belief> belief;  ///< none for audits, and before the first model
  std::vector<FieldFact> fields;
  std::vector<NeighbourFact> neighbours;  ///< none for audits: their labels would lead the person
  std::optional<std::string> answered;    ///< after an undo: the label, "unsure" or "skip"
};

struct DeskPoint {
  Index labels = 0;
  AuditEstimate estimate;
};

struct DeskProgress {
  Index labels = 0;  ///< given, audits included
  Index budget = 0;
  Index unsure = 0;
  Index skipped = 0;
  Index audits = 0;        ///< labelled audit rows
  Index model_labels = 0;  ///< labels that the model shown has learned from
  bool fitting = false;
  std::string metric;  ///< accuracy or rmse
  std::optional<AuditEstimate> estimate;
  std::vector<DeskPoint> curve;
  std::optional<AnswerChange> changed;
  LabelAdvice advice;
  std::string problem;  ///< why there is no model or no ranking, so that rows are asked at random; empty: nothing
};

/// What one page shows.
struct DeskState {
  std::optional<Question> question;  ///< none: the budget is spent or no row is left, as the advice says
  DeskProgress progress;
  bool can_undo = false;
};

/// A click.
struct Answer {
  std::string page;
  std::string request;
  Index origin = 0;  ///< the row, as in the question
  AnswerKind kind = AnswerKind::label;
  std::string label;
};

/// Where a person labels. Questions are ready before they are asked for: the model is fitted again in the background
/// and never in the way of an answer. Every answer is in the store before the call returns. Several pages may work at
/// once; each has a question of its own. Thread-safe.
///
/// Audit rows are drawn from the pool before the first question and are never asked for another reason, so that they
/// are a random sample of the target whatever the strategy does (whole groups, where the data have them); the model
/// does not learn from their labels until final_model().
class Desk {
 public:
  /// The data, pipeline and store must outlive the desk. Data errors: `no_labels` (no label column), `empty_data`
  /// (nothing to ask), `one_class` (fewer than two classes to answer with).
  Desk(const Dataset& data, const Pipeline& pipeline, const DeskOptions& options, LabelStore& store,
       const Context& context);
  ~Desk();

  DeskState state(const std::string& page);
  /// Stores the answer and gives the next state. Data errors: `answered` if the row has been answered by another page,
  /// `not_asked` if this page was not asked this row, `bad_label` if the label is not one of the classes or no number.
  DeskState answer(const Answer& answer);
  /// Takes back the page's last answer, or if it has none the last of all; the row is asked again. Data error
  /// `nothing_to_undo`.
  DeskState undo(const std::string& page, const std::string& request);

  /// How far the work is; asks nothing.
  DeskProgress progress() const;
  const std::vector<std::string>& classes() const;
  /// The next questions of a round by spreadsheet, audits among them, up to `count`. They stay open, also after the
  /// process has ended, until the page `spreadsheet` answers them; after the next round they may be asked elsewhere,
  /// too.
  static constexpr const char* spreadsheet = "spreadsheet";
  std::vector<Question> round(Index count);

  /// Waits until the model has learned from all labels; for tests and for the end.
  void catch_up();
  /// All labels that stand, those of the data included.
  Labels labels() const;
  /// The pipeline fitted on all labels, audits included. Data errors of fits if there are too few.
  Model final_model();
  /// Rethrows what the last fit in the background threw, as text; empty: nothing.
  std::string fit_error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ecotone
