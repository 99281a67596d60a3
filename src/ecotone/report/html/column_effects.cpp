#include "ecotone/evaluate/columns/column_effects.h"

#include <fmt/format.h>

#include <algorithm>

#include "ecotone/measure/metrics.h"
#include "ecotone/report/html/charts/curve_chart.h"
#include "ecotone/report/html/charts/strip_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr std::size_t most_shuffled = 12;       // columns with their importance
constexpr std::size_t most_curves = 12;         // columns with their curves
constexpr std::size_t most_level_strips = 12;   // of a text column
constexpr std::size_t most_drawn_domains = 60;  // dots or lines of a column
constexpr std::size_t pooled_line = chart_lines - 1;

using Opposites = std::vector<std::optional<OppositeCurves>>;

StripRow importance_row(const ColumnEffects& effects, const ColumnEffect& effect) {
  StripRow row{.tag = {}, .name = effect.column, .figure = signed_number(effect.mean)};
  row.mean = effect.mean;
  for (std::size_t d = 0; d < std::min(most_drawn_domains, effect.importance.size()); ++d) {
    const ShuffleLoss& loss = effect.importance[d];
    if (!loss.mean) continue;
    const bool hurts = loss.hurts(effects.repeats);
    row.dots.push_back(
        {.value = *loss.mean,
         .name = effects.domains[d].domain,
         .note = fmt::format("{}: {} ± {}", effects.domains[d].domain, signed_number(loss.mean), number(loss.spread)),
         .look = hurts ? "dot worse" : "dot",
         .foremost = hurts});
  }
  return row;
}

std::vector<std::vector<std::string>> importance_data(const ColumnEffects& effects) {
  std::vector<std::vector<std::string>> table = {{"column", "domain", "importance", "spread"}};
  for (const ColumnEffect& effect : effects.columns)
    for (std::size_t d = 0; d < effect.importance.size(); ++d) {
      const ShuffleLoss& loss = effect.importance[d];
      table.push_back({effect.column, effects.domains[d].domain, loss.mean ? plain_number(*loss.mean) : "",
                       loss.spread ? plain_number(*loss.spread) : ""});
    }
  return table;
}

/// The number of the score whose curves go farthest in a column, or whose curves go opposite ways.
std::size_t told_score(const ColumnEffect& effect, const std::optional<OppositeCurves>& opposite) {
  if (opposite) return opposite->score;
  const auto farthest = std::ranges::max_element(effect.pooled, {}, swing);
  return static_cast<std::size_t>(farthest - effect.pooled.begin());
}

/// Lines of a chart: a few domains each have their own; of many, only the two that go opposite ways.
std::vector<ChartLine> domain_lines(const ColumnEffects& effects, const ColumnEffect& effect, std::size_t score,
                                    const std::optional<OppositeCurves>& opposite) {
  const std::size_t domains = std::min(most_drawn_domains, effects.domains.size());
  std::vector<ChartLine> lines;
  const auto add = [&](std::size_t number, const std::string& name, const std::vector<double>& curve, bool thin) {
    lines.push_back({.number = number, .name = name, .x = effect.values, .y = curve, .low = {}, .high = {}});
    lines.back().thin = thin;
  };
  for (std::size_t d = 0; d < domains; ++d)
    add(domains < chart_lines ? d : 2, effects.domains[d].domain, effect.curves[d][score], domains >= chart_lines);
  if (domains >= chart_lines && opposite)
    for (const auto& [number, d] : {std::pair{0, opposite->one}, {1, opposite->other}})
      add(static_cast<std::size_t>(number), effects.domains[d].domain, effect.curves[d][score], false);
  add(pooled_line, "all rows", effect.pooled[score], false);
  return lines;
}

