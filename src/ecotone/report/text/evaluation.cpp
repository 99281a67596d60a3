#include <algorithm>
#include <cmath>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/evaluate/evaluate.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/report/text/evaluation_sheet.h"
#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {

namespace {

constexpr double significance = 0.05;  // of verdicts

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
                        groups->column.empty() ? "" : " by " + display_text(groups->column, longest_domain));
  return text;
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

/// What new domains cost, where known ones were scored too.
std::string costs(const Evaluation& evaluation, const std::string& metric, const Sheet& sheet) {
  std::vector<std::string> names, texts;
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
    const auto& known = evaluation.pipelines[p].known;
    if (!known) continue;
    for (const auto& [name, cost] : known->cost) {
      const auto at_known = value_of(known->mean, metric);
      if (name != metric || !cost || !at_known) continue;
      names.push_back(sheet.heads[p]);
      texts.push_back(fmt::format("{:.4f} at a known one, cost {:+.4f}", *at_known, cost->mean));
      if (cost->low && cost->high) texts.back() += fmt::format("  [{:+.4f}, {:+.4f}]", *cost->low, *cost->high);
    }
  }
  if (names.empty()) return "";
  std::string text = fmt::format("\nwhat a new {} costs: new minus known (k-fold), paired, with its 95% interval\n",
                                 evaluation.unit());
  const Index name_width = widest(names, 1);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("  {}  {}\n", pad_right(names[i], name_width), texts[i]);
  return text;
}

/// Where the next domain will score, beside how sure the mean is.
std::string next_domains(const Evaluation& evaluation, const std::string& metric, const Sheet& sheet,
                         const NumberFormat& format) {
  std::vector<std::string> names, texts;
  bool cheap = false;
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
    const PipelineScore& score = evaluation.pipelines[p];
    for (const auto& [name, next] : score.next) {
      if (name != metric || !next) continue;
      names.push_back(sheet.heads[p]);
      texts.push_back(fmt::format("{} to {}", format.text(next->reach.low), format.text(next->reach.high)));
      for (const auto& [other, bounds] : score.mean_interval)
        if (other == metric && bounds)
          texts.back() += fmt::format("  (mean {} [{}, {}])", format.text(next->estimate), format.text(bounds->low),
                                      format.text(bounds->high));
      if (score.next_by == NextDomainBy::cheap) texts.back() += " *";
      cheap = cheap || score.next_by == NextDomainBy::cheap;
    }
  }
  if (names.empty()) return "";
  std::string text =
      "\nexpected in the next domain, if it differs as these do: 90% prediction interval for one new domain\n"
      "(in parentheses: the mean over these domains with its 95% confidence interval)\n";
  const Index name_width = widest(names, 1);
  for (std::size_t i = 0; i < names.size(); ++i)
    text += fmt::format("  {}  {}\n", pad_right(names[i], name_width), texts[i]);
  if (cheap) text += "* a little too narrow: from models that had seen the domain (--next-domain replay fits more)\n";
  return text;
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
    place->second.push_back(display_text(choice.held_out, longest_domain));
  }
  return choices;
}

std::string choice_notes(const Evaluation& evaluation, const Sheet& sheet) {
  if (std::ranges::all_of(evaluation.pipelines, [](const auto& score) { return score.choice_metric.empty(); }))
    return "";
  const auto by = [](const std::string& metric) {
    return metric.empty() ? std::string() : fmt::format(", by {}", find_metric(metric)->title);
  };
  std::string text = fmt::format("\nchosen within the training rows of each split{}\n", by(evaluation.choice_metric));
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
    const PipelineScore& score = evaluation.pipelines[p];
    const bool lettered = sheet.heads[p] != score.pipeline;
    for (const auto& [pipeline, splits] : choices_of(score))
      text += wrapped(
          fmt::format("{}{}: {} of {} ({})", pipeline, evaluation.choice_metric.empty() ? by(score.choice_metric) : "",
                      splits.size(), score.chosen.size(),
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

/// What pipelines with sets promise, and how they kept it.
std::string promise_notes(const Evaluation& evaluation, const Sheet& sheet) {
  std::string text;
  const Index name_width = widest(sheet.heads, 1);
  const bool classes = evaluation.task == Task::classify;
  for (std::size_t p = 0; p < evaluation.pipelines.size(); ++p) {
    const PipelineScore& score = evaluation.pipelines[p];
    if (score.promise.empty() || score.error) continue;
    const auto mean = value_of(score.mean, classes ? "set_coverage" : "interval_coverage");
    const auto size = value_of(score.mean, classes ? "set_size" : "interval_width");
    text += wrapped(
        fmt::format("covered {} of rows in the mean, {} {}; promise: {}", mean ? fmt::format("{:.3f}", *mean) : "-",
                    classes ? "set size" : "width", size ? fmt::format("{:.3g}", *size) : "infinite", score.promise),
        page_width, fmt::format("  {}  ", pad_right(sheet.heads[p], name_width)));
  }
  return text.empty() ? "" : "\nsets\n" + text;
}

std::string threshold_notes(const Evaluation& evaluation, const Sheet& sheet) {
  if (evaluation.threshold.empty()) return "";
  std::string text = fmt::format("\nthreshold of '{}' by {}, within the training rows of each split\n",
                                 display_text(evaluation.classes[1], longest_domain), evaluation.threshold);
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
  return text + next_domains(evaluation, name, sheet, format) + differences(evaluation, name, sheet, format) +
         costs(evaluation, name, sheet) + choice_notes(evaluation, sheet) + promise_notes(evaluation, sheet) +
         threshold_notes(evaluation, sheet) + failure_notes(evaluation, sheet);
}

}  // namespace ecotone
