#include "ecotone/methods/model.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/data/row_weight.h"
#include "ecotone/methods/categories.h"
#include "ecotone/methods/cross_fit.h"
#include "ecotone/methods/fit_cache.h"
#include "ecotone/methods/kept_stages.h"
#include "ecotone/methods/one_class_domains.h"
#include "ecotone/methods/refits.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/methods/stage_times.h"

namespace ecotone {

namespace {

/// Checks that the parts of a view are consistent, whoever made it.
void check_parts(const TrainView& view, const Schema& schema) {
  const Index rows = view.x.rows();
  const auto domain_rows = static_cast<Index>(view.domain.index.size());
  if (view.labelled() > rows) data_error("shape_mismatch", "fit: {} labels for {} rows", view.labelled(), rows);
  if (domain_rows != rows) data_error("shape_mismatch", "fit: {} domains for {} rows", domain_rows, rows);
  if (view.weight.size() != 0 && view.weight.size() != view.labelled()) {
    data_error("shape_mismatch", "fit: {} weights for {} labelled rows", view.weight.size(), view.labelled());
  }
  const auto known = [](std::int32_t index, std::size_t count) {
    return index >= 0 && static_cast<std::size_t>(index) < count;
  };
  for (const std::int32_t cls : view.y.index) {
    if (!known(cls, view.y.classes.size()))
      data_error("bad_label", "fit: class index {} with {} classes", cls, view.y.classes.size());
  }
  for (const std::int32_t domain : view.domain.index) {
    if (!known(domain, view.domain.names.size())) {
      data_error("shape_mismatch", "fit: domain index {} with {} domains", domain, view.domain.names.size());
    }
  }
  for (Index i = 0; i < view.weight.size(); ++i)
    require_weight(view.weight[i], schema.weight, origin_of(view.origin, i));
}

void check_view(const Pipeline& pipeline, const TrainView& view, const Schema& schema) {
  if (view.x.rows() == 0)
    data_error("empty_data", "fit: there are no rows to learn from (rows without a label do not count)");
  if (view.x.cols() == 0) data_error("empty_data", "fit: there are no feature columns to learn from");
  check_parts(view, schema);
  require_label_range("fit", view, schema);
  for (const Stage& stage : pipeline.stages()) {
    const Method& method = *stage.method;
    if (view.labelled() == 0 && (method.needs_labels() || method.predicts()))
      data_error("no_labels", "{}: there are no labels to learn from; name their column with --label", method.name);
    if (view.y.task != Task::regress && method.regression_only())
      data_error("needs_numbers",
                 "{}: the label is a class, not a number to predict; use --task regress if its values are numbers",
                 method.name);
  }
}

/// Numeric columns named after the features, for callers without a table.
Schema numeric_schema(const std::vector<std::string>& names, Schema schema) {
  for (const std::string& name : names)
    schema.columns.push_back({.name = name, .kind = ColumnKind::numeric, .levels = {}});
  return schema;
}

/// Columns are matched by name, so names must be unique.
void require_different(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) data_error("duplicate_column", "fit: two features are called '{}'; rename one", *twice);
}

/// Which columns have a value other than 0 in some row.
struct NonZero {
  std::vector<char> any;

  void merge(const NonZero& other) {
    for (std::size_t j = 0; j < any.size(); ++j) any[j] = any[j] != 0 || other.any[j] != 0;
  }
  template <class Archive>
  void archive(Archive& with) {
    with(any);
  }
};

NonZero non_zero_columns(const Features& x, const Context& context) {
  NonZero zero{std::vector<char>(static_cast<std::size_t>(x.cols()), 0)};
  if (const Csr* csr = x.storage().csr()) {
    for (Index k = 0; k < csr->row_start[static_cast<std::size_t>(x.rows())]; ++k) {
      const auto entry = static_cast<std::size_t>(k);
      if (csr->value[entry] != 0) zero.any[static_cast<std::size_t>(csr->column[entry])] = 1;
    }
    return zero;
  }
  return sum_rows(x.blocks(), context, zero, [&](NonZero& seen, Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) {
      for (Index j = 0; j < block.x.cols(); ++j) {
        if (block.x(i, j) != 0) seen.any[static_cast<std::size_t>(j)] = 1;
      }
    }
  });
}

