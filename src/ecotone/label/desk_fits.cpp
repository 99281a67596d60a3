#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/label/desk_impl.h"

namespace ecotone {
namespace {

constexpr Index least_ahead = 200;      // rows picked from one fit
constexpr Index most_ahead = 2000;      // the same where the budget is large
constexpr Index batch_ahead = 10;       // of these kept apart, because no fit comes between them
constexpr Index labels_of_change = 20;  // between two models that are compared
constexpr Index labels_of_point = 5;    // between two points of the curve

/// The answers for rows as numbers that can be compared: classes by their place in `classes`.
std::vector<double> answers_of(const Model& model, const Prediction& prediction,
                               const std::vector<std::string>& classes) {
  if (prediction.task == Task::regress) return {prediction.value.begin(), prediction.value.end()};
  std::vector<double> place;
  for (const std::string& name : model.classes())
    place.push_back(static_cast<double>(std::ranges::find(classes, name) - classes.begin()));
  std::vector<double> answers;
  for (const std::int32_t index : prediction.index) answers.push_back(place[at(index)]);
  return answers;
}

double share_changed(const std::vector<double>& before, const std::vector<double>& now) {
  Index changed = 0;
  for (std::size_t i = 0; i < now.size(); ++i) changed += before[i] != now[i] ? 1 : 0;
  return static_cast<double>(changed) / static_cast<double>(now.size());
}

double root_mean_square(const std::vector<double>& before, const std::vector<double>& now) {
  double sum = 0;
  for (std::size_t i = 0; i < now.size(); ++i) sum += (before[i] - now[i]) * (before[i] - now[i]);
  return std::sqrt(sum / static_cast<double>(now.size()));
}

}  // namespace

void Desk::Impl::fit() {
  auto result = std::make_shared<FitResult>();
  std::vector<Index> unlabelled, open_rows;
  std::uint64_t number = 0;
  {
    const std::lock_guard lock(mutex);
    result->y = y;
    result->labelled = learned_from_start;
    for (const Index row : pool) {
      if (reserved[at(row)] != 0 || y.missing(row)) {
        unlabelled.push_back(row);
      } else {
        result->labelled.push_back(row);
        ++result->labels;
      }
      if (reserved[at(row)] == 0 && open(row)) open_rows.push_back(row);
    }
    // A label of an audit row changes nothing that was learned.
    if (latest->model && latest->labels == result->labels && latest->labelled == result->labelled) {
      const auto same = [&](Index row) {
        return y.task == Task::classify ? y.index[at(row)] == latest->y.index[at(row)]
                                        : y.value[row] == latest->y.value[row];
      };
      if (std::ranges::all_of(result->labelled, same)) return;
    }
    number = ++fits;
  }
  if (can_fit(result->y, result->labelled)) {
    result->model = std::make_shared<const Model>(growing.fit(result->y, result->labelled, unlabelled, context));
    result->prediction = result->model->predict(batch(data, pool), context);
    try {
      result->ranking = ranking(*result, open_rows, number);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::cancelled) throw;
      result->problem = error.what();
    }
  }
  note_change(*result);
  const std::lock_guard lock(mutex);
  latest = result;
  update_estimate();
  keep_curve();
}

std::vector<Asked> Desk::Impl::ranking(const FitResult& fit, const std::vector<Index>& rows, std::uint64_t number) {
  Strategy ahead = strategy;
  ahead.options.batch = std::max(ahead.options.batch, batch_ahead);
  const Ranked ranked = rank_rows(data, *fit.model, ahead, rows, fit.labelled, fit.y, context);
  if (!far && explores(strategy)) far.emplace(data, pool, context);
  const Vector distance = far ? far->squared(rows, fit.labelled) : Vector();
  Random random = context.random("questions", number);
  const Index rows_ahead = std::clamp(options.budget, least_ahead, most_ahead);
  std::vector<Asked> result;
  for (const Query& query : pick({ranked.score, ranked.coordinates, distance}, ahead, rows_ahead, random))
    result.push_back({rows[at(query.place)], query.why, query.probability, fit.labels});
  return result;
}

