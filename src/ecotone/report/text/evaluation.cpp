#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {

namespace {

constexpr Index column_gap = 2;
constexpr double significance = 0.05;  // of verdicts

/// Formats the values of one metric, all with the same number of decimals.
class NumberFormat {
 public:
  NumberFormat(const Evaluation& evaluation, const std::string& metric) {
    if (evaluation.task == Task::classify || metric == "r2") return;
    double largest = 0;
    for (const auto& score : evaluation.pipelines)
      for (const auto& domain : score.domains)
        largest = std::max(largest, std::abs(value_of(domain.metrics, metric).value_or(0)));
    // Four digits of the largest value; scientific notation where fixed notation does not fit.
    const double magnitude = largest > 0 ? std::floor(std::log10(largest)) : 0;
    scientific_ = magnitude > 8 || magnitude < -4;
    decimals_ = scientific_ ? 3 : static_cast<int>(std::clamp(3 - magnitude, 0.0, 7.0));
  }

  std::string text(const std::optional<double>& value, bool sign = false) const {
    if (!value) return "-";
    const double shown = *value == 0 ? 0.0 : *value;  // no "-0"
    if (scientific_) return sign ? fmt::format("{:+.{}e}", shown, decimals_) : fmt::format("{:.{}e}", shown, decimals_);
    return sign ? fmt::format("{:+.{}f}", shown, decimals_) : fmt::format("{:.{}f}", shown, decimals_);
  }
  /// With one digit less.
  std::string short_text(double value) const {
    const int decimals = std::max(decimals_ - 1, 0);
    return scientific_ ? fmt::format("{:.{}e}", value, decimals) : fmt::format("{:.{}f}", value, decimals);
  }

