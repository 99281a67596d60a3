#include "ecotone/evaluate/split_fits.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "ecotone/base/at_hand.h"
#include "ecotone/base/progress.h"
#include "ecotone/base/shared_tasks.h"
#include "ecotone/evaluate/columns/importance.h"
#include "ecotone/evaluate/finished_work.h"
#include "ecotone/evaluate/fit_archive.h"
#include "ecotone/evaluate/fits_at_once.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/metric_of_choice.h"
#include "ecotone/evaluate/threshold.h"
#include "ecotone/evaluate/tune/tune.h"
#include "ecotone/methods/fit_cache.h"
#include "ecotone/methods/model.h"

namespace ecotone {

namespace {

/// The rows of one split, created for the first pipeline and freed after the last, with the intermediate results that
/// its pipelines share.
class SplitWork {
 public:
  SplitWork(const Dataset& data, const Split& split, std::size_t pipelines)
      : data_(data), split_(split), left_(pipelines) {}

  struct Parts {
    TrainView view;
    Batch batch;
    FitCache cache;
  };
  std::shared_ptr<Parts> parts(const Context& context) {
    const std::lock_guard lock(mutex_);
    if (!parts_) {
      // Kept when it is whole: whoever waits here while this throws makes it again and throws the same.
      const auto made = std::make_shared<Parts>();
      made->view = train_view(data_, split_.source, split_.target, context);
      made->batch = batch(data_, split_.held_out);
      parts_ = made;
    }
    return parts_;
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    if (--left_ == 0) parts_.reset();
  }
  const Split& split() const { return split_; }

 private:
  const Dataset& data_;
  const Split& split_;
  std::mutex mutex_;
  std::size_t left_;
  std::shared_ptr<Parts> parts_;
};

/// Whether an error is about this pipeline on these rows, so that others can go on.
bool of_pipeline(const Error& error) {
  const bool kind = error.kind() == ErrorKind::data || error.kind() == ErrorKind::option;
  return kind && error.code() != "not_enough_memory";
}

Error with_place(const Error& error, const PipelineGrid& grid, const Split& split) {
  return {error.kind(), error.code(), fmt::format("\"{}\" with {} held out: {}", grid.text, split.name, error.what())};
}

/// The point to fit: the only one, or what `tune` chooses on the training rows.
const Pipeline& chosen_point(const Dataset& data, const PipelineGrid& grid, const Split& split,
                             const EvaluateOptions& options, SplitFit& fit, const Context& context) {
  if (grid.points.size() == 1) return grid.points.front();
  TuneOptions tuned;
  tuned.metric = options.choice_metric;
  tuned.journal = options.journal;
  const Tuning tuning = tune_in_split(data, grid.points, split, tuned, context);
  const TunePoint& point = tuning.points[tuning.chosen];
  fit.choice = SplitChoice{split.name, point.pipeline, point.mean.value()};
  return grid.points[tuning.chosen];
}

/// What cannot be looked at is left out: the model itself is there.
std::vector<double> importance_of(const Model& model, const Dataset& data, const Split& split, Index rows,
                                  const Context& context) {
  try {
    return column_importance(model, data, split, rows, context.observed_by(nullptr));
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::data && error.kind() != ErrorKind::option) throw;
    return {};
  }
}

/// `context` has the seed of the evaluation, as `tune` on these rows would; the fits of a split share one of its own.
SplitFit run_fit(const Dataset& data, const PipelineGrid& grid, SplitWork& work, const EvaluateOptions& options,
                 const Context& context, const Context& fit_context) {
  const Split& split = work.split();
  const auto parts = work.parts(fit_context);
  SplitFit fit;
  try {
    const Pipeline& pipeline = chosen_point(data, grid, split, options, fit, context);
    const Model model = Model::fit(pipeline, parts->view, data.schema, fit_context, parts->cache);
    fit.outcome = outcome_of(model.predict(parts->batch, fit_context), model.classes(), *data.y, split);
    if (pipeline.makes_sets()) fit.promise = model.state(pipeline.stages().size() - 1).text("promise");
    if (options.importance > 0) fit.importance = importance_of(model, data, split, options.importance, fit_context);
    if (!options.threshold.empty())
      fit.outcome.threshold =
          chosen_threshold(ThresholdRule::parse(options.threshold), pipeline, parts->view, data.schema, fit_context);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::cancelled) throw;
    if (!of_pipeline(error)) throw with_place(error, grid, split);
    fit.error = with_place(error, grid, split);
  }
  return fit;
}

bool any_labelled(const Labels& y, const std::vector<Index>& rows) {
  return std::ranges::any_of(rows, [&](Index row) { return !y.missing(row); });
}

/// Where messages of this grid's fits may come from.
std::vector<std::string> stage_names(const PipelineGrid& grid, const EvaluateOptions& options) {
  std::vector<std::string> names;
  for (const Pipeline& point : grid.points)
    for (const Stage& stage : point.stages()) names.push_back(stage.method->name);
  if (grid.points.size() > 1) names.emplace_back("tune");
  if (!options.threshold.empty()) names.emplace_back("threshold");
  return names;
}