/// In words, for those who do not see the lines.
std::string dependence_words(const ColumnEffects& effects, const ColumnEffect& effect, std::size_t score) {
  std::string words = fmt::format("Mean score by {}.", effect.column);
  if (effect.values.empty()) return words;
  const auto line = [&](const std::string& name, const std::vector<double>& curve) {
    return fmt::format(" {}: {} at {}, {} at {}.", name, brief(curve.front()), brief(effect.values.front()),
                       brief(curve.back()), brief(effect.values.back()));
  };
  words += line("All rows", effect.pooled[score]);
  for (std::size_t d = 0; d < std::min(chart_lines, effects.domains.size()); ++d)
    words += line(effects.domains[d].domain, effect.curves[d][score]);
  return words;
}

std::vector<std::vector<std::string>> curve_data(const ColumnEffects& effects, const ColumnEffect& effect) {
  std::vector<std::vector<std::string>> table = {{"domain", "score", "value", "mean_score"}};
  const auto add = [&](const std::string& domain, const std::vector<std::vector<double>>& curves) {
    for (std::size_t s = 0; s < curves.size(); ++s)
      for (std::size_t p = 0; p < curves[s].size(); ++p)
        table.push_back({domain, effects.scores[s],
                         effect.kind == ColumnKind::categorical ? effect.levels[p] : plain_number(effect.values[p]),
                         plain_number(curves[s][p])});
  };
  add("", effect.pooled);
  for (std::size_t d = 0; d < effects.domains.size(); ++d) add(effects.domains[d].domain, effect.curves[d]);
  return table;
}

std::string number_curves(const ColumnEffects& effects, const ColumnEffect& effect, std::size_t score,
                          const std::optional<OppositeCurves>& opposite) {
  CurveChart chart;
  chart.description = dependence_words(effects, effect, score);
  chart.x_title = effect.kind == ColumnKind::date ? effect.column + ", days since 1970" : effect.column;
  chart.y_title = "mean score";
  chart.lines = domain_lines(effects, effect, score, opposite);
  chart.names = false;
  chart.width = 420;
  chart.height = 280;
  return curve_chart(chart);
}

/// A strip for each level, with a dot for each domain.
StripChart level_strips(const ColumnEffects& effects, const ColumnEffect& effect, std::size_t score) {
  StripChart chart{
      .description = fmt::format("Mean score by {}.", effect.column), .axis_title = "mean score", .rows = {}};
  for (std::size_t p = 0; p < std::min(most_level_strips, effect.levels.size()); ++p) {
    StripRow row{.tag = {}, .name = effect.levels[p], .figure = signed_number(effect.pooled[score][p])};
    row.mean = effect.pooled[score][p];
    for (std::size_t d = 0; d < std::min(most_drawn_domains, effects.domains.size()); ++d)
      row.dots.push_back(
          {.value = effect.curves[d][score][p],
           .name = effects.domains[d].domain,
           .note = fmt::format("{}: {}", effects.domains[d].domain, signed_number(effect.curves[d][score][p]))});
    chart.description += fmt::format(" {}: {}.", effect.levels[p], signed_number(effect.pooled[score][p]));
    chart.rows.push_back(std::move(row));
  }
  return chart;
}

/// Which two lines go opposite ways, with their keys where there are lines.
std::string opposite_words(const ColumnEffects& effects, const ColumnEffect& effect, const OppositeCurves& opposite) {
  const bool each = effects.domains.size() < chart_lines;
  const auto named = [&](std::size_t domain, std::size_t of_pair) {
    return (effect.kind == ColumnKind::categorical ? "" : line_key(each ? domain : of_pair) + " ") +
           escape(effects.domains[domain].domain);
  };
  return fmt::format(": <span class=\"worst\">opposite ways in {} and {}</span>", named(opposite.one, 0),
                     named(opposite.other, 1));
}