 private:
  int decimals_ = 4;
  bool scientific_ = false;
};

/// The table's parts, as text, before they are laid out.
struct Sheet {
  std::vector<std::string> heads;               // of the pipelines' columns
  std::vector<std::string> domains;             // first column: domains, then mean, spread and worst
  std::vector<std::vector<std::string>> facts;  // columns of the domains: their heads, then the lines
  std::vector<std::vector<std::string>> cells;  // by pipeline, then line
  std::size_t n_domains = 0;                    // lines before the mean
};

Index widest(const std::vector<std::string>& texts, Index least) {
  for (const auto& text : texts) least = std::max(least, display_width(text));
  return least;
}

/// What prevalence is called at the head of its column; empty if it has none: too many classes, or no scores.
std::string prevalence_head(const Evaluation& evaluation) {
  constexpr std::size_t most_classes = 4;
  constexpr Index most_width = 16;
  const auto known = [](const DomainScore& domain) { return !domain.prevalence.empty(); };
  if (std::ranges::none_of(evaluation.pipelines.front().domains, known)) return "";
  if (evaluation.task == Task::regress) return "label mean";
  const std::vector<std::string>& classes = evaluation.classes;
  if (classes.size() == 2) return display_text(fmt::format("% {}", classes[1]), most_width);
  const std::string head = fmt::format("% {}", fmt::join(classes, "/"));
  return classes.size() <= most_classes && display_width(head) <= most_width ? display_text(head, most_width) : "";
}

std::string prevalence_text(const Evaluation& evaluation, const std::vector<double>& prevalence) {
  if (prevalence.empty()) return "-";
  if (evaluation.task == Task::regress) return fmt::format("{:.4g}", prevalence.front());
  if (prevalence.size() == 2) return fmt::format("{:.1f}", 100 * prevalence[1]);
  std::vector<std::string> shares;
  for (const double share : prevalence) shares.push_back(fmt::format("{:.0f}", 100 * share));
  return fmt::format("{}", fmt::join(shares, "/"));
}

/// "[0.681, 0.790]"; empty if there is none.
std::string interval_text(const DomainScore& domain, const std::string& metric, const NumberFormat& format) {
  for (const auto& [name, interval] : domain.intervals)
    if (name == metric && interval)
      return fmt::format("[{}, {}]", format.short_text(interval->low), format.short_text(interval->high));
  return "";
}

enum class Shown { values, intervals, both };

/// A pipeline's cells of the domains' lines.
std::vector<std::string> domain_cells(const PipelineScore& score, std::size_t domains, const std::string& metric,
                                      const NumberFormat& format, Shown shown) {
  std::vector<std::string> values, intervals;
  for (std::size_t d = 0; d < domains; ++d) {
    values.push_back(format.text(value_of(score.domains[d].metrics, metric)));
    intervals.push_back(interval_text(score.domains[d], metric, format));
  }
  if (shown == Shown::values) return values;
  const Index value_width = widest(values, 0);
  const Index width = widest(intervals, 0);
  for (std::size_t d = 0; d < domains; ++d) {
    if (shown == Shown::intervals)
      values[d] = intervals[d].empty() ? "-" : intervals[d];
    else if (width > 0)
      values[d] = fmt::format("{} {}", pad_left(values[d], value_width), pad_left(intervals[d], width));
  }
  return values;
}

/// Mean, spread, the worst value and its domain.
std::vector<std::string> summary_cells(const PipelineScore& score, const std::string& metric,
                                       const NumberFormat& format) {
  constexpr Index name_width = 14;
  std::vector<std::string> cells = {format.text(value_of(score.mean, metric)),
                                    format.text(value_of(score.spread, metric))};
  if (score.domains.size() < 2) return cells;
  for (const auto& [name, worst] : score.worst) {
    if (name != metric) continue;
    cells.push_back(format.text(worst ? std::optional(worst->value) : std::nullopt));
    cells.push_back(worst ? display_text(worst->domain, name_width) : "-");
  }
  return cells;
}

/// The domains' columns and, unless intervals are shown alone, the lines below them.
Sheet make_sheet(const Evaluation& evaluation, const std::string& metric, const NumberFormat& format, Shown shown) {
  Sheet sheet;
  const auto& first = evaluation.pipelines.front().domains;
  sheet.n_domains = std::min(first.size(), most_domains);
  sheet.facts = {{"rows"}};
  const std::string prevalence = shown == Shown::intervals ? "" : prevalence_head(evaluation);
  if (!prevalence.empty()) sheet.facts.push_back({prevalence});
  for (std::size_t d = 0; d < sheet.n_domains; ++d) {
    sheet.domains.push_back(display_text(first[d].domain, domain_width));
    sheet.facts[0].push_back(fmt::format("{}", first[d].rows));
    if (!prevalence.empty()) sheet.facts[1].push_back(prevalence_text(evaluation, first[d].prevalence));
  }
  for (const auto& score : evaluation.pipelines) {
    auto& column = sheet.cells.emplace_back(domain_cells(score, sheet.n_domains, metric, format, shown));
    if (shown == Shown::intervals) continue;
    // Below values with intervals, the summaries stand under the values.
    const Index width = widest(column, 0);
    const Index value_width = widest(domain_cells(score, sheet.n_domains, metric, format, Shown::values), 0);
    for (const std::string& cell : summary_cells(score, metric, format))
      column.push_back(pad_right(pad_left(cell, value_width), std::max(width, display_width(cell))));
  }
  constexpr const char* names[] = {"mean", "spread", "worst", "  in"};
  for (std::size_t line = sheet.n_domains; line < sheet.cells.front().size(); ++line)
    sheet.domains.emplace_back(names[line - sheet.n_domains]);
  for (auto& fact : sheet.facts) fact.resize(1 + sheet.domains.size());
  return sheet;
}

/// Width of one pipeline's column, with the gap before it.
Index column_width(const Sheet& sheet, std::size_t p) {
  return column_gap + widest(sheet.cells[p], display_width(sheet.heads[p]));
}

/// Width of the columns before those of the pipelines.
Index facts_width(const Sheet& sheet) {
  Index width = widest(sheet.domains, 6);
  for (const auto& fact : sheet.facts) width += column_gap + widest(fact, 0);
  return width;
}

std::string without_end_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string lay_out(const Sheet& sheet, std::string_view unit, std::size_t begin, std::size_t end) {
  const Index domain_width = widest(sheet.domains, 6);
  Index total = facts_width(sheet);
  for (std::size_t p = begin; p < end; ++p) total += column_width(sheet, p);
  std::string rule;
  for (Index i = 0; i < total; ++i) rule += "─";
  // Line 0 is the head.
  const auto line_text = [&](std::string text, std::size_t line) {
    text = pad_right(text, domain_width);
    for (const auto& fact : sheet.facts) text += pad_left(fact[line], column_gap + widest(fact, 0));
    for (std::size_t p = begin; p < end; ++p)
      text += pad_left(line == 0 ? sheet.heads[p] : sheet.cells[p][line - 1], column_width(sheet, p));
    return without_end_spaces(std::move(text)) + "\n";
  };
  std::string text = line_text(std::string(unit), 0) + rule + "\n";
  for (std::size_t line = 0; line < sheet.domains.size(); ++line) {
    if (line == sheet.n_domains) text += rule + "\n";
    text += line_text(sheet.domains[line], line + 1);
  }
  return text;
}

/// The columns, split into as many stacked tables as the page width requires.
std::string tables(const Sheet& sheet, std::string_view unit) {
  std::string text;
  for (std::size_t begin = 0; begin < sheet.heads.size();) {
    Index width = facts_width(sheet);
    std::size_t end = begin;
    while (end < sheet.heads.size() && (end == begin || width + column_width(sheet, end) <= page_width))
      width += column_width(sheet, end++);
    if (begin > 0) text += "\n";
    text += lay_out(sheet, unit, begin, end);
    begin = end;
  }
  return text;
}

/// What else training rows are limited by, in lines; empty if nothing.
std::string limits_of(const Evaluation& evaluation) {
  std::vector<std::string> of_time;
  if (evaluation.forward && evaluation.forward->window > 0)
    of_time.push_back(fmt::format("trained on the last {}", evaluation.forward->window));
  if (evaluation.forward && evaluation.forward->gap > 0)
    of_time.push_back(fmt::format("gap of {} before each block", evaluation.forward->gap));
  std::string text = of_time.empty() ? "" : fmt::format("{}\n", fmt::join(of_time, " · "));
  if (const auto& groups = evaluation.groups)
    text += fmt::format("{} group{}{}, each on one side of a split\n", groups->groups, groups->groups == 1 ? "" : "s",
                        groups->column.empty() ? "" : " by " + display_text(groups->column, domain_width));
  return text;
}

/// Heads the columns with the pipelines, or with letters if the table would be too wide. Whether it fits then.
bool set_heads(Sheet& sheet, const Evaluation& evaluation) {
  const auto fits = [&] {
    Index width = facts_width(sheet);
    for (std::size_t p = 0; p < sheet.heads.size(); ++p) width += column_width(sheet, p);
    return width <= page_width;
  };
  sheet.heads.clear();
  for (const PipelineScore& score : evaluation.pipelines) sheet.heads.push_back(score.pipeline);
  if (fits()) return true;
  for (std::size_t p = 0; p < sheet.heads.size(); ++p) sheet.heads[p] = letter_name(p);
  return fits();
}

bool has_intervals(const Evaluation& evaluation, const std::string& metric, const NumberFormat& format) {
  for (const PipelineScore& score : evaluation.pipelines)
    for (const DomainScore& domain : score.domains)
      if (!interval_text(domain, metric, format).empty()) return true;
  return false;
}

std::string title(const Evaluation& evaluation, const MetricInfo& metric) {
  Index rows = 0;
  for (const auto& domain : evaluation.pipelines.front().domains) rows += domain.rows;
  const auto domains = evaluation.pipelines.front().domains.size();
  std::string_view what;
  switch (evaluation.protocol) {
    case Protocol::leave_one_domain_out:
      what = "in each domain, trained on the others";
      break;
    case Protocol::adapt:
      what = "in each domain, trained on the others and on its rows without labels";
      break;
    case Protocol::domain_split:
      what = "in held-out domains, averaged over random splits";
      break;
    case Protocol::k_fold:
      what = "within domains: no domain is new to the model";
      break;
    case Protocol::named_domains:
      what = "in each named domain, trained on the others";
      break;
    case Protocol::forward:
      what = "in each block of time, trained on rows before it";
      break;
  }
  return fmt::format("{} {}\n{} · {} {}{}, {} row{} · {}\n{}", metric.title, what, protocol_name(evaluation.protocol),
                     domains, evaluation.unit(), domains == 1 ? "" : "s", rows, rows == 1 ? "" : "s",
                     metric.best_text(), limits_of(evaluation));
}

/// Breaks a pipeline's text at its bars when a line is full.
std::string legend_line(const std::string& name, const std::string& pipeline, Index name_width) {
  const Index indent = 2 + name_width + 2;
  std::string text = "  " + pad_right(name, name_width) + "  ";
  Index used = indent;
  std::string_view rest = pipeline;
  while (!rest.empty()) {
    const auto bar = rest.find(" | ");
    const std::string_view piece = rest.substr(0, bar == rest.npos ? rest.npos : bar + 2);
    if (used > indent && used + 1 + display_width(piece) > page_width) {
      text.append("\n").append(static_cast<std::size_t>(indent), ' ');
      used = indent;
    } else if (used > indent) {
      text += " ";
      ++used;
    }
    text += piece;
    used += display_width(piece);
    rest = bar == rest.npos ? std::string_view() : rest.substr(bar + 3);
  }
  return text + "\n";
}

/// By the p-value, adjusted where several pipelines are compared: with one comparison it is below 0.05 where the
/// interval excludes 0.
std::string verdict(const Difference& difference, const MetricInfo& metric, std::string_view unit) {
  if (!difference.p_adjusted) return fmt::format("one {}: no interval", unit);
  if (*difference.p_adjusted >= significance) return "cannot be told apart";
  if (!metric.has_direction()) return difference.mean > 0 ? "higher" : "lower";
  return (difference.mean > 0) == metric.higher_is_better() ? "better" : "worse";
}

std::string difference_text(const std::optional<Difference>& difference, const MetricInfo& metric,
                            std::string_view unit, const NumberFormat& format) {
  if (!difference) return "-";
  const std::string mean = format.text(difference->mean, true);
  const std::string word = verdict(*difference, metric, unit);
  if (!difference->low) return fmt::format("{}  {}", mean, word);
  return fmt::format("{}  [{}, {}]  {}", mean, format.text(difference->low, true), format.text(difference->high, true),
                     word);
}

std::string differences(const Evaluation& evaluation, const std::string& metric, const Sheet& sheet,
                        const NumberFormat& format) {
  std::vector<std::string> names, texts;
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
    if (p == evaluation.reference || evaluation.pipelines[p].error) continue;
    for (const auto& [name, difference] : evaluation.pipelines[p].difference) {
      if (name != metric) continue;
      names.push_back(sheet.heads[p]);
      texts.push_back(difference_text(difference, *find_metric(metric), evaluation.unit(), format));
    }
  }
  if (names.empty()) return "";
  std::string text = fmt::format("\ndifference from {}, paired over {}s, with its 95% interval\n",
                                 sheet.heads[evaluation.reference], evaluation.unit());
  if (names.size() > 1)
    text +=
        fmt::format("(verdicts are adjusted for {} comparisons by Holm's method; intervals are not)\n", names.size());
  const Index name_width = widest(names, 1);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("  {}  {}\n", pad_right(names[i], name_width), texts[i]);
  return text;
}

