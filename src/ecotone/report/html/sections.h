#pragma once

#include <string>
#include <string_view>

#include "ecotone/report/html/page.h"

/// The sections of the page, each one HTML element.
namespace ecotone::report {

/// States in words which pipeline scores best and how certain that is.
std::string answer(const Results& results);
/// One strip per pipeline: a dot for each domain, the mean and the spread around it.
std::string dot_plot(const Results& results);
/// One strip per pipeline after the first: the paired difference and its interval around zero. Empty with one pipeline.
std::string difference_plot(const Results& results);
/// The headline metric by domain and pipeline.
std::string domain_table(const Results& results);
/// Mean and spread of every metric by pipeline.
std::string metric_table(const Results& results);
/// What the protocol, the metric and the intervals mean.
std::string how_to_read(const Results& results);
/// The pipelines' exact text.
std::string pipeline_list(const Results& results);

/// " (95% interval 0.6810 to 0.7900)" of a metric in a domain; empty if there is none.
std::string interval_text(const DomainResult& domain, std::size_t metric);
/// The letter of a pipeline as a badge.
std::string badge(const PipelineResult& pipeline);
/// A table in a frame that scrolls sideways on narrow screens.
std::string framed(std::string_view label, const std::string& table);
/// The whole page around these parts, which are HTML except for the title; `made_by` is the verb. The page needs
/// nothing from outside.
struct PageParts {
  std::string title;
  std::string facts;  ///< items of a list below the title
  std::string body;
  std::string made_by;
  std::string_view more_style = {};  ///< behind the style sheet
};
std::string whole_page(const PageParts& parts);
/// The page's style sheet.
std::string_view style_sheet();

}  // namespace ecotone::report
