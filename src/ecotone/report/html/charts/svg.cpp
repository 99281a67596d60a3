#include "ecotone/report/html/charts/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/data/formats/csv/csv_field.h"
#include "ecotone/report/html/page.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone::report {

namespace {

constexpr double letter_width = 7.7;  // of the pictures' text in a wide font, on average

std::string title_of(const std::string& title) {
  return title.empty() ? "" : fmt::format("<title>{}</title>", escape(title));
}

}  // namespace

double drawn_width(const std::string& text) { return letter_width * static_cast<double>(display_width(text)); }

std::string fitted(const std::string& text, double width) {
  if (drawn_width(text) <= width) return text;
  return display_text(text, static_cast<Index>(std::max(1.0, width / letter_width)));
}

Svg::Svg(double width, double height, const std::string& description)
    : svg_(fmt::format("<svg class=\"picture\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                       "role=\"img\" aria-label=\"{2}\">\n",
                       width, height, escape(description))) {}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view look) {
  svg_ += fmt::format("<line class=\"{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", look, x1, y1,
                      x2, y2);
}

void Svg::rect(double x, double y, double width, double height, std::string_view look, const std::string& title) {
  svg_ += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">{}</rect>\n",
                      look, x, y, std::max(0.0, width), height, title_of(title));
}

void Svg::circle(double x, double y, double radius, std::string_view look, const std::string& title) {
  svg_ += fmt::format("<circle class=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\">{}</circle>\n", look, x, y, radius,
                      title_of(title));
}

void Svg::text(double x, double y, std::string_view anchor, const std::string& words, std::string_view look) {
  svg_ += fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", look, x, y, anchor,
                      escape(words));
}

void Svg::upward_text(double x, double y, std::string_view anchor, const std::string& words, std::string_view look) {
  svg_ += fmt::format(
      "<text class=\"{0}\" x=\"{1:.1f}\" y=\"{2:.1f}\" text-anchor=\"{3}\" transform=\"rotate(-90 {1:.1f} {2:.1f})\">"
      "{4}</text>\n",
      look, x, y, anchor, escape(words));
}

std::string Svg::done() && { return std::move(svg_) + "</svg>\n"; }

std::string figure(const Figure& figure) {
  std::string csv = figure.csv;
  for (const auto& row : figure.table) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) csv += ',';
      append_csv_field(csv, row[i]);
    }
    csv += '\n';
  }
  const bool two = !figure.narrow.empty();
  return fmt::format(
      "<figure class=\"drawn\" data-name=\"{}\">\n{}<div class=\"scroll{}\" role=\"region\" tabindex=\"0\" "
      "aria-label=\"{}\">\n{}</div>\n{}<p class=\"take\"><button type=\"button\" data-take=\"csv\">Data (CSV)</button> "
      "<button type=\"button\" data-take=\"svg\">Picture (SVG)</button></p>\n<template "
      "class=\"csv\">{}</template>\n</figure>\n",
      escape(figure.name), figure.caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>\n", figure.caption),
      two ? " wide" : "", escape(figure.name), figure.wide,
      two ? fmt::format("<div class=\"narrow\">\n{}</div>\n", figure.narrow) : "", escape(csv));
}

std::string plain_number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

}  // namespace ecotone::report