/// Why pipelines could not be fitted.
std::string failure_notes(const Evaluation& evaluation, const Sheet& sheet) {
  if (evaluation.failures() == 0) return "";
  std::string text = "\nnot fitted\n";
  const Index name_width = widest(sheet.heads, 1);
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p)
    if (evaluation.pipelines[p].error)
      text += wrapped(one_line(evaluation.pipelines[p].error->what()), page_width,
                      fmt::format("  {}  ", pad_right(sheet.heads[p], name_width)));
  if (evaluation.reference > 0)
    text += fmt::format("{} could not be fitted, so the others are compared with {}\n", sheet.heads.front(),
                        sheet.heads[evaluation.reference]);
  return text;
}

/// The choices of a grid in order of first appearance, each with the splits that it was made in.
std::vector<std::pair<std::string, std::vector<std::string>>> choices_of(const PipelineScore& score) {
  std::vector<std::pair<std::string, std::vector<std::string>>> choices;
  for (const SplitChoice& choice : score.chosen) {
    auto place = std::ranges::find_if(choices, [&](const auto& each) { return each.first == choice.pipeline; });
    if (place == choices.end()) place = choices.insert(place, {choice.pipeline, {}});
    place->second.push_back(display_text(choice.held_out, domain_width));
  }
  return choices;
}

