#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/html/charts/grid_chart.h"
#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/panels.h"

namespace ecotone::report {

namespace {

constexpr double much_shift = 1.5;  // standard deviations that are shaded most
constexpr std::size_t most_shift_columns = 30;

std::string share_text(double share) { return fmt::format("{:.0f}%", 100 * share); }

/// The data of a grid as rows: name, column, value.
std::vector<std::vector<std::string>> grid_data(const GridChart& chart) {
  std::vector<std::vector<std::string>> table = {{chart.row_word, "in", chart.value_word}};
  for (std::size_t r = 0; r < chart.rows.size(); ++r)
    for (std::size_t c = 0; c < chart.columns.size(); ++c)
      table.push_back({chart.rows[r], chart.columns[c], chart.values[r][c] ? plain_number(*chart.values[r][c]) : ""});
  return table;
}

std::string grid_figure(std::string name, std::string caption, const GridChart& chart) {
  return figure({.name = std::move(name),
                 .caption = std::move(caption),
                 .wide = grid_chart(chart),
                 .narrow = {},
                 .table = grid_data(chart)});
}

/// Features by domain: how far each domain's mean lies from that of all others.
std::string shift_figure(const Diagnosis& diagnosis) {
  const ShiftTable& shifts = diagnosis.shifts;
  if (shifts.features.empty() || shifts.domains.empty()) return "";
  GridChart chart{.description = "Standardised mean difference of each feature in each domain from all other domains.",
                  .rows = shifts.features,
                  .columns = shifts.domains,
                  .values = {},
                  .texts = {},
                  .full = much_shift,
                  .row_word = "feature",
                  .value_word = "smd"};
  for (std::size_t f = 0; f < shifts.features.size(); ++f) {
    chart.values.emplace_back();
    chart.texts.emplace_back();
    for (std::size_t d = 0; d < shifts.domains.size(); ++d) {
      const auto& value = shifts.smd[d][f];
      chart.values.back().push_back(value);
      chart.texts.back().push_back(
          value ? (std::abs(*value) < 0.05 ? std::string("0.0") : fmt::format("{:+.1f}", *value)) : "–");
      if (value && std::abs(*value) >= 0.8)
        chart.description += fmt::format(" {} in {}: {:+.2f}.", shifts.features[f], shifts.domains[d], *value);
    }
  }
  return grid_figure("shift-by-column",
                     fmt::format("<strong>Columns</strong>: the mean in each {} minus that of all others, in standard "
                                 "deviations{}",
                                 escape(diagnosis.domain_word),
                                 std::ssize(diagnosis.feature_shift) > std::ssize(shifts.features)
                                     ? fmt::format("; the {} most shifted of {} features", shifts.features.size(),
                                                   diagnosis.feature_shift.size())
                                     : ""),
                     chart);
}

/// The MMD of all pairs, as a root so that it is a distance.
std::string distance_figure(const Diagnosis& diagnosis) {
  const std::vector<std::string>& names = diagnosis.domains;
  if (diagnosis.pairs.empty() || names.size() < 3) return "";
  GridChart chart{.description = "Distance between each two domains: the root of the squared maximum mean discrepancy.",
                  .rows = names,
                  .columns = names,
                  .values = std::vector(names.size(), std::vector<std::optional<double>>(names.size())),
                  .texts = std::vector(names.size(), std::vector<std::string>(names.size())),
                  .full = 0,
                  .row_word = diagnosis.domain_word,
                  .value_word = "mmd"};
  for (const Comparison& pair : diagnosis.pairs) {
    if (!pair.mmd2) continue;
    const auto a = static_cast<std::size_t>(std::ranges::find(names, pair.a) - names.begin());
    const auto b = static_cast<std::size_t>(std::ranges::find(names, pair.b) - names.begin());
    if (a == names.size() || b == names.size()) continue;  // a domain that is not shown
    const double distance = std::sqrt(std::max(0.0, *pair.mmd2));
    chart.values[a][b] = chart.values[b][a] = distance;
    chart.texts[a][b] = chart.texts[b][a] = fmt::format("{:.2f}", distance);
    chart.full = std::max(chart.full, distance);
    chart.description += fmt::format(" {} and {}: {:.2f}.", pair.a, pair.b, distance);
  }
  return grid_figure(
      "distances",
      "<strong>Distances</strong> between all columns of two together (maximum mean discrepancy); 0: alike", chart);
}

/// Names beside dots, each where it covers no other; a name without room is left to the tip of its dot.
class DotNames {
 public:
  void draw(Svg& svg, double x, double y, const std::string& name, double width) {
    const std::string text = fitted(name, 130);
    const double half = drawn_width(text) / 2;
    for (const auto& [right, down] : {std::pair{0.0, -9.0}, {0.0, 19.0}, {half + 10, 4.0}, {-half - 10, 4.0}}) {
      const double middle = std::clamp(x + right, half, width - half);
      const Box own{middle - half, y + down - 11, middle + half, y + down + 2};
      const bool free = std::ranges::none_of(taken_, [&](const Box& other) { return own.covers(other); });
      if (!free) continue;
      taken_.push_back(own);
      svg.text(middle, y + down, "middle", text, "dot-name");
      return;
    }
  }

