#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ecotone/measure/metrics.h"
#include "ecotone/methods/query/strategy.h"
#include "ecotone/methods/registry.h"
#include "ecotone/report/citations.h"
#include "ecotone/report/text/options.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone {
namespace {

constexpr const char* blind_text = "Ignores the features, so missing values do not matter.";
constexpr const char* missing_text = "Takes missing values as they are: no impute is needed before it.";
constexpr const char* categories_text =
    "Where it stands first, columns of text are categories to it, with up to 255 levels each.";
constexpr const char* both_text =
    "Predicts when it is the last stage; elsewhere it passes on the columns it selected. Of several classes each is "
    "taken against the rest.";

constexpr const char* metrics_note =
    "y is the truth, p a probability, w the row weight (1 without a weight column): a row of weight 2 counts as two "
    "rows. With two classes the second one is positive. TP, FP, TN and FN are the weights of true and false positive "
    "and negative rows, positive meaning that p reaches the threshold that the training rows of the split chose "
    "(`evaluate --threshold`). A metric that would divide by 0 is undefined and shown as a dash.";

constexpr Index page = 100;  // width of the prose

/// Text inside a cell of a Markdown table.
std::string cell(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '|') result += '\\';
    result += c;
  }
  return result;
}

/// The names of the routes beside the one that all have, separated by a space.
std::string routes_in_short(const Method& m) {
  std::string text;
  for (const MethodRoute& one : m.all_routes())
    if (one.route != Route::memory) text += fmt::format("{}{}", text.empty() ? "" : " ", route_name(one.route));
  return text;
}

/// Those that some method has.
std::set<Route> other_routes() {
  std::set<Route> routes;
  for (const Method& m : methods())
    for (const MethodRoute& one : m.all_routes()) routes.insert(one.route);
  routes.erase(Route::memory);
  return routes;
}

/// "Can also be fitted with .. (streamed; needs route=low_rank), or from .. (sums)."
std::string routes_sentence(const Method& m) {
  std::string text;
  for (const MethodRoute& one : m.all_routes()) {
    if (one.route == Route::memory) continue;
    text += fmt::format("{} {} ({}{})", text.empty() ? "Can also be fitted" : ", or", route_text(one.route),
                        route_name(one.route), one.options.empty() ? "" : "; needs " + one.options);
  }
  return text.empty() ? text : text + ".";
}

/// The method's own options, then those it shares with many others.
std::vector<OptionInfo> own_first(std::vector<OptionInfo> options) {
  std::ranges::stable_partition(options, [](const OptionInfo& option) { return !option.common; });
  return options;
}

/// A table of options.
std::string options_markdown(const std::vector<OptionInfo>& options) {
  std::string text = "\n| option | type | default | range | meaning |\n| --- | --- | --- | --- | --- |\n";
  for (const OptionInfo& o : own_first(options)) {
    const std::string value = option_text(o.default_value);
    text += fmt::format("| `{}` | {} | {} | {} | {} |\n", o.name, type_name(o.type),
                        value.empty() ? "" : "`" + cell(value) + "`", cell(range_text(o)), cell(o.help));
  }
  return text;
}

std::string markdown_of(const Method& m) {
  std::string facts = fmt::format("Family `{}`.", family_name(m.family));
  if (m.needs_labels()) facts += " Needs labels.";
  if (m.follows_learner()) facts += " Follows a learner and revises its predictions.";
  if (m.predicts_when_last()) facts += fmt::format(" {}", both_text);
  if (!m.reads_features) facts += fmt::format(" {}", blind_text);
  if (m.takes_missing) facts += fmt::format(" {}", missing_text);
  if (m.takes_categories) facts += fmt::format(" {}", categories_text);
  if (const std::string routes = routes_sentence(m); !routes.empty()) facts += " " + routes;
  if (!m.citation.empty()) facts += fmt::format(" Citation: [{0}](glossary.md#{0}).", m.citation);
  std::string text = fmt::format("\n## {}\n\n{}\n```sh\n{}\n```\n\n{}\n{}", m.name, wrapped(m.summary, page, ""),
                                 example_command(m), wrapped("Use it " + m.when, page, ""), wrapped(facts, page, ""));
  if (m.options.empty()) return text + "\nNo options.\n";
  return text + options_markdown(m.options);
}

}  // namespace

std::string methods_text() {
  std::size_t names = 0;
  std::size_t families = 0;
  std::size_t routes = 0;
  for (const Method& m : methods()) {
    names = std::max(names, m.name.size());
    families = std::max(families, family_name(m.family).size());
    routes = std::max(routes, routes_in_short(m).size());
  }
  std::string text;
  for (const Method& m : methods())
    text += fmt::format("{:<{}}  {:<{}}  {:<{}}  {}\n", m.name, names, family_name(m.family), families,
                        routes_in_short(m), routes, m.summary);
  text += "\nAll can be fitted with their rows in memory. Some also:\n";
  for (const Route route : other_routes())
    text += wrapped(std::string(route_text(route)), page, fmt::format("  {}: ", route_name(route)));
  return text + "\n`ecotone methods NAME` shows an example, when to use the method, and its options.\n";
}

