#include "ecotone/evaluate/tune/tune_fits.h"

#include <algorithm>
#include <map>
#include <memory>

#include "ecotone/base/at_hand.h"
#include "ecotone/base/error.h"
#include "ecotone/base/progress.h"
#include "ecotone/evaluate/adapting.h"
#include "ecotone/evaluate/finished_work.h"
#include "ecotone/evaluate/fit_archive.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/score.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/methods/kept_stages.h"
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

/// Folds of groups may have rows of several domains.
Metrics mean_over_domains(const std::vector<DomainScore>& domains) {
  Metrics means = domains.front().metrics;
  if (domains.size() == 1) return means;
  for (auto& [name, mean] : means) {
    std::vector<double> values;
    for (const DomainScore& domain : domains)
      if (const auto value = value_of(domain.metrics, name)) values.push_back(*value);
    mean = mean_of(values);
  }
  return means;
}

/// The fits of one fold whose points have the same view.
class FoldRunner {
 public:
  FoldRunner(const Dataset& data, const Split& split, const Context& observed, const Context& context)
      : data_(data),
        split_(split),
        observed_(observed),
        view_(train_view(data, split.source, split.target, context)),
        batch_(batch(data, split.held_out)),
        held_(data.domain.names.size(), false) {
    for (const Index row : split.held_out)
      held_[static_cast<std::size_t>(data.domain.index[static_cast<std::size_t>(row)])] = true;
  }

  /// The points of one path, one after another. Each begins where the one before it stopped, but no path depends on
  /// another, so that a run may go on with any of them.
  std::vector<FoldScore> run(const std::vector<Pipeline>& path, Progress& progress, const Context& context) {
    auto cache = std::make_unique<FitCache>(FitCache::Order::in_order);
    if (cache_) keep_stages(*cache_, *cache);
    cache_ = std::move(cache);
    std::vector<FoldScore> scores;
    for (const Pipeline& point : path) {
      context.check_cancelled();
      tell_at_hand(observed_, [&] { return fmt::format("{}, {}", split_.name, point.text()); });
      scores.push_back(run(point, context));
      progress.advance();
    }
    return scores;
  }

 private:
  FoldScore run(const Pipeline& point, const Context& context) {
    try {
      const Model model = Model::fit(point, view_, data_.schema, context, *cache_);
      const Outcome outcome = outcome_of(model.predict(batch_, context), model.classes(), *data_.y, split_);
      return {mean_over_domains(score_domains(data_, held_, {outcome}, {}, context)), "", ""};
    } catch (const Error& error) {
      const bool of_point = error.kind() == ErrorKind::data || error.kind() == ErrorKind::option;
      if (!of_point || error.code() == "not_enough_memory") throw;
      return {{}, error.code(), fmt::format("with {} held out: {}", split_.name, error.what())};
    }
  }

  const Dataset& data_;
  const Split& split_;
  Context observed_;  ///< by whoever follows the whole run
  TrainView view_;
  Batch batch_;
  std::vector<bool> held_;
  std::unique_ptr<FitCache> cache_;  ///< of the last path
};

/// Points that differ only in penalties, in the order of their fits: the unit that a journal keeps.
struct Path {
  std::vector<Pipeline> pipelines;
  std::vector<std::size_t> points;  ///< their places in the grid; empty: the learner `constant`
  bool adapting = false;
};

/// The paths of a fold in order. One view is in memory at a time: first come the points that do not adapt. Each view
/// has its `constant`.
std::vector<Path> paths_of(const std::vector<Pipeline>& points) {
  const std::vector<std::size_t> order = fitting_order(points);
  std::vector<Path> paths;
  for (const bool adapting : {false, true}) {
    std::string group;
    const std::size_t first = paths.size();
    for (const std::size_t p : order) {
      if (adapts(points[p]) != adapting) continue;
      const std::string own = place_of(points[p]).group;
      if (paths.size() == first || own != group) paths.push_back({{}, {}, adapting});
      group = own;
      paths.back().pipelines.push_back(points[p]);
      paths.back().points.push_back(p);
    }
    if (paths.size() > first) paths.push_back({{Pipeline::parse("constant")}, {}, adapting});
  }
  return paths;
}