/// Drops levels that no training row has: they occur only in held-out rows, and the model must not know them. Codes are
/// positions among the levels and stay.
void drop_unseen_levels(Features& x, Schema& schema, const Context& context) {
  if (std::ranges::none_of(schema.columns, &Column::one_hot)) return;
  const NonZero seen = non_zero_columns(x, context);
  std::vector<Index> kept;
  std::size_t feature = 0;
  for (Column& column : schema.columns) {
    if (!column.one_hot()) {
      kept.push_back(static_cast<Index>(feature++));
      continue;
    }
    std::erase_if(column.levels, [&](const std::string&) {
      const bool there = seen.any[feature] != 0;
      if (there) kept.push_back(static_cast<Index>(feature));
      ++feature;
      return !there;
    });
  }
  if (static_cast<Index>(kept.size()) == x.cols()) return;
  if (kept.empty()) data_error("empty_data", "fit: no feature column has a value in the training rows");
  x = x.columns(kept, schema.feature_names(), context);
}

/// Whatever overflows on the way to an answer: the row is named, and nothing that is not a number is answered.
void require_finite_answers(const std::string& who, const Prediction& prediction, const Batch& batch) {
  const auto check = [&](const auto& part) {
    if (!part.allFinite()) require_finite_scores(who, part, batch);  // by rows only where there is one to name
  };
  check(prediction.probability);
  check(prediction.score);
  check(prediction.value);
  check(prediction.variance);
}

/// The stages before the learner as the last pipeline left them, with their texts, each fitted on the output of the one
/// before it.
struct StageChain {
  static constexpr const char* key = "stages of the last pipeline";
  std::vector<std::string> texts;
  std::vector<std::shared_ptr<const StageResult>> results;
};

/// Reuses the leading stages that a pipeline shares with the last one fitted with this cache.
class ChainFit {
 public:
  explicit ChainFit(FitCache& cache) : cache_(cache) {
    if (const auto last = cache.in_order() ? cache.last<StageChain>(StageChain::key) : nullptr) chain_ = *last;
  }

  template <class Fit>
  StageResult stage(std::size_t i, const Stage& stage, Fit&& fit) {
    if (!cache_.in_order()) return fit();
    std::string text = Pipeline({stage}).text();
    if (i < chain_.texts.size() && chain_.texts[i] == text) return *chain_.results[i];
    chain_.texts.resize(i);
    chain_.results.resize(i);
    chain_.results.push_back(std::make_shared<const StageResult>(fit()));
    chain_.texts.push_back(std::move(text));
    changed_ = true;
    return *chain_.results.back();
  }

  void leave() {
    if (changed_) cache_.leave(StageChain::key, std::move(chain_));
  }

 private:
  FitCache& cache_;
  StageChain chain_;
  bool changed_ = false;
};

bool has_made_up_names(const std::vector<std::string>& names) {
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j] != fmt::format("x{}", j + 1)) return false;
  }
  return true;
}

/// The positions of a model's features among a batch's columns.
class ColumnMatch {
 public:
  explicit ColumnMatch(const std::vector<std::string>& names) : names_(names) {
    for (std::size_t j = 0; j < names.size(); ++j) position_.emplace(names[j], static_cast<Index>(j));
  }

  /// The schema with columns of codes for which the batch has a feature per level in that form.
  Schema form_of(Schema schema) const {
    for (Column& column : schema.columns)
      column.coded = column.coded && (position(column.name) >= 0 || !has_level_of(column.name));
    return schema;
  }

  /// The column of each feature; -1 for a level that does not occur. `missing` names columns that are missing
  /// altogether.
  std::vector<Index> find(const Schema& schema) {
    std::vector<Index> columns;
    for (const Column& column : schema.columns) {
      if (!column.one_hot()) {
        columns.push_back(position(column.name));
        if (columns.back() < 0) note_missing(column.name);
        continue;
      }
      bool found = column.levels.empty();
      for (const std::string& level : column.levels) {
        columns.push_back(position(column.name + "=" + level));
        found = found || columns.back() >= 0;
      }
      if (!found && !has_level_of(column.name)) note_missing(column.name);
    }
    return columns;
  }

  const std::vector<std::string>& missing() const { return missing_; }

 private:
  const std::vector<std::string>& names_;
  std::unordered_map<std::string_view, Index> position_;
  std::vector<std::string> missing_;

