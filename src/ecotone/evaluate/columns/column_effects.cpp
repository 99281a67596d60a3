#include "ecotone/evaluate/columns/column_effects.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/evaluate/columns/dependence.h"
#include "ecotone/evaluate/columns/shuffled_column.h"
#include "ecotone/evaluate/fits_at_once.h"
#include "ecotone/measure/intervals.h"
#include "ecotone/measure/ranks.h"

namespace ecotone {
namespace {

/// The columns that are looked at, in the order of the table.
std::vector<ColumnPlace> chosen_places(const Dataset& data, const std::vector<std::string>& wanted) {
  std::vector<ColumnPlace> places = column_places(data);
  if (wanted.empty()) return places;
  std::vector<std::string> names;
  for (const ColumnPlace& place : places) names.push_back(place.column.name);
  for (const std::string& name : wanted)
    if (std::ranges::find(names, name) == names.end()) {
      const std::string near = did_you_mean(name, names);
      option_error("unknown_column", "inspect: the model has no column '{}'{}", name,
                   near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
    }
  std::erase_if(places,
                [&](const ColumnPlace& place) { return std::ranges::find(wanted, place.column.name) == wanted.end(); });
  return places;
}

/// The effects with their domains and columns, before anything is computed.
ColumnEffects empty_effects(const Model& model, const Dataset& data, const std::vector<ColumnPlace>& places) {
  ColumnEffects effects;
  effects.pipeline = model.pipeline().text();
  effects.task = model.task();
  const std::vector<Index> sizes = data.domain.sizes();
  for (std::size_t d = 0; d < sizes.size(); ++d)
    effects.domains.push_back({.domain = data.domain.names[d], .rows = sizes[d]});
  if (model.task() == Task::regress) {
    effects.scores = {model.schema().label};
  } else if (model.classes().size() == 2) {
    effects.scores = {model.classes()[1]};
  } else {
    effects.scores = model.classes();
  }
  for (const ColumnPlace& place : places)
    effects.columns.push_back({.column = place.column.name, .kind = place.column.kind});
  return effects;
}

/// The labelled rows of a domain that are shuffled; of a model that needs the sample of a domain, the others too.
std::vector<Index> shuffled_rows(const Model& model, const Dataset& data, Index domain, Index most) {
  std::vector<Index> rows = data.domain.rows_of(domain);
  if (!model.needs_domain_sample())
    std::erase_if(rows,
                  [&](Index row) { return data.y->missing(row) || (data.weight.size() > 0 && data.weight[row] == 0); });
  return spread_over(rows, most);
}

/// auroc, or accuracy if no domain has several classes.
std::string metric_of(const Dataset& data, const std::vector<std::vector<Index>>& rows) {
  if (data.y->task == Task::regress) return "rmse";
  const auto several = [&](const std::vector<Index>& own) {
    std::int32_t first = -1;
    for (const Index row : own) {
      const std::int32_t label = data.y->index[at(row)];
      if (label >= 0 && first >= 0 && label != first) return true;
      if (label >= 0) first = label;
    }
    return false;
  };
  return std::ranges::any_of(rows, several) ? "auroc" : "accuracy";
}

/// What is lost in one domain; every column has a random stream of its own there.
void add_domain_importance(ColumnEffects& effects, const std::vector<ColumnPlace>& places, const Model& model,
                           const ScoredSample& sample, std::size_t domain, Progress& progress, const Context& context) {
  EffectDomain& own = effects.domains[domain];
  own.scored = sample.scored();
  if (own.scored > 0) own.score = sample_metric(effects.metric, model.predict(sample.rows, context), sample);
  const Context silent = context.observed_by(nullptr);
  silent.parallel(
      static_cast<Index>(places.size()),
      [&](Index c) {
        ShuffleLoss& loss = effects.columns[at(c)].importance[domain];
        if (own.score) {
          const Random random = silent.random(
              "permute", (std::uint64_t{domain} << 32U) | static_cast<std::uint64_t>(places[at(c)].first));
          const std::vector<double> losses =
              shuffle_losses(model, sample, places[at(c)], effects.metric, own.score, effects.repeats, random, silent);
          loss = {mean_of(losses), sample_sd(losses)};
        }
        progress.advance();
      },
      fits_at_once(sample.rows.x));
}

void add_importance(ColumnEffects& effects, const std::vector<ColumnPlace>& places, const Model& model,
                    const Dataset& data, const EffectOptions& options, const Context& context) {
  const std::size_t domains = effects.domains.size();
  std::vector<std::vector<Index>> rows;
  for (std::size_t d = 0; d < domains; ++d)
    rows.push_back(shuffled_rows(model, data, static_cast<Index>(d), options.rows));
  effects.metric = metric_of(data, rows);
  for (ColumnEffect& effect : effects.columns) effect.importance.resize(domains);
  Progress progress(context.observer(), "importance", static_cast<Index>(domains * places.size()));
  for (std::size_t d = 0; d < domains; ++d)
    add_domain_importance(effects, places, model, scored_sample(model, data, rows[d]), d, progress, context);
  for (ColumnEffect& effect : effects.columns) {
    std::vector<double> known;
    for (const ShuffleLoss& loss : effect.importance)
      if (loss.mean) known.push_back(*loss.mean);
    effect.mean = mean_of(known);
  }
}

/// How far the curves of a column go: the farthest of its scores.
double pooled_swing(const ColumnEffect& effect) {
  double largest = 0;
  for (const std::vector<double>& curve : effect.pooled) largest = std::max(largest, swing(curve));
  return largest;
}

bool any_label_known(const Dataset& data) {
  for (Index row = 0; data.y && row < data.rows(); ++row)
    if (!data.y->missing(row)) return true;
  return false;
}

/// The gains that a stage of boosted trees holds, with the names of its columns on these data.
std::optional<SplitGains> split_gains(const Model& model, const Dataset& data, const Context& context) {
  for (std::size_t i = 0; i < model.pipeline().stages().size(); ++i) {
    const StageState state = model.state(i);
    if (!state.has("importance_domain")) continue;
    const std::vector<Index> first{0};
    const std::vector<std::string> names = model.transform(batch(data, first), context).names();
    SplitGains gains{state.info["domains"].get<std::vector<std::string>>(), {}};
    const Vector all = state.vector("importance", -1);
    const Matrix of_domain = state.matrix("importance_domain", std::ssize(gains.domains), all.size());
    if (std::ssize(names) != all.size()) return std::nullopt;
    for (Index j = 0; j < all.size(); ++j) {
      const Vector column = of_domain.col(j);
      gains.columns.push_back({names[at(j)], all[j], {column.begin(), column.end()}});
    }
    std::ranges::stable_sort(gains.columns, std::greater<>(), &SplitGains::Gain::all);
    return gains;
  }
  return std::nullopt;
}

}  // namespace

bool ShuffleLoss::hurts(int repeats) const {
  return mean && *mean < 0 && *mean < -2 * spread.value_or(0) / std::sqrt(static_cast<double>(repeats));
}

double swing(const std::vector<double>& curve) {
  if (curve.empty()) return 0;
  const auto [low, high] = std::ranges::minmax(curve);
  return high - low;
}

ColumnEffects column_effects(const Model& model, const Dataset& data, const EffectOptions& options,
                             const Context& context) {
  if (data.rows() == 0) data_error("empty_data", "inspect: the data have no rows");
  const std::vector<ColumnPlace> places = chosen_places(data, options.columns);
  ColumnEffects effects = empty_effects(model, data, places);
  effects.repeats = options.repeats;
  if (any_label_known(data)) {
    if (data.y->task != model.task())
      data_error("bad_label", "inspect: the model's task is {}, that of the labels {}", task_name(model.task()),
                 task_name(data.y->task));
    add_importance(effects, places, model, data, options, context);
  }
  add_dependence(effects, places, model, data, options, context);
  effects.gains = split_gains(model, data, context);
  std::ranges::stable_sort(effects.columns, [](const ColumnEffect& a, const ColumnEffect& b) {
    const double own = a.mean.value_or(-INFINITY), other = b.mean.value_or(-INFINITY);
    return own != other ? own > other : pooled_swing(a) > pooled_swing(b);
  });
  return effects;
}

std::vector<std::optional<OppositeCurves>> opposite_curves(const ColumnEffects& effects) {
  constexpr double least_share = 0.1, largest_correlation = -0.5;
  std::vector<double> farthest(effects.scores.size(), 0.0);
  for (const ColumnEffect& effect : effects.columns)
    for (const auto& of_domain : effect.curves)
      for (std::size_t s = 0; s < of_domain.size(); ++s) farthest[s] = std::max(farthest[s], swing(of_domain[s]));
  std::vector<std::optional<OppositeCurves>> found(effects.columns.size());
  for (std::size_t c = 0; c < effects.columns.size(); ++c) {
    const auto& curves = effects.columns[c].curves;
    double best = 0;
    for (std::size_t s = 0; s < farthest.size() && !curves.empty(); ++s) {
      const auto swing_in = [&](const auto& of_domain) { return swing(of_domain[s]); };
      const auto one = std::ranges::max_element(curves, {}, swing_in);
      for (auto other = curves.begin(); other != curves.end(); ++other) {
        const double reach = swing_in(*other);
        if (reach == 0 || reach < least_share * farthest[s] || reach <= best) continue;
        if (spearman((*one)[s], (*other)[s]).value_or(0) > largest_correlation) continue;
        best = reach;
        found[c] = {static_cast<std::size_t>(one - curves.begin()), static_cast<std::size_t>(other - curves.begin()),
                    s};
      }
    }
  }
  return found;
}

}  // namespace ecotone
