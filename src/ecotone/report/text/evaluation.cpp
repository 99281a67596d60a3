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

 private:
  int decimals_ = 4;
  bool scientific_ = false;
};

/// The table's parts, as text, before they are laid out.
struct Sheet {
  std::vector<std::string> heads;               // of the pipelines' columns
  std::vector<std::string> domains;             // first column: domains, then mean and spread
  std::vector<std::string> rows;                // second column
  std::vector<std::vector<std::string>> cells;  // by pipeline, then line
  std::size_t n_domains = 0;                    // lines before mean and spread
};

Sheet make_sheet(const Evaluation& evaluation, const std::string& metric, const NumberFormat& format) {
  Sheet sheet;
  const auto& first = evaluation.pipelines.front().domains;
  sheet.n_domains = std::min(first.size(), most_domains);
  for (std::size_t d = 0; d < sheet.n_domains; ++d) {
    sheet.domains.push_back(display_text(first[d].domain, domain_width));
    sheet.rows.push_back(fmt::format("{}", first[d].rows));
  }
  for (const char* name : {"mean", "spread"}) {
    sheet.domains.emplace_back(name);
    sheet.rows.emplace_back();
  }
  for (const auto& score : evaluation.pipelines) {
    auto& column = sheet.cells.emplace_back();
    for (std::size_t d = 0; d < sheet.n_domains; ++d)
      column.push_back(format.text(value_of(score.domains[d].metrics, metric)));
    column.push_back(format.text(value_of(score.mean, metric)));
    column.push_back(format.text(value_of(score.spread, metric)));
  }
  return sheet;
}

Index widest(const std::vector<std::string>& texts, Index least) {
  for (const auto& text : texts) least = std::max(least, display_width(text));
  return least;
}

/// Width of one pipeline's column, with the gap before it.
Index column_width(const Sheet& sheet, std::size_t p) {
  return column_gap + widest(sheet.cells[p], display_width(sheet.heads[p]));
}

std::string lay_out(const Sheet& sheet, std::string_view unit, std::size_t begin, std::size_t end) {
  const Index domain_width = widest(sheet.domains, 6);
  const Index rows_width = column_gap + widest(sheet.rows, 4);
  Index total = domain_width + rows_width;
  for (std::size_t p = begin; p < end; ++p) total += column_width(sheet, p);
  std::string rule;
  for (Index i = 0; i < total; ++i) rule += "─";
  std::string text = pad_right(std::string(unit), domain_width) + pad_left("rows", rows_width);
  for (std::size_t p = begin; p < end; ++p) text += pad_left(sheet.heads[p], column_width(sheet, p));
  text += "\n" + rule + "\n";
  for (std::size_t line = 0; line < sheet.domains.size(); ++line) {
    if (line == sheet.n_domains) text += rule + "\n";
    text += pad_right(sheet.domains[line], domain_width) + pad_left(sheet.rows[line], rows_width);
    for (std::size_t p = begin; p < end; ++p) text += pad_left(sheet.cells[p][line], column_width(sheet, p));
    text += "\n";
  }
  return text;
}

/// The columns, split into as many stacked tables as the page width requires.
std::string tables(const Sheet& sheet, std::string_view unit) {
  std::string text;
  for (std::size_t begin = 0; begin < sheet.heads.size();) {
    Index width = widest(sheet.domains, 6) + column_gap + widest(sheet.rows, 4);
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
  return fmt::format("{} {}\n{} · {} {}{}, {} row{} · {} is better\n{}", metric.title, what,
                     protocol_name(evaluation.protocol), domains, evaluation.unit(), domains == 1 ? "" : "s", rows,
                     rows == 1 ? "" : "s", metric.higher_is_better ? "higher" : "lower", limits_of(evaluation));
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
std::string verdict(const Difference& difference, bool higher_is_better, std::string_view unit) {
  if (!difference.p_adjusted) return fmt::format("one {}: no interval", unit);
  if (*difference.p_adjusted >= significance) return "cannot be told apart";
  return (difference.mean > 0) == higher_is_better ? "better" : "worse";
}

std::string difference_text(const std::optional<Difference>& difference, bool higher_is_better, std::string_view unit,
                            const NumberFormat& format) {
  if (!difference) return "-";
  const std::string mean = format.text(difference->mean, true);
  const std::string word = verdict(*difference, higher_is_better, unit);
  if (!difference->low) return fmt::format("{}  {}", mean, word);
  return fmt::format("{}  [{}, {}]  {}", mean, format.text(difference->low, true), format.text(difference->high, true),
                     word);
}

std::string differences(const Evaluation& evaluation, const std::string& metric, const Sheet& sheet,
                        const NumberFormat& format) {
  const bool higher = find_metric(metric)->higher_is_better;
  std::vector<std::string> names, texts;
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
    if (p == evaluation.reference || evaluation.pipelines[p].error) continue;
    for (const auto& [name, difference] : evaluation.pipelines[p].difference) {
      if (name != metric) continue;
      names.push_back(sheet.heads[p]);
      texts.push_back(difference_text(difference, higher, evaluation.unit(), format));
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
  Sheet sheet = make_sheet(evaluation, name, format);
  Index width = widest(sheet.domains, 6) + column_gap + widest(sheet.rows, 4);
  for (const auto& score : evaluation.pipelines) {
    sheet.heads.push_back(score.pipeline);
    width += column_width(sheet, sheet.heads.size() - 1);
  }
  std::string text = title(evaluation, *find_metric(name)) + "\n";
  if (width > page_width) {
    for (std::size_t p = 0; p < sheet.heads.size(); ++p) sheet.heads[p] = letter_name(p);
    const Index name_width = widest(sheet.heads, 1);
    for (std::size_t p = 0; p < sheet.heads.size(); ++p)
      text += legend_line(sheet.heads[p], evaluation.pipelines[p].pipeline, name_width);
    text += "\n";
  }
  text += tables(sheet, evaluation.unit());
  const auto domains = evaluation.pipelines.front().domains.size();
  if (sheet.n_domains < domains)
    text +=
        fmt::format("({} more {}s are in the mean; --json lists them)\n", domains - sheet.n_domains, evaluation.unit());
  return text + differences(evaluation, name, sheet, format) + choice_notes(evaluation, sheet) +
         failure_notes(evaluation, sheet);
}

}  // namespace ecotone