  Index position(const std::string& name) const {
    const auto found = position_.find(name);
    return found == position_.end() ? -1 : found->second;
  }
  bool has_level_of(const std::string& column) const {
    return std::any_of(names_.begin(), names_.end(),
                       [&](const std::string& name) { return name.starts_with(column + "="); });
  }
  void note_missing(const std::string& column) { missing_.push_back(column); }
};

}  // namespace

void keep_stages(FitCache& from, FitCache& to) {
  if (const auto chain = from.last<StageChain>(StageChain::key)) to.leave(StageChain::key, *chain);
  keep_refits(from, to);
}

Model Model::fit(const Pipeline& pipeline, const TrainView& view, const Schema& schema, const Context& context) {
  FitCache cache;
  return fit(pipeline, view, schema, context, cache);
}

Model Model::fit(const Pipeline& pipeline, const TrainView& view, const Schema& schema, const Context& context,
                 FitCache& cache) {
  check_view(pipeline, view, schema);
  Model model(pipeline, schema.columns.empty() ? numeric_schema(view.x.names(), schema) : schema);
  model.fit_stages(pipeline.stages().size(), view, context, cache);
  return model;
}

Model::Passed Model::fit_and_pass(const Pipeline& pipeline, const TrainView& view, const Schema& schema,
                                  const Context& context) {
  check_view(pipeline, view, schema);
  FitCache cache;
  Model model(pipeline, schema.columns.empty() ? numeric_schema(view.x.names(), schema) : schema);
  TrainView next = model.fit_stages(pipeline.stages().size(), view, context, cache);
  return {std::move(model), std::move(next)};
}

TrainView Model::view_of_last(const Pipeline& pipeline, TrainView view, const Schema& schema, const Context& context) {
  check_view(pipeline, view, schema);
  FitCache cache;
  Model model(pipeline, schema.columns.empty() ? numeric_schema(view.x.names(), schema) : schema);
  return model.fit_stages(pipeline.stages().size() - 1, std::move(view), context, cache);
}

TrainView Model::fit_stages(std::size_t count, TrainView view, const Context& context, FitCache& cache) {
  const std::vector<std::string> expected = schema_.feature_names();
  if (expected != view.x.names() &&
      (static_cast<Index>(expected.size()) != view.x.cols() || !has_made_up_names(view.x.names()))) {
    data_error("shape_mismatch", "fit: the schema names {} features, which do not match the {} columns of the data",
               expected.size(), view.x.cols());
  }
  require_different(expected);
  require_form(pipeline_, schema_);
  drop_unseen_levels(view.x, schema_, context);
  task_ = view.y.task;
  classes_ = view.y.classes;
  features_ = schema_.feature_names();
  domains_ = view.domain.names;
  seed_ = context.seed();
  // Only a stage that follows a learner, or one that chooses behind others, needs the input of the first stage again.
  const std::span stages = std::span(pipeline_.stages()).first(count);
  const bool again = std::ranges::any_of(stages.subspan(std::min<std::size_t>(count, 1)), [](const Stage& stage) {
    return stage.method->follows_learner() || stage.method->fit_with_refits;
  });
  const TrainView first = again ? view : TrainView{};
  view = first_stage_view(pipeline_, schema_, std::move(view), context);
  ChainFit chain(cache);
  for (std::size_t i = 0; i < count; ++i) {
    context.check_cancelled();
    const Stage& stage = pipeline_.stages()[i];
    const Method& method = *stage.method;
    const bool behind = method.follows_learner();
    const bool needs_numbers = method.can_predict() || method.family == Family::weight || method.needs_target;
    if (view.x.cols() == 0)
      data_error("nothing_selected", "{}: the stages before it left no feature to learn from", method.name);
    if (needs_numbers && method.reads_features && !method.takes_missing && !behind)
      require_finite_features(method.name, view.x, view.origin, context);
    const auto begin = std::chrono::steady_clock::now();
    const auto fit = [&] {
      if (method.fit_with_refits && i > 0) return fit_choosing(i, first, view, context, cache);
      return method.fit(view, stage.options, context, cache);
    };
    StageResult result = behind              ? fit_behind(i, first, view, context)
                         : method.predicts() ? fit()
                                             : chain.stage(i, stage, fit);
    if (StageTimes* times = stage_times(context)) {
      const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
      times->stage_time(method.name, seconds.count());
    }
    if (!result.status.converged) context.warn("not_converged", "{}: {}", method.name, result.status.text);
    fitted_.push_back(std::move(result.fitted));
    statuses_.push_back(std::move(result.status));
    view = std::move(result.next);
  }
  chain.leave();
  return view;
}

