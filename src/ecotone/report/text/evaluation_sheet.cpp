#include "ecotone/report/text/evaluation_sheet.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {

namespace {

constexpr Index column_gap = 2;

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

}  // namespace

NumberFormat::NumberFormat(const Evaluation& evaluation, const std::string& metric) {
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

std::string NumberFormat::text(const std::optional<double>& value, bool sign) const {
  if (!value) return "-";
  const double shown = *value == 0 ? 0.0 : *value;  // no "-0"
  if (scientific_) return sign ? fmt::format("{:+.{}e}", shown, decimals_) : fmt::format("{:.{}e}", shown, decimals_);
  return sign ? fmt::format("{:+.{}f}", shown, decimals_) : fmt::format("{:.{}f}", shown, decimals_);
}

std::string NumberFormat::short_text(double value) const {
  const int decimals = std::max(decimals_ - 1, 0);
  return scientific_ ? fmt::format("{:.{}e}", value, decimals) : fmt::format("{:.{}f}", value, decimals);
}

Index widest(const std::vector<std::string>& texts, Index least) {
  for (const auto& text : texts) least = std::max(least, display_width(text));
  return least;
}

std::string interval_text(const DomainScore& domain, const std::string& metric, const NumberFormat& format) {
  for (const auto& [name, interval] : domain.intervals) {
    if (name != metric || !interval) continue;
    const std::string low = format.short_text(interval->low);
    const std::string high = format.short_text(interval->high);
    // Rounded more than its value, a narrow interval might exclude it.
    const auto value = value_of(domain.metrics, metric);
    const double shown = value ? std::stod(format.text(value)) : 0;
    if (value && (shown < std::stod(low) || shown > std::stod(high)))
      return fmt::format("[{}, {}]", format.text(interval->low), format.text(interval->high));
    return fmt::format("[{}, {}]", low, high);
  }
  return "";
}

Sheet make_sheet(const Evaluation& evaluation, const std::string& metric, const NumberFormat& format, Shown shown) {
  Sheet sheet;
  const auto& first = evaluation.pipelines.front().domains;
  sheet.n_domains = std::min(first.size(), most_domains);
  sheet.facts = {{"rows"}};
  const std::string prevalence = shown == Shown::intervals ? "" : prevalence_head(evaluation);
  if (!prevalence.empty()) sheet.facts.push_back({prevalence});
  for (std::size_t d = 0; d < sheet.n_domains; ++d) {
    sheet.domains.push_back(display_text(first[d].domain, longest_domain));
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

}  // namespace ecotone
