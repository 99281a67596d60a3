#include "ecotone/evaluate/tune_fits.h"

#include <algorithm>
#include <map>
#include <memory>

#include "ecotone/base/error.h"
#include "ecotone/base/progress.h"
#include "ecotone/evaluate/adapting.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/methods/model.h"

namespace ecotone {

namespace {

/// Points that differ only in penalties follow each other, largest first; otherwise the given order.
std::vector<std::size_t> fitting_order(const std::vector<Pipeline>& points) {
  std::map<std::string, std::size_t> first;
  std::vector<PathPlace> place;
  for (std::size_t i = 0; i < points.size(); ++i) {
    place.push_back(place_of(points[i]));
    first.emplace(place[i].group, i);
  }
  std::vector<std::size_t> order(points.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (place[a].group != place[b].group) return first[place[a].group] < first[place[b].group];
    return place[a].penalty > place[b].penalty;
  });
  return order;
}

/// The fits of one fold whose points have the same view.
class FoldRunner {
 public:
  FoldRunner(const Dataset& data, const Split& split, const Context& context)
      : data_(data),
        split_(split),
        context_(context),
        view_(train_view(data, split.source, split.target, context)),
        batch_(batch(data, split.held_out)),
        held_(data.domain.names.size(), false) {
    for (const Index row : split.held_out)
      held_[static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(row)])] = true;
  }

  FoldScore run(const Pipeline& point) {
    try {
      const Model model = Model::fit(point, view_, data_.schema, context_, cache_);
      const Outcome outcome = outcome_of(model.predict(batch_, context_), model.classes(), *data_.y, split_);
      return {score_domains(data_, held_, {outcome}, {}, context_).front().metrics, "", ""};
    } catch (const Error& error) {
      const bool of_point = error.kind() == ErrorKind::data || error.kind() == ErrorKind::option;
      if (!of_point || error.code() == "not_enough_memory") throw;
      return {{}, error.code(), fmt::format("with {} held out: {}", split_.name, error.what())};
    }
  }

 private:
  const Dataset& data_;
  const Split& split_;
  Context context_;
  TrainView view_;
  Batch batch_;
  std::vector<bool> held_;
  FitCache cache_{FitCache::Order::in_order};
};

}  // namespace

PathPlace place_of(const Pipeline& pipeline) {
  PathPlace place;
  std::vector<Stage> stages = pipeline.stages();
  for (Stage& stage : stages) {
    for (const PenaltyOption& penalty : stage.method->penalties) {
      if (!stage.options.at(penalty.name).is_number()) continue;
      const auto value = stage.options.at(penalty.name).get<double>();
      place.penalty.push_back(penalty.inverse ? -value : value);
      stage.options.set(penalty.name, 1.0);
    }
  }
  place.group = Pipeline(std::move(stages)).text();
  return place;
}

PointScores fit_points(const Dataset& data, const std::vector<Pipeline>& points, const TuneFolds& folds, int at_most,
                       const Context& context) {
  const std::vector<std::size_t> order = fitting_order(points);
  const std::size_t n = folds.plain.size();
  PointScores scores{std::vector(points.size(), std::vector<FoldScore>(n)), std::vector<FoldScore>(n)};
  const Pipeline constant = Pipeline::parse("constant");
  std::vector<std::unique_ptr<Messages>> messages;
  for (std::size_t s = 0; s < n; ++s) messages.push_back(std::make_unique<Messages>());
  Progress progress(context.observer(), "tune", static_cast<Index>(points.size() * n));
  const auto run = [&](Index fold) {
    const auto s = static_cast<std::size_t>(fold);
    const Context own = context.derived("tune", s).observed_by(messages[s].get());
    // One view in memory at a time: first the points that do not adapt.
    for (const bool adapting : {false, true}) {
      std::optional<FoldRunner> runner;
      for (const std::size_t p : order) {
        if (adapts(points[p]) != adapting) continue;
        context.check_cancelled();
        if (!runner) runner.emplace(data, folds.of(points[p])[s], own);
        scores.points[p][s] = runner->run(points[p]);
        progress.advance();
      }
      if (runner) scores.constant[s] = runner->run(constant);
    }
  };
  context.parallel(static_cast<Index>(n), run, at_most);
  pass_on(messages, context, "folds");
  return scores;
}

}  // namespace ecotone
