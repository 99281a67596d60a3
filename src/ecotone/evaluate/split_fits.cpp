#include "ecotone/evaluate/split_fits.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include "ecotone/base/progress.h"
#include "ecotone/evaluate/fits_at_once.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/threshold.h"
#include "ecotone/evaluate/tune.h"
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
  const Tuning tuning = tune_in_split(data, grid.points, split, tuned, context);
  const TunePoint& point = tuning.points[tuning.chosen];
  fit.choice = SplitChoice{split.name, point.pipeline, point.mean.value()};
  return grid.points[tuning.chosen];
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

}  // namespace

std::vector<std::vector<SplitFit>> fit_splits(const Dataset& data, const std::vector<PipelineGrid>& grids,
                                              const std::vector<Split>& splits, const EvaluateOptions& options,
                                              const Context& context) {
  std::vector<std::unique_ptr<SplitWork>> work;
  for (const auto& split : splits) work.push_back(std::make_unique<SplitWork>(data, split, grids.size()));
  const auto tasks = static_cast<Index>(splits.size() * grids.size());
  std::vector<std::unique_ptr<Messages>> messages;
  for (std::size_t s = 0; s < splits.size(); ++s)
    for (const PipelineGrid& grid : grids) messages.push_back(std::make_unique<Messages>(stage_names(grid, options)));
  std::vector<std::vector<SplitFit>> fits(grids.size(), std::vector<SplitFit>(splits.size()));
  Progress progress(context.observer(), "evaluate", tasks);
  const auto run = [&](Index task) {
    const auto s = static_cast<std::size_t>(task) / grids.size();
    const auto p = static_cast<std::size_t>(task) % grids.size();
    const Context own = context.observed_by(messages[static_cast<std::size_t>(task)].get());
    // All pipelines of a split have the same seed, so that equal draws can be shared.
    if (options.keep_predictions || any_labelled(*data.y, splits[s].held_out))
      fits[p][s] = run_fit(data, grids[p], *work[s], options, own, own.derived("evaluate", s));
    work[s]->finish();
    progress.advance();
  };
  context.parallel(tasks, run, fits_at_once(data.x));
  pass_on(messages, context);
  return fits;
}

}  // namespace ecotone