/// Whether a fit that was read has the shape of one of this split.
bool is_of(const SplitFit& fit, const Split& split, const Labels& y) {
  const Outcome& outcome = fit.outcome;
  if (fit.error) return true;  // its outcome is not looked at
  const Index rows = std::ssize(split.held_out);
  if (outcome.repetition != split.repetition || outcome.rows != split.held_out) return false;
  const auto one_each = [&](const Vector& ends) { return ends.size() == 0 || ends.size() == rows; };
  if (y.task == Task::regress)
    return outcome.value.size() == rows && one_each(outcome.low) && outcome.low.size() == outcome.high.size();
  const Index classes = std::ssize(y.classes);
  const auto known = [&](std::int32_t k) { return k >= 0 && k < classes; };
  return std::ssize(outcome.predicted) == rows && std::ranges::all_of(outcome.predicted, known) &&
         outcome.probability.rows() == rows && outcome.probability.cols() == classes &&
         std::ssize(outcome.seen) == classes &&
         (outcome.set.size() == 0 || (outcome.set.rows() == rows && outcome.set.cols() == classes));
}

/// All fits of an evaluation, split by split.
class SplitFits {
 public:
  SplitFits(const Dataset& data, const std::vector<PipelineGrid>& grids, const std::vector<Split>& splits,
            const EvaluateOptions& options, const Context& context)
      : data_(data),
        grids_(grids),
        splits_(splits),
        options_(options),
        context_(context),
        finished_(options.journal, "evaluate", data, context),
        fits_(grids.size(), std::vector<SplitFit>(splits.size())) {
    for (const Split& split : splits) work_.push_back(std::make_unique<SplitWork>(data, split, grids.size()));
    for (std::size_t s = 0; s < splits.size(); ++s)
      for (const PipelineGrid& grid : grids)
        messages_.push_back(std::make_unique<Messages>(stage_names(grid, options)));
  }

  std::vector<std::vector<SplitFit>> run() && {
    std::vector<std::size_t> left;
    for (std::size_t task = 0; task < messages_.size(); ++task)
      if (!taken(task)) left.push_back(task);
    Index own = 0;
    for (std::size_t i = 0; i < left.size(); ++i) {
      if (is_own_task(static_cast<Index>(i), context_))
        ++own;
      else
        work_[split_of(left[i])]->finish();  // elsewhere
    }
    Progress progress(context_.observer(), "evaluate", own);
    const auto run_one = [&](Index i) {
      run(left[at(i)]);
      progress.advance();
    };
    const auto archive_of = [&](Index i, auto& with) {
      std::vector<std::pair<std::string, std::string>> said = messages_[left[at(i)]]->items();
      const std::size_t before = said.size();
      with(fit_of(left[at(i)]), said);
      if (before == 0) messages_[left[at(i)]]->append(said);  // made by another rank
    };
    share_tasks(std::ssize(left), context_, fits_at_once(data_.x), run_one, archive_of);
    pass_on(messages_, context_);
    return std::move(fits_);
  }

 private:
  std::size_t split_of(std::size_t task) const { return task / grids_.size(); }
  std::size_t grid_of(std::size_t task) const { return task % grids_.size(); }
  SplitFit& fit_of(std::size_t task) { return fits_[grid_of(task)][split_of(task)]; }
  /// All pipelines of a split have the same seed, so that equal draws can be shared.
  Context context_of(std::size_t task) const {
    return context_.observed_by(messages_[task].get()).derived("evaluate", split_of(task));
  }

  Digest key_of(std::size_t task) const {
    const PipelineGrid& grid = grids_[grid_of(task)];
    Digest key = finished_.key();
    key.add(grid.text).add(grid.points.size());
    for (const Pipeline& point : grid.points) key.add(point.text());
    add_split(key, splits_[split_of(task)]);
    key.add(context_.seed()).add(context_of(task).seed());
    return key.add(metric_of_choice(options_.choice_metric, grid.points, *data_.y))
        .add(options_.threshold)
        .add(options_.importance);
  }

  /// Whether a previous run has left this fit.
  bool taken(std::size_t task) {
    const auto fits = [&](const SplitFit& fit) { return is_of(fit, splits_[split_of(task)], *data_.y); };
    if (!finished_.kept() || !finished_.take(key_of(task), fit_of(task), *messages_[task], fits)) return false;
    work_[split_of(task)]->finish();
    return true;
  }

  void run(std::size_t task) {
    const std::size_t s = split_of(task);
    const PipelineGrid& grid = grids_[grid_of(task)];
    if (options_.keep_predictions || any_labelled(*data_.y, splits_[s].held_out)) {
      tell_at_hand(context_, [&] { return fmt::format("{}, {}", splits_[s].name, grid.text); });
      const Context own = context_.observed_by(messages_[task].get());
      fit_of(task) = run_fit(data_, grid, *work_[s], options_, own, context_of(task));
      if (finished_.kept()) finished_.keep(key_of(task), fit_of(task), *messages_[task]);
    }
    work_[s]->finish();
  }

  const Dataset& data_;
  const std::vector<PipelineGrid>& grids_;
  const std::vector<Split>& splits_;
  const EvaluateOptions& options_;
  const Context& context_;
  FinishedWork finished_;
  std::vector<std::vector<SplitFit>> fits_;  ///< by pipeline, then split
  // By task: the pipelines of the first split, then those of the next.
  std::vector<std::unique_ptr<Messages>> messages_;
  std::vector<std::unique_ptr<SplitWork>> work_;  ///< by split
};

}  // namespace

std::vector<std::vector<SplitFit>> fit_splits(const Dataset& data, const std::vector<PipelineGrid>& grids,
                                              const std::vector<Split>& splits, const EvaluateOptions& options,
                                              const Context& context) {
  return SplitFits(data, grids, splits, options, context).run();
}

}  // namespace ecotone