void Desk::Impl::note_change(const FitResult& fit) {
  if (!fit.model) return;
  const std::lock_guard lock(mutex);
  // An undo may lead back.
  std::erase_if(changes, [&](const AnswerChange& change) { return change.at > fit.labels; });
  const bool back = fit.labels < compared_labels;
  if (compared_labels >= 0 && !back && fit.labels - compared_labels < labels_of_change) return;
  std::vector<double> now = answers_of(*fit.model, fit.prediction, fit.y.classes);
  if (compared_labels >= 0 && !back) {
    if (y.task == Task::classify) {
      changes.push_back({fit.labels - compared_labels, share_changed(compared, now), fit.labels});
    } else if (estimate && estimate->value > 0) {
      changes.push_back({fit.labels - compared_labels, root_mean_square(compared, now) / estimate->value, fit.labels});
    }
  }
  compared_labels = fit.labels;
  compared = std::move(now);
  keep_compared();
}

void Desk::Impl::keep_compared() {
  store.keep("compared", Json{{"labels", compared_labels}, {"answers", compared}}.dump());
}

void Desk::Impl::load_compared() {
  const Json kept = Json::parse(store.kept("compared").value_or("{}"), nullptr, false);
  if (!kept.is_object() || !kept.contains("answers") || kept["answers"].size() != pool.size()) return;
  if (!std::ranges::all_of(kept["answers"], [](const Json& value) { return value.is_number(); })) return;
  compared = kept["answers"].get<std::vector<double>>();
  compared_labels = kept.value("labels", Index{-1});
}

void Desk::Impl::update_estimate() {
  estimate.reset();
  if (!latest->model) return;
  std::vector<Index> rows;
  for (const Index row : audit_order)
    if (status[at(row)] == Status::labelled) rows.push_back(row);
  if (rows.empty()) return;
  const std::vector<double> given = answers_of(*latest->model, latest->prediction, y.classes);
  std::vector<double> errors;
  Index right = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (y.task == Task::classify) {
      right += given[at(place[at(rows[i])])] == static_cast<double>(y.index[at(rows[i])]) ? 1 : 0;
    } else {
      errors.push_back(given[at(place[at(rows[i])])] - y.value[rows[i]]);
    }
  }
  estimate = y.task == Task::classify ? audit_accuracy(right, std::ssize(rows)) : audit_rmse(errors);
}

void Desk::Impl::keep_curve() {
  // An undo may lead back; the curve follows.
  std::erase_if(curve, [&](const DeskPoint& point) { return point.labels > counts.labels; });
  if (estimate && (curve.empty() || counts.labels >= curve.back().labels + labels_of_point))
    curve.push_back({counts.labels, *estimate});
  Json kept = {{"points", Json::array()}, {"changes", Json::array()}};
  for (const DeskPoint& point : curve)
    kept["points"].push_back(
        {point.labels, point.estimate.value, point.estimate.low, point.estimate.high, point.estimate.rows});
  for (const AnswerChange& change : changes) kept["changes"].push_back({change.labels, change.share, change.at});
  store.keep("curve", kept.dump());
}

void Desk::Impl::load_curve() {
  const Json kept = Json::parse(store.kept("curve").value_or("{}"), nullptr, false);
  if (!kept.is_object()) return;
  const auto numbers = [](const Json& row, std::size_t size) {
    return row.is_array() && row.size() == size &&
           std::ranges::all_of(row, [](const Json& v) { return v.is_number(); });
  };
  for (const Json& row : kept.value("points", Json::array()))
    if (numbers(row, 5))
      curve.push_back({row[0].get<Index>(),
                       {row[1].get<double>(), row[2].get<double>(), row[3].get<double>(), row[4].get<Index>()}});
  for (const Json& row : kept.value("changes", Json::array()))
    if (numbers(row, 3)) changes.push_back({row[0].get<Index>(), row[1].get<double>(), row[2].get<Index>()});
}

}  // namespace ecotone
