#include "ecotone/choose/candidate_fits.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ecotone/base/progress.h"
#include "ecotone/choose/score_kinds.h"
#include "ecotone/evaluate/fits_at_once.h"

namespace ecotone {

namespace {

bool tolerable(const Error& error) { return error.kind() == ErrorKind::data || error.kind() == ErrorKind::option; }

}  // namespace

CandidateFits::CandidateFits(const TrainView& view, const Schema& schema, std::vector<Pipeline> candidates,
                             const ScorerOptions& options, const Context& context)
    : view_(with_schema_names(view, schema, context)),
      schema_(schema),
      candidates_(std::move(candidates)),
      loss_(resolved(options.loss, view.y.task)),
      n_folds_(options.folds),
      context_(context),
      quiet_(context.observed_by(nullptr)) {
  if (candidates_.empty()) option_error("no_pipeline", "scorer: no candidate pipeline given");
  for (const Pipeline& pipeline : candidates_)
    if (!pipeline.predicts())
      option_error("no_learner", "scorer: \"{}\" does not end in a learner, so there is nothing to score",
                   pipeline.text());
  if (options.folds < 2) option_error("bad_option", "scorer: folds must be >= 2, got {}", options.folds);
  if (view.labelled() == 0) data_error("no_labels", "scorer: there are no labelled rows to score candidates on");
}

const std::vector<InnerFold>& CandidateFits::folds() {
  // The target is a new domain, so held-out rows of a known domain would be too optimistic.
  if (folds_.empty()) folds_ = whole_domain_folds(view_, n_folds_, quiet_.derived("score-folds", 0));
  if (folds_.empty()) folds_ = row_folds(view_, n_folds_, quiet_.derived("score-folds", 0));
  if (folds_.empty())
    data_error("too_few_rows", "scorer: rows are held out, so at least 2 labelled rows are needed, got {}",
               view_.labelled());
  return folds_;
}

const TargetRatio& CandidateFits::ratio() {
  if (!ratio_) ratio_ = target_ratio(view_, schema_, "importance", quiet_);
  return *ratio_;
}

const Overlap& CandidateFits::overlap() {
  if (!overlap_) overlap_ = overlap_of(ratio(), quiet_);
  return *overlap_;
}

std::vector<std::optional<Error>> CandidateFits::run(std::string_view purpose, std::size_t parts,
                                                     const std::function<TrainView(std::size_t)>& make,
                                                     const Body& body) {
  const std::size_t n = candidates_.size();
  const int fits = fits_at_once(view_.x);
  const std::size_t most_views = fits == 0 ? parts : static_cast<std::size_t>(fits);
  std::vector<std::vector<std::optional<Error>>> errors(n, std::vector<std::optional<Error>>(parts));
  Progress progress(context_.observer(), "score", static_cast<Index>(n * parts));
  for (std::size_t first = 0; first < parts; first += most_views) {
    const std::size_t at_once = std::min(most_views, parts - first);
    std::vector<TrainView> views;
    for (std::size_t k = 0; k < at_once; ++k) views.push_back(make(first + k));
    std::vector<FitCache> caches(at_once);
    const auto task = [&](Index number) {
      const std::size_t k = static_cast<std::size_t>(number) / n;
      const std::size_t c = static_cast<std::size_t>(number) % n;
      try {
        body(c, first + k, views[k], caches[k], quiet_.derived(purpose, first + k));
      } catch (const Error& error) {
        if (!tolerable(error)) throw;
        errors[c][first + k] = error;
      }
      progress.advance();
    };
    quiet_.parallel(static_cast<Index>(at_once * n), task, fits);
  }
  std::vector<std::optional<Error>> result(n);
  for (std::size_t c = 0; c < n; ++c) {
    const auto found = std::ranges::find_if(errors[c], [](const auto& error) { return error.has_value(); });
    if (found != errors[c].end()) result[c] = *found;
  }
  return result;
}

Prediction CandidateFits::predictions(const Model& model, const std::vector<Index>& rows,
                                      const Context& context) const {
  return model.predict({view_.x.take(rows), view_.domain.take(rows), take_origin(view_.origin, rows)}, context);
}

Vector CandidateFits::losses(const Model& model, const std::vector<Index>& rows, const Context& context) const {
  return losses(model, rows, loss_, context);
}

Vector CandidateFits::losses(const Model& model, const std::vector<Index>& rows, RowLoss loss,
                             const Context& context) const {
  return row_losses(view_.y.take(rows), predictions(model, rows, context), model.classes(), loss);
}

Batch CandidateFits::target_batch() const {
  std::vector<Index> rows(static_cast<std::size_t>(targets()));
  std::iota(rows.begin(), rows.end(), view_.labelled());
  return {view_.x.take(rows), view_.domain.take(rows), take_origin(view_.origin, rows)};
}

const std::vector<Attempt<CandidateFits::HeldOut>>& CandidateFits::held_out() {
  if (!held_out_.empty()) return held_out_;
  const std::vector<InnerFold>& all = folds();
  const Batch target = target_batch();
  std::vector<HeldOut> results(candidates_.size());
  for (HeldOut& result : results) result.loss.resize(view_.labelled());
  const auto body = [&](std::size_t c, std::size_t f, const TrainView& part, FitCache& cache, const Context& context) {
    const Model model = Model::fit(candidates_[c], part, schema_, context, cache);
    const Vector lost = losses(model, all[f].held, context);
    for (std::size_t i = 0; i < all[f].held.size(); ++i) results[c].loss[all[f].held[i]] = lost[static_cast<Index>(i)];
    if (f > 0) return;
    results[c].on_target = model.predict(target, context);
    results[c].classes = model.classes();
  };
  const auto errors = run(
      "score-fold", all.size(), [&](std::size_t f) { return view_of_rows(view_, all[f].train); }, body);
  held_out_.resize(candidates_.size());
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    held_out_[c].error = errors[c];
    if (!errors[c]) held_out_[c].value = std::move(results[c]);
  }
  return held_out_;
}

const std::vector<Attempt<CandidateFits::Full>>& CandidateFits::full() {
  if (!full_.empty()) return full_;
  const Batch target = target_batch();
  std::vector<Full> results(candidates_.size());
  const auto body = [&](std::size_t c, std::size_t, const TrainView& part, FitCache& cache, const Context& context) {
    const auto model = std::make_shared<const Model>(Model::fit(candidates_[c], part, schema_, context, cache));
    results[c] = {model, model->predict(target, context)};
  };
  const auto errors = run(
      "score-full", 1, [&](std::size_t) { return view_; }, body);
  full_.resize(candidates_.size());
  for (std::size_t c = 0; c < candidates_.size(); ++c) {
    full_[c].error = errors[c];
    if (!errors[c]) full_[c].value = std::move(results[c]);
  }
  return full_;
}

}  // namespace ecotone