std::string dependence_figure(const ColumnEffects& effects, std::size_t c,
                              const std::optional<OppositeCurves>& opposite) {
  const ColumnEffect& effect = effects.columns[c];
  const std::size_t score = told_score(effect, opposite);
  std::string caption = fmt::format("<strong>{}</strong>", escape(effect.column));
  if (effects.scores.size() > 1) caption += fmt::format(", score of {}", escape(effects.scores[score]));
  if (opposite) caption += opposite_words(effects, effect, *opposite);
  if (effect.levels.size() > most_level_strips)
    caption += fmt::format("; {} of {} levels", most_level_strips, effect.levels.size());
  Figure figure_of{.name = fmt::format("dependence-{}", c + 1),
                   .caption = std::move(caption),
                   .wide = {},
                   .narrow = {},
                   .table = curve_data(effects, effect)};
  if (effect.kind == ColumnKind::categorical) {
    figure_of.wide = strip_chart(level_strips(effects, effect, score), narrow_picture);
  } else {
    figure_of.wide = number_curves(effects, effect, score, opposite);
  }
  return figure(figure_of);
}

/// What the lines of the charts mean.
std::string domain_legend(const ColumnEffects& effects) {
  std::string items;
  const auto add = [&](std::size_t number, const std::string& name) {
    items += fmt::format("<li>{} {}</li>\n", line_key(number), escape(name));
  };
  if (effects.domains.size() < chart_lines) {
    for (std::size_t d = 0; d < effects.domains.size(); ++d) add(d, effects.domains[d].domain);
  } else {
    items += fmt::format("<li>thin: one of {}</li>\n", plural(effects.domains.size(), "domain"));
  }
  add(pooled_line, "all rows");
  return fmt::format("<ul class=\"legend\">\n{}</ul>\n", items);
}

/// Columns with a curve to draw: those that go opposite ways first, then by importance.
std::vector<std::size_t> drawn_columns(const ColumnEffects& effects, const Opposites& opposite) {
  std::vector<std::size_t> order;
  for (std::size_t c = 0; c < effects.columns.size(); ++c)
    if (effects.columns[c].points() > 0) order.push_back(c);
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return opposite[a].has_value() > opposite[b].has_value(); });
  if (order.size() > most_curves) order.resize(most_curves);
  return order;
}

std::string score_words(const ColumnEffects& effects) {
  if (effects.task == Task::regress) return "the predicted number";
  if (effects.scores.size() == 1) return fmt::format("the decision value of {}", escape(effects.scores.front()));
  return "the decision value of a class, that which the column moves most";
}

}  // namespace

std::string effects_answer(const ColumnEffects& effects) {
  std::vector<std::string> names;
  for (const ColumnEffect& effect : effects.columns)
    if (names.size() < 3 && (effects.metric.empty() || effect.mean.value_or(0) > 0))
      names.push_back(fmt::format("<strong>{}</strong>", escape(effect.column)));
  std::size_t apart = 0;
  for (const auto& found : opposite_curves(effects)) apart += found.has_value();
  const std::string lead =
      names.empty() ? "No column matters to the model on these rows."
                    : fmt::format("The model {} {}.", effects.metric.empty() ? "moves most with" : "uses most",
                                  fmt::join(names, ", "));
  return fmt::format(
      "<section class=\"answer{}\" aria-label=\"The answer\">\n<p class=\"lead\">{} {}</p>\n<p><code>{}</code> on {}."
      "</p>\n</section>\n",
      apart > 0 ? " care" : "", lead,
      apart == 0 ? "No column moves its score in opposite ways in two domains."
                 : fmt::format("{} the score in opposite ways in two domains.",
                               apart == 1 ? "One column moves" : fmt::format("{} columns move", apart)),
      escape(effects.pipeline), plural(effects.domains.size(), "domain"));
}

