#include "ecotone/methods/sums/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "ecotone/report/text/line.h"
#include "ecotone/report/text/text.h"
#include "ecotone/report/text/text_table.h"

namespace ecotone {
namespace {

/// The classes of all parts, in order.
std::vector<std::string> all_classes(const std::vector<SumsPart>& parts) {
  std::vector<std::string> classes;
  for (const SumsPart& part : parts)
    for (const std::string& name : part.sums.classes)
      if (std::ranges::find(classes, name) == classes.end()) classes.push_back(name);
  sort_classes(classes);
  return classes;
}

/// Rows of a class in a domain of a part.
double rows_of(const SumsPart& part, const std::string& cls, const std::string& domain) {
  const auto found = std::ranges::find(part.sums.classes, cls);
  if (found == part.sums.classes.end()) return 0;
  const Moments& own = part.sums.of_class[at(found - part.sums.classes.begin())];
  const auto place = std::ranges::find(own.groups, domain);
  return place == own.groups.end() ? 0 : own.rows[place - own.groups.begin()];
}

std::string domain_table(const std::vector<SumsPart>& parts) {
  const std::vector<std::string> classes = all_classes(parts);
  TextTable table{{{"part", true}, {"domain", true}, {"rows"}}, {}};
  for (const std::string& name : classes) table.columns.push_back({one_line(name)});
  for (const SumsPart& part : parts) {
    const Moments& moments = part.sums.moments;
    const std::string id = part.id().substr(0, 8);
    for (std::size_t g = 0; g < moments.groups.size(); ++g) {
      std::vector<std::string> line = {id, one_line(moments.groups[g]),
                                       fmt::format("{:.0f}", moments.rows[static_cast<Index>(g)])};
      for (const std::string& name : classes)
        line.push_back(fmt::format("{:.0f}", rows_of(part, name, moments.groups[g])));
      table.lines.push_back(std::move(line));
    }
    const Moments& targets = part.sums.targets;
    for (std::size_t g = 0; g < targets.groups.size(); ++g) {
      std::vector<std::string> line = {id, one_line(targets.groups[g]) + " (target)",
                                       fmt::format("{:.0f}", targets.rows[static_cast<Index>(g)])};
      line.resize(table.columns.size());
      table.lines.push_back(std::move(line));
    }
  }
  return table.text();
}

/// The rows of the rarest category of a domain, of a part that does not know its rarest value: products with its column
/// are sums over these rows.
double rarest_category(const Moments& moments, const Schema& schema) {
  double rarest = moments.rows.sum();
  if (moments.features != schema.feature_names()) return rarest;
  Index j = 0;
  for (const Column& column : schema.columns)
    for (std::size_t k = 0; k < column.width(); ++k, ++j)
      for (Index g = 0; column.one_hot() && g < moments.group_count(); ++g)
        if (moments.x1(g, j) > 0) rarest = std::min(rarest, moments.x1(g, j));
  return rarest;
}

/// The smallest number of rows that anything is summed over.
double fewest_rows(const std::vector<SumsPart>& parts) {
  double fewest = std::numeric_limits<double>::max();
  for (const SumsPart& part : parts) {
    if (part.rarest > 0) fewest = std::min(fewest, static_cast<double>(part.rarest));
    for (const Moments* moments : {&part.sums.moments, &part.sums.targets}) {
      if (moments->group_count() == 0) continue;
      fewest = std::min(fewest, moments->rows.minCoeff());
      if (part.rarest == 0) fewest = std::min(fewest, rarest_category(*moments, part.schema));
    }
    for (const Moments& own : part.sums.of_class)
      if (own.group_count() > 0) fewest = std::min(fewest, own.rows.minCoeff());
  }
  return fewest;
}

double total_rows(const std::vector<SumsPart>& parts) {
  double rows = 0;
  for (const SumsPart& part : parts) rows += part.sums.rows() + part.sums.targets.rows.sum();
  return rows;
}

}  // namespace

std::string parts_text(const std::vector<SumsPart>& parts) {
  const SumsPart& first = parts.front();
  std::string text = fmt::format("sums      for \"{}\", seed {}\n", first.pipeline, first.seed);
  if (!first.behind.empty()) text += fmt::format("behind    model {}\n", first.behind.substr(0, 8));
  text += fmt::format("of        {} in {}, {}\n", counted(static_cast<Index>(total_rows(parts)), "row"),
                      counted(std::ssize(parts), "part"), counted(first.sums.cols(), "column"));
  const double fewest = fewest_rows(parts);
  std::string reveals = wrapped(
      fmt::format(
          "who has it can read: the names of domains, classes, columns and categories; how many rows every domain{0} "
          "has, and the mean of every column there; the products of all pairs of columns{1}, summed over every domain. "
          "The smallest group of rows that something is summed over (a domain{0}, or those of one of two values of a "
          "column there) has {2}: {3}",
          first.sums.classes.empty() ? "" : " and class", first.sums.classes.empty() ? " and the label" : "",
          counted(static_cast<Index>(fewest), "row"),
          fewest < 2 ? "that row can be read." : "the fewer rows, the more it says about each of them."),
      page_width, "          ");
  reveals.replace(0, 10, "reveals   ");
  return text + reveals + "\n" + domain_table(parts);
}

std::string finish_text(const Model& model, const std::vector<SumsPart>& parts) {
  std::string text = fmt::format("fitted   {}\n", model.pipeline().text());
  text += fmt::format("on       sums of {} in {}, {}\n", counted(static_cast<Index>(total_rows(parts)), "row"),
                      counted(std::ssize(parts), "part"), counted(std::ssize(model.domains()), "domain"));
  for (std::size_t i = 0; i < model.statuses().size(); ++i)
    if (const Status& status = model.statuses()[i]; model.pipeline().predicts_at(i) || !status.converged)
      text += fmt::format("status   {}: {}\n", model.pipeline().stages()[i].method->name, status.text);
  return text;
}

}  // namespace ecotone