std::string choice_notes(const Evaluation& evaluation, const Sheet& sheet) {
  if (evaluation.choice_metric.empty()) return "";
  std::string text = fmt::format("\nchosen within the training rows of each split, by {}\n",
                                 find_metric(evaluation.choice_metric)->title);
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
    const PipelineScore& score = evaluation.pipelines[p];
    const bool lettered = sheet.heads[p] != score.pipeline;
    for (const auto& [pipeline, splits] : choices_of(score))
      text += wrapped(fmt::format("{}: {} of {} ({})", pipeline, splits.size(), score.chosen.size(),
                                  splits.size() <= most_domains ? fmt::to_string(fmt::join(splits, ", ")) : "..."),
                      page_width, lettered ? fmt::format("  {}  ", sheet.heads[p]) : "  ");
  }
  return text;
}

/// The lowest and the highest threshold that the splits chose.
std::string threshold_range(const PipelineScore& score) {
  std::vector<double> chosen;
  for (const SplitThreshold& split : score.thresholds)
    if (split.threshold) chosen.push_back(*split.threshold);
  if (chosen.empty()) return "none could be chosen";
  const auto [low, high] = std::ranges::minmax(chosen);
  std::string text = low == high ? fmt::format("{:.4f}", low) : fmt::format("{:.4f} to {:.4f}", low, high);
  if (chosen.size() < score.thresholds.size())
    text += fmt::format(" (none in {} of {} splits)", score.thresholds.size() - chosen.size(), score.thresholds.size());
  return text;
}