StageResult Model::fit_choosing(std::size_t i, const TrainView& first, const TrainView& view, const Context& context,
                                FitCache& cache) const {
  const Stage& stage = pipeline_.stages()[i];
  const auto upstream = std::make_shared<const Upstream>(Upstream{pipeline_.first(i), first, schema_, view.weight});
  return stage.method->fit_with_refits(view, refits_of(upstream, context, cache), stage.options, context, cache);
}

StageResult Model::fit_behind(std::size_t i, const TrainView& first, const TrainView& view,
                              const Context& context) const {
  const Stage& stage = pipeline_.stages()[i];
  const auto predict = [&](const Batch& batch, const Context& own) { return predict_through(i, batch, own); };
  return stage.method->fit_behind_learner({pipeline_.first(i), first, schema_, view.weight, predict}, stage.options,
                                          context);
}

Batch Model::aligned(const Batch& batch, const Context& context) const {
  if (batch.domain && static_cast<Index>(batch.domain->index.size()) != batch.x.rows()) {
    data_error("shape_mismatch", "model: {} domains for {} rows", batch.domain->index.size(), batch.x.rows());
  }
  const std::vector<std::string> names = batch.x.names();
  if (names == features_) return first_stage_batch(pipeline_, schema_, batch, context);
  ColumnMatch match(names);
  const Schema form = match.form_of(schema_);
  const std::vector<Index> columns = match.find(form);
  if (match.missing().empty()) {
    Features x = batch.x.columns(columns, form.feature_names(), context);
    return first_stage_batch(pipeline_, form, {std::move(x), batch.domain, batch.origin}, context);
  }
  if (!has_made_up_names(names)) {
    data_error("missing_column", "model: the data have no column {}, which the model was fitted on",
               fmt::format("'{}'", fmt::join(match.missing(), "', '")));
  }
  if (names.size() != features_.size()) {
    data_error("shape_mismatch", "model: it was fitted on {} columns, but the data have {} without names",
               features_.size(), names.size());
  }
  return first_stage_batch(pipeline_, schema_, batch, context);
}

Prediction Model::predict(const Batch& batch, const Context& context) const {
  if (!pipeline_.predicts()) {
    option_error("no_learner",
                 "predict: the pipeline '{}' does not end in a learner; use transform, or fit one that does, such as "
                 "'{} | logistic'",
                 pipeline_.text(), pipeline_.text());
  }
  return predict_through(fitted_.size(), batch, context);
}

Prediction Model::predict_through(std::size_t count, const Batch& batch, const Context& context) const {
  Batch current = aligned(batch, context);
  Prediction prediction;
  for (std::size_t i = 0; i < count; ++i) {
    context.check_cancelled();
    const Method& method = *pipeline_.stages()[i].method;
    if (!pipeline_.predicts_at(i)) {
      current.x = fitted_[i]->transform(current, context);
      continue;
    }
    if (method.follows_learner()) {
      prediction = fitted_[i]->revised(std::move(prediction), batch, context);
      require_finite_answers(method.name, prediction, batch);
      continue;
    }
    if (method.reads_features && !method.takes_missing)
      require_finite_features(method.name, current.x, current.origin, context);
    prediction = fitted_[i]->predict(current, context);
    require_finite_answers(method.name, prediction, current);
    if (fitted_[i]->needs_domain_sample())
      warn_of_one_class_domains(method.name, current, prediction, classes_, domains_, context);
  }
  return prediction;
}

Features Model::transform(const Batch& batch, const Context& context) const {
  Batch current = aligned(batch, context);
  for (const auto& fitted : fitted_) {
    context.check_cancelled();
    current.x = fitted->transform(current, context);
  }
  return current.x;
}

void Model::require_no_rows() const {
  for (std::size_t i = 0; i < fitted_.size(); ++i) {
    const Method& method = *pipeline_.stages()[i].method;
    if (const Index rows = training_rows(i); rows > 0)
      option_error("holds_rows", "--no-rows: stage {}, {}, holds {} training row{}; {}", i + 1, method.name, rows,
                   rows == 1 ? "" : "s", method.without_rows);
  }
}

bool Model::needs_domain_sample() const {
  return std::any_of(fitted_.begin(), fitted_.end(), [](const auto& fitted) { return fitted->needs_domain_sample(); });
}

}  // namespace ecotone
