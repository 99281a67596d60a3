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
  return fmt::format("<li>Protocol <b>{}</b></li>{}{}{}", report::escape(results.protocol),
                     fact(domains.size(), results.unit), fact(rows, "labelled row"),
                     fact(results.pipelines.size(), "pipeline"));
}

}  // namespace

namespace report {

std::string whole_page(const PageParts& parts) {
  const std::string safe_title = escape(parts.title);
  std::string page = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\" />\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n<meta name=\"generator\" "
      "content=\"ecotone\" />\n"
      "<title>{}</title>\n<style>",
      safe_title);
  page += style_sheet();
  page += parts.more_style;
  page += fmt::format(
      "</style>\n</head>\n<body>\n<main>\n<header>\n<p class=\"brand\">ecotone</p>\n<h1>{}</h1>\n"
      "<ul class=\"facts\">{}</ul>\n</header>\n{}",
      safe_title, parts.facts, parts.body);
  page += fmt::format(
      "<footer>Made by ecotone from the results of <code>ecotone {}</code>. The page needs nothing from "
      "outside.</footer>\n",
      escape(parts.made_by));
  return page + "</main>\n</body>\n</html>\n";
}

}  // namespace report

std::string html_report(const Evaluation& evaluation, const std::string& title) {
  const report::Results results = report::results_of(evaluation);
  std::string body = report::answer(results);
  body += report::dot_plot(results);
  body += report::difference_plot(results);
  body += report::domain_table(results);
  body += report::metric_table(results);
  body += report::pipeline_list(results);
  body += report::how_to_read(results);
  return report::whole_page({.title = title.empty() ? "What a new domain costs" : title,
                             .facts = facts(results),
                             .body = std::move(body),
                             .made_by = "evaluate"});
}

}  // namespace ecotone