std::string threshold_notes(const Evaluation& evaluation, const Sheet& sheet) {
  if (evaluation.threshold.empty()) return "";
  std::string text = fmt::format("\nthreshold of '{}' by {}, within the training rows of each split\n",
                                 display_text(evaluation.classes[1], domain_width), evaluation.threshold);
  const Index name_width = widest(sheet.heads, 1);
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p)
    if (!evaluation.pipelines[p].error)
      text +=
          fmt::format("  {}  {}\n", pad_right(sheet.heads[p], name_width), threshold_range(evaluation.pipelines[p]));
  return text;
}

std::string evaluation_legend(const Evaluation& evaluation, const Sheet& sheet) {
  if (sheet.heads.front() == evaluation.pipelines.front().pipeline) return "";
  std::string text;
  const Index name_width = widest(sheet.heads, 1);
  for (std::size_t p = 0; p < sheet.heads.size(); ++p)
    text += legend_line(sheet.heads[p], evaluation.pipelines[p].pipeline, name_width);
  return text + "\n";
}

}  // namespace

std::string headline_metric(const Evaluation& evaluation) {
  return headline_metric(evaluation.metrics, [&](const std::string& name) {
    return std::any_of(evaluation.pipelines.begin(), evaluation.pipelines.end(),
                       [&](const PipelineScore& score) { return value_of(score.mean, name).has_value(); });
  });
}

std::string evaluation_table(const Evaluation& evaluation, std::string_view metric) {
  if (evaluation.pipelines.empty()) return "";
  const std::string name = metric.empty() ? headline_metric(evaluation) : std::string(metric);
  require_metric(name, evaluation.metrics);
  const NumberFormat format(evaluation, name);
  const bool intervals = has_intervals(evaluation, name, format);
  Sheet sheet = make_sheet(evaluation, name, format, Shown::both);
  // Intervals that do not fit beside the values have a table of their own.
  const bool beside = set_heads(sheet, evaluation);
  if (intervals && !beside) {
    sheet = make_sheet(evaluation, name, format, Shown::values);
    set_heads(sheet, evaluation);
  }
  const std::string what = fmt::format("95% interval by resampling the {} of the {}",
                                       evaluation.groups ? "groups" : "rows", evaluation.unit());
  std::string text = title(evaluation, *find_metric(name));
  if (intervals && beside) text += fmt::format("in brackets: the {}\n", what);
  text += fmt::format("\n{}{}", evaluation_legend(evaluation, sheet), tables(sheet, evaluation.unit()));
  const auto domains = evaluation.pipelines.front().domains.size();
  if (sheet.n_domains < domains)
    text +=
        fmt::format("({} more {}s are in the mean; --json lists them)\n", domains - sheet.n_domains, evaluation.unit());
  if (intervals && !beside) {
    Sheet own = make_sheet(evaluation, name, format, Shown::intervals);
    own.heads = sheet.heads;
    text += fmt::format("\n{}\n\n{}", what, tables(own, evaluation.unit()));
  }
  return text + differences(evaluation, name, sheet, format) + choice_notes(evaluation, sheet) +
         threshold_notes(evaluation, sheet) + failure_notes(evaluation, sheet);
}

}  // namespace ecotone
