#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "ecotone/base/background.h"
#include "ecotone/label/desk.h"
#include "ecotone/label/far_rows.h"
#include "ecotone/label/growing_model.h"
#include "ecotone/label/questions.h"

namespace ecotone {

/// A row that a page was asked.
struct Asked {
  Index row = 0;
  Why why = Why::uncertain;
  double probability = 1;
  Index model_labels = 0;
  std::optional<std::string> answered = {};  ///< after an undo
  std::string belief = {};                   ///< as it was shown first; empty: none was
};

/// What one fit gives to those who ask. Never changed once it is published.
struct FitResult {
  std::shared_ptr<const Model> model;  ///< null: too few labels
  Labels y;
  std::vector<Index> labelled;  ///< what the model has learned from
  Index labels = 0;             ///< given by people, without audits, that are among them
  std::vector<Asked> ranking;   ///< the rows to ask next
  Prediction prediction;        ///< for the whole pool, because some models look at all rows of a domain together
  std::string problem;          ///< why rows cannot be ranked; empty: they can
};

struct Desk::Impl {
  Impl(const Dataset& data, const Pipeline& pipeline, const DeskOptions& options, LabelStore& store,
       const Context& context);
  ~Impl();

  // ---- desk.cpp: what was answered
  void replay(const std::vector<LabelEvent>& events);
  void apply(const LabelEvent& event);
  void revoke(const LabelEvent& event);
  void count(const LabelEvent& event, Index by);
  const LabelEvent* last_answer(const std::string& page) const;
  void set_label(Index row, const std::string& label);
  std::string checked_label(const std::string& label) const;
  Index row_of(Index origin) const;
  DeskState state_of(const std::string& page);
  DeskProgress progress() const;

  // ---- desk_questions.cpp: what is asked
  void find_rows();
  void draw_reserve();
  void draw_seed();
  bool open(Index row) const { return status[at(row)] == Status::open; }
  std::set<Index> held_by_others(const std::string& page) const;
  std::optional<Asked> next(const std::string& page);
  std::optional<Asked> next_audit(const std::set<Index>& held) const;
  Asked& ask(const std::string& page, Asked asked);
  void note_belief(const std::string& page, const Question& question);
  Question describe(const Asked& asked, const FitResult& fit) const;
  std::string reason(const Asked& asked, const FitResult& fit, const NearRows& near) const;
  std::optional<Belief> belief(Index row, const FitResult& fit) const;
  void keep_asked();
  void load_asked();

  // ---- desk_fits.cpp: what is learned, on the thread of `background`
  void fit();
  std::vector<Asked> ranking(const FitResult& fit, const std::vector<Index>& rows, std::uint64_t number);
  void note_change(const FitResult& fit);
  void keep_compared();
  void load_compared();
  void update_estimate();
  void keep_curve();
  void load_curve();

  static constexpr const char* earlier_rounds = "spreadsheet, earlier rounds";
  enum class Status : char { closed, open, labelled, unsure, skipped };

  const Dataset& data;
  Pipeline pipeline;
  DeskOptions options;
  Strategy strategy;
  LabelStore& store;
  CancelFlag cancelled;
  Context context;  ///< with threads of its own, which stop when the desk closes, and one fewer, for who answers
  RowFacts facts;
  GrowingModel growing;
  std::optional<FarRows> far;  ///< made where it is needed: on the thread of `background`

  mutable std::mutex mutex;  ///< guards all below
  Labels y;
  std::vector<Index> known;
  std::vector<Index> learned_from_start;  ///< of these, the ones that share no group with an audit row
  std::vector<Index> pool;
  std::vector<Index> place;  ///< of each row in the pool; -1: it is not in it
  std::unordered_map<Index, Index> by_origin;
  std::vector<Status> status;  ///< of each row
  std::vector<char> reserved;  ///< for audits; of each row
  std::vector<Index> audit_order;
  std::vector<Index> seed_order;
  std::map<std::int64_t, LabelEvent> answers;                ///< those that stand, by id
  std::map<std::string, std::vector<std::int64_t>> by_page;  ///< their ids, in order
  DeskProgress counts;                                       ///< of the answers alone
  std::set<std::string> requests;
  std::map<std::string, std::vector<Asked>> asked;  ///< by page
  std::map<std::string, std::chrono::steady_clock::time_point> seen;
  bool in_round = false;  ///< what is asked is kept at the end of the round, not row by row
  std::shared_ptr<const FitResult> latest;
  std::uint64_t fits = 0;
  // what is known of the model
  std::optional<AuditEstimate> estimate;
  std::vector<DeskPoint> curve;
  std::vector<AnswerChange> changes;
  Index compared_labels = -1;    ///< labels of the model that the next change is measured from; -1: none yet
  std::vector<double> compared;  ///< its answers for the pool

  std::unique_ptr<Background> background;  ///< ends first
};

}  // namespace ecotone
