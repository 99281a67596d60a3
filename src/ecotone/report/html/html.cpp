#include "ecotone/report/html/html.h"

#include <fmt/format.h>

#include "ecotone/report/html/sections.h"

namespace ecotone {

namespace {

std::string facts(const report::Results& results) {
  Index rows = 0;
  const auto& domains = results.pipelines.front().domains;
  for (const auto& domain : domains) rows += domain.rows;
  const auto fact = [](auto count, std::string_view noun) {
    return fmt::format("<li><b>{}</b> {}{}</li>", count, noun, count == 1 ? "" : "s");
  };
  return fmt::format("<ul class=\"facts\"><li>Protocol <b>{}</b></li>{}{}{}</ul>", report::escape(results.protocol),
                     fact(domains.size(), results.unit), fact(rows, "labelled row"),
                     fact(results.pipelines.size(), "pipeline"));
}

}  // namespace

std::string html_report(const Evaluation& evaluation, const std::string& title) {
  const report::Results results = report::results_of(evaluation);
  const std::string safe_title = report::escape(title.empty() ? "What a new domain costs" : title);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<meta name=\"generator\" "
      "content=\"ecotone\" />\n"
      "<title>{}</title>\n<style>",
      safe_title);
  page += report::style_sheet();
  page += fmt::format(
      "</style>\n</head>\n<body>\n<main>\n<header>\n<p class=\"brand\">ecotone</p>\n<h1>{}</h1>\n{}\n</header>\n",
      safe_title, facts(results));
  page += report::answer(results);
  page += report::dot_plot(results);
  page += report::difference_plot(results);
  page += report::domain_table(results);
  page += report::metric_table(results);
  page += report::pipeline_list(results);
  page += report::how_to_read(results);
  page +=
      "<footer>Made by ecotone from the results of <code>ecotone evaluate</code>. The page needs nothing from "
      "outside.</footer>\n";
  page += "</main>\n</body>\n</html>\n";
  return page;
}

}  // namespace ecotone