std::string example_command(const Method& m) {
  return fmt::format("ecotone evaluate clinics.csv --label {} --domain hospital \"{}\"{}",
                     m.regression_only() ? "wait_days" : "disease", m.example, m.adapts() ? " --protocol adapt" : "");
}

std::string method_text(const Method& m) {
  std::string text = wrapped(m.summary, page, fmt::format("{} ({}): ", m.name, family_name(m.family)));
  text +=
      fmt::format("\nExample, on the data of `ecotone generate clinics -o clinics.csv`:\n  {}\n\n", example_command(m));
  text += wrapped("Use it " + m.when, page, "");
  if (!m.citation.empty())
    text += wrapped(fmt::format("{} [{}]", full_citation(m.citation), m.citation), page, "Cite: ");
  if (m.needs_labels()) text += "Needs labels.\n";
  if (m.follows_learner()) text += "Follows a learner and revises its predictions.\n";
  if (m.predicts_when_last()) text += wrapped(both_text, page, "");
  if (!m.reads_features) text += fmt::format("{}\n", blind_text);
  if (m.takes_missing) text += fmt::format("{}\n", missing_text);
  if (m.takes_categories) text += wrapped(categories_text, page, "");
  if (const std::string routes = routes_sentence(m); !routes.empty()) text += wrapped(routes, page, "");
  if (m.options.empty()) return text + "\nNo options.\n";
  const std::vector<OptionInfo> options = own_first(m.options);
  const auto common = std::ranges::find(options, true, &OptionInfo::common);
  text += "\nOptions, with their defaults:\n" + option_lines({options.begin(), common}, 2);
  if (common == options.end()) return text;
  return text + "\nOptions of solvers, kernels and several classes, seldom changed:\n" +
         option_lines({common, options.end()}, 2);
}

std::string metrics_text() {
  std::string text;
  for (const MetricInfo& metric : metric_infos()) {
    text += fmt::format("{} ({}, {}{}{})\n", metric.name, task_name(metric.task), metric.best_text(),
                        metric.two_classes ? ", two classes" : "", metric.at_threshold ? ", at a threshold" : "");
    text += wrapped(std::string(metric.help), page, "    ") + wrapped(std::string(metric.formula), page, "    = ");
  }
  return fmt::format("{}\n{}", text, wrapped(metrics_note, page, ""));
}

std::string metrics_markdown() {
  std::string text = fmt::format(
      "# Metrics\n\nGenerated by `ecotone methods --metrics --markdown`; do not edit. [scores.md](scores.md) explains "
      "what\n`evaluate` does with them.\n\n{}\n"
      "| metric | task | best | what it says | formula |\n| --- | --- | --- | --- | --- |\n",
      wrapped(metrics_note, page, ""));
  for (const MetricInfo& metric : metric_infos())
    text += fmt::format("| `{}` | {}{} | {} | {}{} | {} |\n", metric.name, task_name(metric.task),
                        metric.two_classes ? ", two classes" : "", metric.best_text(), cell(metric.help),
                        metric.at_threshold ? " At the threshold." : "", cell(metric.formula));
  return text;
}

std::string strategies_text() {
  std::size_t names = 0;
  for (const StrategyInfo& info : strategy_infos()) names = std::max(names, info.name.size());
  std::string text = "Strategies of `ecotone label --strategy \"NAME option=value ..\"`:\n";
  for (const StrategyInfo& info : strategy_infos())
    text += fmt::format("  {:<{}}  {}\n", info.name, names, info.summary);
  return text + "\nOptions of all of them, with their defaults:\n" + option_lines(describe_options<QueryOptions>(), 2);
}

std::string strategies_markdown() {
  std::string text = fmt::format(
      "# Strategies\n\nGenerated by `ecotone methods --strategies --markdown`; do not edit. [label.md](label.md) "
      "explains how\nrows are asked.\n\n{}\n| strategy | which row it asks | citation |\n| --- | --- | --- |\n",
      wrapped("A strategy is text: `NAME option=value ..`. For two classes `least_confidence`, `entropy`, `margin` and "
              "`hyperplane` ask the same rows.",
              page, ""));
  for (const StrategyInfo& info : strategy_infos())
    text += fmt::format("| `{}` | {} | {} |\n", info.name, info.summary,
                        info.citation.empty() ? "" : fmt::format("[{0}](glossary.md#{0})", info.citation));
  return text + options_markdown(describe_options<QueryOptions>());
}

std::string methods_markdown() {
  std::string text =
      "# Methods\n\n"
      "Generated by `ecotone methods --markdown` from the option declarations; do not edit.\n\n"
      "A pipeline is text: `stage key=value key=value | stage ...`. The learner comes last; stages that\n"
      "revise its predictions, such as `calibrate` and `conformal`, may follow it.\n\n"
      "Every method can be fitted with its rows in memory. Some have other routes, too:\n\n";
  for (const Route route : other_routes()) text += fmt::format("- `{}`: {}\n", route_name(route), route_text(route));
  text +=
      "\n"
      "| method | family | routes | what it does |\n| --- | --- | --- | --- |\n";
  for (const Method& m : methods())
    text += fmt::format("| [`{0}`](#{0}) | {1} | {2} | {3} |\n", m.name, family_name(m.family), routes_in_short(m),
                        cell(m.summary));
  for (const Method& m : methods()) text += markdown_of(m);
  return text;
}

}  // namespace ecotone