 private:
  struct Box {
    double left, top, right, bottom;
    bool covers(const Box& other) const {
      return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
    }
  };
  std::vector<Box> taken_;
};

/// Named dots whose distances are about the MMD.
std::string map_figure(const Diagnosis& diagnosis) {
  if (diagnosis.map.empty()) return "";
  constexpr double width = 420, height = 300, margin = 46;
  Svg svg(width, height, "The domains on a map: near each other where their rows are alike.");
  double left = INFINITY, right = -INFINITY, low = INFINITY, high = -INFINITY;
  for (const DomainPlace& place : diagnosis.map) {
    left = std::min(left, place.x);
    right = std::max(right, place.x);
    low = std::min(low, place.y);
    high = std::max(high, place.y);
  }
  // One scale for both directions, or distances would lie.
  const double scale = std::min((width - 2 * margin) / std::max(right - left, 1e-12),
                                (height - 2 * margin) / std::max(high - low, 1e-12));
  std::vector<std::vector<std::string>> table = {{diagnosis.domain_word, "x", "y"}};
  DotNames names;
  for (const DomainPlace& place : diagnosis.map) {
    const double x = width / 2 + scale * (place.x - (left + right) / 2);
    const double y = height / 2 - scale * (place.y - (low + high) / 2);
    svg.circle(x, y, 5.2, "dot", place.domain);
    names.draw(svg, x, y, place.domain, width);
    table.push_back({place.domain, plain_number(place.x), plain_number(place.y)});
  }
  return figure({.name = "map",
                 .caption = fmt::format("<strong>Map</strong>: near each other means alike; {:.0f}% of the squared "
                                        "distances are in sight",
                                        100 * diagnosis.map_share),
                 .wide = std::move(svg).done(),
                 .narrow = {},
                 .table = std::move(table)});
}

std::string missing_figure(const Diagnosis& diagnosis) {
  if (diagnosis.missing.empty()) return "";
  GridChart chart{.description = "Share of missing values of each column in each domain.",
                  .rows = {},
                  .columns = diagnosis.domains,
                  .values = {},
                  .texts = {},
                  .full = 1,
                  .row_word = "column",
                  .value_word = "missing"};
  for (const MissingShift& column : diagnosis.missing) {
    if (chart.rows.size() == most_shift_columns) break;
    chart.rows.push_back(column.column);
    chart.values.emplace_back(column.share.begin(), column.share.end());
    chart.texts.emplace_back();
    for (const double share : column.share) chart.texts.back().push_back(share_text(share));
  }
  return grid_figure("missing-values",
                     fmt::format("<strong>Missing values</strong>, largest difference first{}",
                                 diagnosis.missing.size() > chart.rows.size()
                                     ? fmt::format("; {} of {} columns", chart.rows.size(), diagnosis.missing.size())
                                     : ""),
                     chart);
}

std::string label_figure(const Diagnosis& diagnosis) {
  if (!diagnosis.task || *diagnosis.task != Task::classify || diagnosis.labels.empty()) return "";
  GridChart chart{.description = "Share of each class in each domain.",
                  .rows = {},
                  .columns = diagnosis.classes,
                  .values = {},
                  .texts = {},
                  .full = 1,
                  .row_word = diagnosis.domain_word,
                  .value_word = "share"};
  for (const DomainLabels& labels : diagnosis.labels) {
    if (labels.share.empty()) continue;
    chart.rows.push_back(labels.domain);
    chart.values.emplace_back(labels.share.begin(), labels.share.end());
    chart.texts.emplace_back();
    for (const double share : labels.share) chart.texts.back().push_back(share_text(share));
  }
  if (chart.rows.empty()) return "";
  return grid_figure("label-shares",
                     fmt::format("<strong>{}</strong>: the share of each class", escape(diagnosis.label)), chart);
}

std::string advice_list(const Diagnosis& diagnosis) {
  std::string items;
  for (std::size_t i = 0; i < diagnosis.advice.size(); ++i)
    items += fmt::format("<li id=\"why-{}\">{}</li>\n", i, escape(diagnosis.advice[i].text));
  return items.empty() ? "" : fmt::format("<ul class=\"advice\">\n{}</ul>\n", items);
}

}  // namespace

std::string domain_word(const Report& report) {
  const std::string word = report.population  ? report.population->domain_word
                           : report.diagnosis ? report.diagnosis->domain_word
                                              : "domain";
  // The name of a column that is no word of a sentence is left out of sentences.
  const bool plain = !word.empty() && std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
  return plain ? word : "domain";
}

std::string why_anchor(const Report& report, const std::string& domain) {
  if (!report.diagnosis) return "";
  const auto& advice = report.diagnosis->advice;
  const auto found = std::ranges::find(advice, domain, &Advice::domain) - advice.begin();
  return found < std::min<std::ptrdiff_t>(std::ssize(advice), most_advice) ? fmt::format("why-{}", found) : "";
}

std::string shift_answer(const Diagnosis& diagnosis) {
  if (diagnosis.advice.empty()) return "";
  return fmt::format(
      "<section class=\"answer\" aria-label=\"The answer\">\n<p class=\"lead\">{}.</p>\n<p>{} rows of {}, compared in "
      "{}"
      ".</p>\n</section>\n",
      capitalised(escape(diagnosis.advice.front().text)), diagnosis.rows, plural(diagnosis.domains.size(), "domain"),
      plural(static_cast<std::size_t>(diagnosis.features), "feature"));
}

Panel shift_panel(const Report& report) {
  if (!report.diagnosis)
    return {
        "shift", "Where the domains differ",
        report.not_diagnosed.empty() ? "" : fmt::format("<p class=\"note\">{}</p>\n", escape(report.not_diagnosed))};
  const Diagnosis& diagnosis = *report.diagnosis;
  std::string html = advice_list(diagnosis) + shift_figure(diagnosis);
  html += fmt::format("<div class=\"small-charts\">\n{}{}</div>\n", map_figure(diagnosis), label_figure(diagnosis));
  html += distance_figure(diagnosis) + missing_figure(diagnosis);
  return {"shift", fmt::format("Where the {} differ", plural(domain_word(report))), std::move(html)};
}

}  // namespace ecotone::report
