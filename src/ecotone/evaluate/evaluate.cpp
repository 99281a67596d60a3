#include "ecotone/evaluate/evaluate.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "ecotone/base/error.h"
#include "ecotone/base/progress.h"
#include "ecotone/evaluate/fits_at_once.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/evaluate/unseen.h"
#include "ecotone/measure/metrics.h"
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

 private:
  const Dataset& data_;
  const Split& split_;
  std::mutex mutex_;
  std::size_t left_;
  std::shared_ptr<Parts> parts_;
};

Outcome run_fit(const Dataset& data, const Pipeline& pipeline, const Split& split, SplitWork& work,
                const Context& context) {
  const auto parts = work.parts(context);
  try {
    const Model model = Model::fit(pipeline, parts->view, data.schema, context, parts->cache);
    return outcome_of(model.predict(parts->batch, context), model.classes(), *data.y, split);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::cancelled) throw;
    throw Error(error.kind(), error.code(),
                fmt::format("\"{}\" with {} held out: {}", pipeline.text(), split.name, error.what()));
  }
}

bool any_labelled(const Labels& y, const std::vector<Index>& rows) {
  for (const Index row : rows)
    if (!y.missing(row)) return true;
  return false;
}

std::vector<std::string> stage_names(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const Stage& stage : pipeline.stages()) names.push_back(stage.method->name);
  return names;
}

/// Outcomes by pipeline, then split.
std::vector<std::vector<Outcome>> run_fits(const Dataset& data, const std::vector<Pipeline>& pipelines,
                                           const std::vector<Split>& splits, const EvaluateOptions& options,
                                           const Context& context) {
  std::vector<std::unique_ptr<SplitWork>> work;
  for (const auto& split : splits) work.push_back(std::make_unique<SplitWork>(data, split, pipelines.size()));
  const auto tasks = static_cast<Index>(splits.size() * pipelines.size());
  std::vector<std::unique_ptr<Messages>> messages;
  for (std::size_t s = 0; s < splits.size(); ++s)
    for (const Pipeline& pipeline : pipelines) messages.push_back(std::make_unique<Messages>(stage_names(pipeline)));
  std::vector<std::vector<Outcome>> outcomes(pipelines.size(), std::vector<Outcome>(splits.size()));
  Progress progress(context.observer(), "evaluate", tasks);
  const auto run = [&](Index task) {
    const auto s = static_cast<std::size_t>(task) / pipelines.size();
    const auto p = static_cast<std::size_t>(task) % pipelines.size();
    // All pipelines of a split have the same seed, so that equal draws can be shared.
    const Context fit_context =
        context.derived("evaluate", s).observed_by(messages[static_cast<std::size_t>(task)].get());
    if (options.keep_predictions || any_labelled(*data.y, splits[s].held_out))
      outcomes[p][s] = run_fit(data, pipelines[p], splits[s], *work[s], fit_context);
    work[s]->finish();
    progress.advance();
  };
  context.parallel(tasks, run, fits_at_once(data.x));
  pass_on(messages, context);
  return outcomes;
}

void check_input(const Dataset& data, const std::vector<Pipeline>& pipelines, const EvaluateOptions& options,
                 const Context& context) {
  if (pipelines.empty()) option_error("no_pipeline", "evaluate: no pipeline given");
  for (const auto& pipeline : pipelines)
    if (!pipeline.predicts())
      option_error("no_learner", "evaluate: \"{}\" does not end in a learner, so there is nothing to score",
                   pipeline.text());
  if (data.rows() == 0) data_error("empty_data", "evaluate: the data have no rows");
  if (!data.y) data_error("no_labels", "evaluate: the data have no label column; name it with --label");
  Index missing = 0;
  for (Index row = 0; row < data.rows(); ++row) missing += data.y->missing(row);
  if (missing == data.rows()) data_error("no_labels", "evaluate: none of the {} rows has a label", missing);
  if (missing > 0)
    context.note("evaluate: {} of {} rows {} no label and {} {}", missing, data.rows(), missing == 1 ? "has" : "have",
                 missing == 1 ? "is" : "are",
                 options.protocol == Protocol::adapt ? "not scored" : "neither trained on nor scored");
  std::vector<std::string> targets;
  for (std::size_t d = 0; d < std::min(data.role.size(), data.domain.names.size()); ++d)
    if (data.role[d] != Role::source) targets.push_back(data.domain.names[d]);
  if (!targets.empty())
    context.note("evaluate: {} {} not marked as source in the data, which is ignored; {} chooses what is held out",
                 fmt::join(targets, ", "), targets.size() == 1 ? "is" : "are", protocol_name(options.protocol));
}