Panel importance_panel(const ColumnEffects& effects) {
  if (effects.metric.empty()) return {};
  const MetricInfo& metric = *find_metric(effects.metric);
  StripChart chart{
      .description = fmt::format("How much {} is lost in each domain when a column is shuffled.", metric.title),
      .axis_title = fmt::format("{} of {}", metric.higher_is_better() ? "loss" : "increase", metric.title),
      .rows = {},
      .line = 0.0};
  for (const ColumnEffect& effect : effects.columns) {
    if (chart.rows.size() == most_shuffled || !effect.mean) break;
    chart.rows.push_back(importance_row(effects, effect));
    chart.description += fmt::format(" {}: {}.", effect.column, signed_number(effect.mean));
  }
  if (chart.rows.empty()) return {};
  std::string note = fmt::format(
      "<p class=\"note\"><i class=\"key-dot\"></i> one domain <i class=\"key-mean\"></i> their mean · by how much {} "
      "gets worse when the values of one column are shuffled among the rows of the domain, the mean of {}. Left of "
      "zero the model does better without the column; dots of another colour say where that is clear.",
      metric.title, plural(static_cast<std::size_t>(effects.repeats), "shuffle"));
  if (effects.columns.size() > chart.rows.size())
    note += fmt::format(" The {} most important of {} columns; the data below have all.", chart.rows.size(),
                        effects.columns.size());
  return {"importance", "What the model uses in each domain",
          note + "</p>\n" +
              figure({.name = "importance",
                      .caption = {},
                      .wide = strip_chart(chart, wide_picture),
                      .narrow = strip_chart(chart, narrow_picture),
                      .table = importance_data(effects)})};
}

Panel dependence_panel(const ColumnEffects& effects) {
  const Opposites opposite = opposite_curves(effects);
  const std::vector<std::size_t> order = drawn_columns(effects, opposite);
  if (order.empty()) return {};
  std::string figures;
  for (const std::size_t c : order) figures += dependence_figure(effects, c, opposite[c]);
  return {"dependence", "What each column does to the score",
          fmt::format("<p class=\"note\">The mean of {} over rows of a domain with the column set to each value in "
                      "turn. Lines that run side by side mean the same everywhere; lines that cross are the thing to "
                      "see.{}</p>\n{}<div class=\"small-charts\">\n{}</div>\n",
                      score_words(effects),
                      order.size() < effects.columns.size()
                          ? fmt::format(" {} of {} columns.", order.size(), effects.columns.size())
                          : "",
                      domain_legend(effects), figures)};
}

Panel gains_panel(const ColumnEffects& effects) {
  if (!effects.gains) return {};
  const SplitGains& gains = *effects.gains;
  StripChart chart{.description = "What the splits of each column took off the loss of each training domain.",
                   .axis_title = "gain",
                   .rows = {},
                   .line = 0.0};
  std::vector<std::vector<std::string>> table = {{"column", "domain", "gain"}};
  for (const SplitGains::Gain& gain : gains.columns) {
    for (std::size_t d = 0; d < gains.domains.size(); ++d)
      table.push_back({gain.column, gains.domains[d], plain_number(gain.of_domain[d])});
    if (chart.rows.size() == most_shuffled || !(gain.all > 0)) continue;
    StripRow row{.tag = {}, .name = gain.column, .figure = number(gain.all)};
    for (std::size_t d = 0; d < std::min(most_drawn_domains, gains.domains.size()); ++d)
      row.dots.push_back({.value = gain.of_domain[d],
                          .name = gains.domains[d],
                          .note = fmt::format("{}: {}", gains.domains[d], signed_number(gain.of_domain[d])),
                          .look = gain.of_domain[d] < 0 ? "dot worse" : "dot",
                          .foremost = gain.of_domain[d] < 0});
    chart.rows.push_back(std::move(row));
    chart.description += fmt::format(" {}: {}.", gain.column, number(gain.all));
  }
  if (chart.rows.empty()) return {};
  return {"gains", "What the splits gained in training",
          "<p class=\"note\"><i class=\"key-dot\"></i> one training domain · what all splits of a column took off its "
          "loss; "
          "the figure is that of all rows. Left of zero, in another colour, they raised it.</p>\n" +
              figure({.name = "gains",
                      .caption = {},
                      .wide = strip_chart(chart, wide_picture),
                      .narrow = strip_chart(chart, narrow_picture),
                      .table = std::move(table)})};
}

}  // namespace ecotone::report