/// The scores of one path on one fold, and the messages that it had.
struct PathFit {
  std::vector<FoldScore> scores;
  Messages messages;
  bool taken = false;  ///< from the journal
};

/// All fits of a grid, fold by fold.
class GridFits {
 public:
  GridFits(const Dataset& data, const std::vector<Pipeline>& points, const TuneFolds& folds, Journal* journal,
           const Context& context)
      : data_(data),
        folds_(folds),
        context_(context),
        paths_(paths_of(points)),
        finished_(journal, "tune", data, context),
        fits_(folds.plain.size()) {
    for (auto& fold : fits_) fold = std::vector<PathFit>(paths_.size());
  }

  void run(int at_most) {
    Index left = 0;
    for (std::size_t s = 0; s < fits_.size(); ++s) left += take_finished(s);
    Progress progress(context_.observer(), "tune", left);
    const auto run_one = [&](Index fold) { run_fold(at(fold), progress); };
    context_.parallel(std::ssize(fits_), run_one, at_most);
  }

  PointScores scores(std::size_t points) const {
    const std::size_t n = fits_.size();
    PointScores scores{std::vector(points, std::vector<FoldScore>(n)), std::vector<FoldScore>(n)};
    for (std::size_t s = 0; s < n; ++s)
      for (std::size_t i = 0; i < paths_.size(); ++i) {
        const std::vector<std::size_t>& places = paths_[i].points;
        for (std::size_t k = 0; k < places.size(); ++k) scores.points[places[k]][s] = fits_[s][i].scores[k];
        if (places.empty()) scores.constant[s] = fits_[s][i].scores.front();
      }
    return scores;
  }

  /// By fold.
  std::vector<std::unique_ptr<Messages>> messages() const {
    std::vector<std::unique_ptr<Messages>> messages;
    for (const std::vector<PathFit>& fold : fits_) {
      messages.push_back(std::make_unique<Messages>());
      for (const PathFit& fit : fold) messages.back()->append(fit.messages);
    }
    return messages;
  }

 private:
  const Split& split_of(const Path& path, std::size_t s) const {
    return (path.adapting ? folds_.adapting : folds_.plain)[s];
  }
  Context context_of(std::size_t s) const { return context_.derived("tune", s); }

  Digest key_of(const Path& path, std::size_t s) const {
    Digest key = finished_.key();
    key.add(context_of(s).seed());
    for (const Pipeline& pipeline : path.pipelines) key.add(pipeline.text());
    add_split(key, split_of(path, s));
    return key;
  }

  /// Takes what a previous run has left of a fold; the number of fits that are still to do.
  Index take_finished(std::size_t s) {
    Index left = 0;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      PathFit& fit = fits_[s][i];
      const auto fits = [&](const auto& scores) { return scores.size() == paths_[i].pipelines.size(); };
      fit.taken = finished_.kept() && finished_.take(key_of(paths_[i], s), fit.scores, fit.messages, fits);
      if (!fit.taken) left += std::ssize(paths_[i].pipelines);
    }
    return left;
  }

  void run_fold(std::size_t s, Progress& progress) {
    std::optional<FoldRunner> runner;
    bool adapting = false;
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      PathFit& fit = fits_[s][i];
      if (fit.taken) continue;
      const Context own = context_of(s).observed_by(&fit.messages);
      if (runner && adapting != paths_[i].adapting) runner.reset();
      if (!runner) runner.emplace(data_, split_of(paths_[i], s), context_, own);
      adapting = paths_[i].adapting;
      fit.scores = runner->run(paths_[i].pipelines, progress, own);
      if (finished_.kept()) finished_.keep(key_of(paths_[i], s), fit.scores, fit.messages);
    }
  }

  const Dataset& data_;
  const TuneFolds& folds_;
  const Context& context_;
  std::vector<Path> paths_;
  FinishedWork finished_;
  std::vector<std::vector<PathFit>> fits_;  ///< by fold, then path
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
                       Journal* journal, const Context& context) {
  GridFits fits(data, points, folds, journal, context);
  fits.run(at_most);
  pass_on(fits.messages(), context, "folds");
  return fits.scores(points.size());
}

}  // namespace ecotone