/// Warns about pipelines that rank rows of held-out domains below chance; k-fold holds no domain out.
void warn_of_ranks(const Evaluation& result, const Context& context) {
  if (result.protocol == Protocol::k_fold) return;
  std::vector<std::unique_ptr<Messages>> messages;
  for (const PipelineScore& score : result.pipelines) {
    messages.push_back(std::make_unique<Messages>());
    for (const auto& [name, value] : score.mean)
      if (name == "auroc")
        warn_below_chance("evaluate", fmt::format("\"{}\"", score.pipeline), value,
                          context.observed_by(messages.back().get()));
  }
  pass_on(messages, context, "pipelines");
}

/// Predictions in order of pipeline, repetition and row.
std::vector<HeldOutPrediction> predictions_of(const std::vector<std::vector<Outcome>>& outcomes, const Labels& y) {
  std::vector<HeldOutPrediction> result;
  for (std::size_t p = 0; p < outcomes.size(); ++p) {
    std::map<std::pair<Index, Index>, std::pair<const Outcome*, std::size_t>> order;
    for (const auto& outcome : outcomes[p])
      for (std::size_t i = 0; i < outcome.rows.size(); ++i)
        order[{outcome.repetition, outcome.rows[i]}] = {&outcome, i};
    for (const auto& [key, place] : order) {
      const auto& [outcome, i] = place;
      HeldOutPrediction one{static_cast<Index>(p), key.first, key.second, {}, {}};
      if (y.task == Task::regress) {
        one.prediction = fmt::format("{}", outcome->value[static_cast<Index>(i)]);
      } else {
        one.prediction = y.classes[static_cast<std::size_t>(outcome->predicted[i])];
        for (std::size_t k = 0; k < y.classes.size(); ++k)
          one.probability.push_back(
              outcome->seen[k] ? std::optional(outcome->probability(static_cast<Index>(i), static_cast<Index>(k)))
                               : std::nullopt);
      }
      result.push_back(std::move(one));
    }
  }
  return result;
}

}  // namespace

std::optional<double> value_of(const Metrics& metrics, std::string_view name) {
  for (const auto& [key, value] : metrics)
    if (key == name) return value;
  return {};
}

Evaluation evaluate(const Dataset& data, const std::vector<Pipeline>& pipelines, const EvaluateOptions& options,
                    const Context& context) {
  check_input(data, pipelines, options, context);
  const auto splits = make_splits(data.domain, options, context);
  warn_unseen_categories(data, splits, context);
  const auto outcomes = run_fits(data, pipelines, splits, options, context);

  std::vector<bool> held_out(data.domain.names.size(), false);
  for (const auto& split : splits)
    for (const Index row : split.held_out)
      held_out[static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(row)])] = true;
  Evaluation result;
  result.protocol = options.protocol;
  result.task = data.y->task;
  result.metrics = metric_names(data.y->task);
  result.classes = data.y->classes;
  result.pipelines.resize(pipelines.size());
  context.parallel(static_cast<Index>(pipelines.size()), [&](Index p) {
    const auto i = static_cast<std::size_t>(p);
    result.pipelines[i].pipeline = pipelines[i].text();
    result.pipelines[i].domains = score_domains(data, held_out, outcomes[i], context);
  });
  for (auto& score : result.pipelines) summarise(score, result.pipelines.front(), result.metrics);
  warn_of_ranks(result, context);
  if (options.keep_predictions) result.predictions = predictions_of(outcomes, *data.y);
  return result;
}

}  // namespace ecotone
