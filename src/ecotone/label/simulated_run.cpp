#include "ecotone/label/simulated_run.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <string>

#include "ecotone/base/error.h"
#include "ecotone/data/groups.h"
#include "ecotone/label/far_rows.h"
#include "ecotone/methods/query/uncertainty.h"

namespace ecotone {

namespace {

/// Ascending rows without some of them, which ascend too.
std::vector<Index> rows_without(const std::vector<Index>& rows, const std::vector<Index>& out) {
  std::vector<Index> rest;
  std::ranges::set_difference(rows, out, std::back_inserter(rest));
  return rest;
}

std::vector<Index> rows_joined(std::vector<Index> rows, const std::vector<Index>& more) {
  rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

std::set<std::int32_t> classes_of(const Labels& y, std::span<const Index> rows) {
  std::set<std::int32_t> classes;
  for (const Index row : rows) classes.insert(y.index[at(row)]);
  return classes;
}

/// Rows whose features a pipeline that adapts may see: those of the pool that are not learned from.
std::vector<Index> unlabelled_rows(const RunRows& rows, std::vector<Index> learned) {
  std::ranges::sort(learned);
  std::vector<Index> rest = rows_without(rows.pool, learned);
  return rest.empty() ? rows.held_out : rest;
}

/// One strategy at work.
class Asking {
 public:
  Asking(const Dataset& data, const Pipeline& pipeline, const RunRows& rows, const Strategy& strategy,
         const SimulateOptions& options, const Context& run)
      : data_(data),
        y_(*data.y),
        rows_(rows),
        strategy_(strategy),
        options_(options),
        run_(run),
        random_(run.random("queries by " + strategy.text())),
        growing_(data, pipeline),
        held_out_(data, rows.held_out),
        learned_(rows.known),
        left_(rows.askable) {
    if (explores(strategy)) far_.emplace(data, rows.askable, run);
  }

  bool done() const { return asked() >= rows_.questions || (left_.empty() && !audit_is_due(asked() + 1)); }
  Index asked() const { return std::ssize(curve_.asked); }

  void begin() {
    if (!can_fit(y_, learned_)) ask_seed();
    look();
  }

  void ask_batch() {
    run_.check_cancelled();
    const Index end = std::min(asked() + strategy_.options.batch, rows_.questions);
    Index wanted = 0;
    for (Index question = asked() + 1; question <= end; ++question) wanted += !audit_is_due(question);
    const std::vector<AskedRow> chosen = choose(wanted);
    auto next = chosen.begin();
    while (asked() < end) {
      if (audit_is_due(asked() + 1)) {
        curve_.asked.push_back({rows_.audit[at(audits_++)], Why::audit});
      } else if (next != chosen.end()) {
        ask(*next++);
      } else {
        break;
      }
    }
    look();
  }

  RunCurve curve() && { return std::move(curve_); }

 private:
  const Dataset& data_;
  const Labels& y_;
  const RunRows& rows_;
  const Strategy& strategy_;
  const SimulateOptions& options_;
  const Context& run_;
  Random random_;
  GrowingModel growing_;
  MarkedRows held_out_;
  std::optional<FarRows> far_;  ///< where the strategy explores
  std::vector<Index> learned_;
  std::vector<Index> left_;  ///< that may still be asked; ascending
  Index seed_ = 0;           ///< questions of the seed
  Index audits_ = 0;
  std::size_t fitted_ = 0;  ///< labels that the model has learned from
  std::optional<Model> model_;
  double value_ = 0;
  RunCurve curve_;

  bool audit_is_due(Index question) const {
    return options_.audit > 0 && question > seed_ && question % options_.audit == 0 &&
           audits_ < std::ssize(rows_.audit);
  }

  void ask(const AskedRow& row) {
    curve_.asked.push_back(row);
    learned_.push_back(row.row);
    left_.erase(std::ranges::lower_bound(left_, row.row));
  }

  /// Rows for the first model; see simulate.h.
  void ask_seed() {
    constexpr int most_draws = 1000;
    std::vector<std::int32_t> domain;
    for (const Index row : left_) domain.push_back(data_.domain.index[at(row)]);
    const Index count = std::min(strategy_.options.seed_size, rows_.questions);
    Random random = run_.random("seed", static_cast<std::uint64_t>(strategy_.options.seed_size));
    std::vector<Index> seed;
    for (int draw = 0; draw < most_draws; ++draw) {
      seed.clear();
      for (const Query& query : pick_seed(domain, count, random)) seed.push_back(left_[at(query.place)]);
      if (y_.task == Task::regress || classes_of(y_, seed) == classes_of(y_, left_)) break;
    }
    for (const Index row : seed) ask({row, Why::seed});
    seed_ = asked();
  }

  std::vector<AskedRow> choose(Index count) {
    std::vector<AskedRow> chosen;
    if (!model_) {
      const std::vector<Index> places = random_.sample(std::ssize(left_), std::min(count, std::ssize(left_)));
      for (const Index place : places) chosen.push_back({left_[at(place)], Why::seed});
      return chosen;
    }
    const Ranked ranked = rank_rows(data_, *model_, strategy_, left_, learned_, y_, run_);
    const Vector far = far_ ? far_->squared(left_, learned_) : Vector();
    for (const Query& query : pick({ranked.score, ranked.coordinates, far}, strategy_, count, random_))
      chosen.push_back({ranked.rows[at(query.place)], query.why});
    return chosen;
  }

  /// Fits if there is something new, and writes down how good the model is.
  void look() {
    const bool fits = (!model_ || learned_.size() > fitted_) && can_fit(y_, learned_);
    if (fits) {
      const std::vector<Index> unlabelled = growing_.adapts() ? unlabelled_rows(rows_, learned_) : std::vector<Index>();
      model_ = growing_.fit(y_, learned_, unlabelled, run_);
      fitted_ = learned_.size();
      value_ = value_of_errors(y_.task, held_out_.errors(model_->predict(held_out_.rows(), run_), model_->classes()));
    }
    if (model_) curve_.points.push_back({asked(), value_, fits, audit_estimate()});
  }

  /// The audit rows asked so far, and behind them the rest of the pool if predictions depend on the sample of a domain.
  std::vector<Index> audit_sample() const {
    std::vector<Index> sample;
    for (Index i = 0; i < audits_; ++i) sample.push_back(rows_.audit[at(i)]);
    if (!model_->needs_domain_sample()) return sample;
    std::vector<Index> asked_rows = sample;
    std::ranges::sort(asked_rows);
    for (const Index row : rows_without(rows_.pool, asked_rows)) sample.push_back(row);
    return sample;
  }

  std::optional<AuditEstimate> audit_estimate() const {
    if (audits_ == 0) return {};
    const MarkedRows marked(data_, audit_sample());
    std::vector<double> errors = marked.errors(model_->predict(marked.rows(), run_), model_->classes());
    errors.resize(at(audits_));
    if (y_.task == Task::regress) return audit_rmse(errors);
    return audit_accuracy(std::ranges::count(errors, 0.0), audits_);
  }
};

}  // namespace

RunRows draw_run(const Dataset& data, const LabelRows& rows, const SimulateOptions& options, const Context& run) {
  RunRows drawn;
  Random split = run.random("held-out rows");
  const auto size = std::ssize(rows.pool);
  const auto wanted = std::llround(options.test_share * static_cast<double>(size));
  drawn.held_out = draw_groups(rows.pool, data.group, std::clamp<Index>(wanted, 1, size - 1), split);
  drawn.pool = rows_without(rows.pool, drawn.held_out);
  drawn.questions = std::min(options.budget, std::ssize(drawn.pool));

  Random audits = run.random("audit rows");
  const Index count = options.audit > 0 ? drawn.questions / options.audit : 0;
  const std::vector<Index> reserve = draw_groups(drawn.pool, data.group, count, audits);
  for (const Index place : audits.permutation(std::ssize(reserve))) drawn.audit.push_back(reserve[at(place)]);
  drawn.audit.resize(at(std::min(count, std::ssize(reserve))));
  drawn.askable = rows_without(drawn.pool, reserve);
  drawn.known = without_groups_of(rows_joined(drawn.held_out, reserve), rows.known, data.group);
  return drawn;
}

MarkedRows::MarkedRows(const Dataset& data, std::vector<Index> rows)
    : y_(*data.y), rows_(std::move(rows)), batch_(batch(data, rows_)) {}

std::vector<double> MarkedRows::errors(const Prediction& prediction, const std::vector<std::string>& classes) const {
  std::vector<double> errors;
  errors.reserve(rows_.size());
  if (y_.task == Task::regress) {
    for (std::size_t i = 0; i < rows_.size(); ++i)
      errors.push_back(prediction.value[static_cast<Index>(i)] - y_.value[rows_[i]]);
    return errors;
  }
  std::vector<std::int32_t> number;  // of the model's classes among those of the data
  for (const std::string& name : classes)
    number.push_back(static_cast<std::int32_t>(std::ranges::find(y_.classes, name) - y_.classes.begin()));
  for (std::size_t i = 0; i < rows_.size(); ++i)
    errors.push_back(number[at(prediction.index[i])] == y_.index[at(rows_[i])] ? 0.0 : 1.0);
  return errors;
}

double value_of_errors(Task task, std::span<const double> errors) {
  double sum = 0;
  for (const double error : errors) sum += error * error;
  const double mean = sum / static_cast<double>(errors.size());
  return task == Task::classify ? 1 - mean : std::sqrt(mean);
}

double full_value(const Dataset& data, const Pipeline& pipeline, const RunRows& rows,
                  const std::vector<Strategy>& strategies, const Context& run) {
  GrowingModel growing(data, pipeline);
  const Model model = growing.fit(*data.y, rows_joined(rows.known, rows.pool), rows.held_out, run);
  const MarkedRows held_out(data, rows.held_out);
  const Prediction prediction = model.predict(held_out.rows(), run);
  for (const Strategy& strategy : strategies)
    if (strategy.rule != QueryRule::random && strategy.rule != QueryRule::neighbours)
      uncertainty(strategy.rule, prediction);  // throws where there is none
  return value_of_errors(data.y->task, held_out.errors(prediction, model.classes()));
}

RunCurve run_strategy(const Dataset& data, const Pipeline& pipeline, const RunRows& rows, const Strategy& strategy,
                      const SimulateOptions& options, Progress& progress, const Context& run) {
  Asking asking(data, pipeline, rows, strategy, options, run);
  asking.begin();
  progress.advance(asking.asked());
  while (!asking.done()) {
    const Index before = asking.asked();
    asking.ask_batch();
    if (asking.asked() == before) break;
    progress.advance(asking.asked() - before);
  }
  progress.advance(std::max<Index>(0, options.budget - asking.asked()));
  return std::move(asking).curve();
}

}  // namespace ecotone
