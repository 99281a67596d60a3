#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/choose/scorer.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/fit_cache.h"
#include "ecotone/methods/model.h"

namespace ecotone {

/// A result, or the error that replaces it.
template <class T>
struct Attempt {
  std::optional<T> value;
  std::optional<Error> error;
};

/// The candidates, their training view, and the fits that scorers share.
class CandidateFits {
 public:
  CandidateFits(const TrainView& view, const Schema& schema, std::vector<Pipeline> candidates,
                const ScorerOptions& options, const Context& context);

  const TrainView& view() const { return view_; }
  const Schema& schema() const { return schema_; }
  const std::vector<Pipeline>& candidates() const { return candidates_; }
  RowLoss loss() const { return loss_; }
  /// Has no observer: messages of inner fits are dropped.
  const Context& context() const { return quiet_; }
  const Context& loud_context() const { return context_; }
  Index targets() const { return view_.x.rows() - view_.labelled(); }

  /// Folds of the labelled rows; data error `too_few_rows`.
  const std::vector<InnerFold>& folds();

  /// The losses of all labelled rows, each from a fit without the row's fold and with all target rows.
  struct HeldOut {
    Vector loss;
    Prediction on_target;              ///< of the first fold's fit
    std::vector<std::string> classes;  ///< of the first fold's fit
  };
  const std::vector<Attempt<HeldOut>>& held_out();

  /// A fit on the whole view and its predictions for the target rows.
  struct Full {
    std::shared_ptr<const Model> model;
    Prediction on_target;
  };
  const std::vector<Attempt<Full>>& full();

  /// The density ratio of the target to the labelled rows, and their overlap. There must be target rows.
  const TargetRatio& ratio();
  const Overlap& overlap();

  /// Runs body(candidate, part, view of the part, cache, context) for every candidate and part; those of one part share
  /// the view, the cache and the seed. Small data run in parallel on all threads. Data and option errors are kept,
  /// those of the first failing part.
  using Body = std::function<void(std::size_t, std::size_t, const TrainView&, FitCache&, const Context&)>;
  std::vector<std::optional<Error>> run(std::string_view purpose, std::size_t parts,
                                        const std::function<TrainView(std::size_t)>& make, const Body& body);

  /// What a fit on a part of the view predicts for some labelled rows, and their losses.
  Prediction predictions(const Model& model, const std::vector<Index>& rows, const Context& context) const;
  Vector losses(const Model& model, const std::vector<Index>& rows, const Context& context) const;
  Vector losses(const Model& model, const std::vector<Index>& rows, RowLoss loss, const Context& context) const;
  /// The target rows as a batch.
  Batch target_batch() const;

 private:
  TrainView view_;
  Schema schema_;
  std::vector<Pipeline> candidates_;
  RowLoss loss_;
  Index n_folds_;
  Context context_;
  Context quiet_;
  std::vector<InnerFold> folds_;
  std::vector<Attempt<HeldOut>> held_out_;
  std::vector<Attempt<Full>> full_;
  std::optional<TargetRatio> ratio_;
  std::optional<Overlap> overlap_;
};

}  // namespace ecotone
