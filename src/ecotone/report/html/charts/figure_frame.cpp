#include "ecotone/report/html/charts/figure_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ecotone/report/html/charts/svg.h"
#include "ecotone/report/html/page.h"
#include "ecotone/report/text/text_width.h"

namespace ecotone::figure_parts {

namespace {

constexpr std::string_view figure_colours[colour_count] = {"#0b5fa5", "#c2410c", "#4d7c0f", "#7e22ce",
                                                           "#0f766e", "#b91c1c", "#a16207", "#475569"};
constexpr double legend_line = 18;

/// Of a letter in a wide font.
double letter_width(char letter) {
  constexpr std::string_view narrow = " iljI.,:;'|!()[]{}/\\\"ftr-", wide = "mwMWQO@%+=<>";
  return narrow.find(letter) != std::string_view::npos ? 5 : wide.find(letter) != std::string_view::npos ? 11.5 : 8.1;
}

/// At most six steps of 1, 2 or 5 times a power of ten.
double round_step(double span) {
  const double power = std::pow(10, std::floor(std::log10(span / 6)));
  for (const double lead : {1.0, 2.0, 5.0})
    if (span <= 6 * lead * power * (1 + 1e-9)) return lead * power;
  return 10 * power;
}

/// Whether values of this size cannot be told apart over such a width.
bool too_narrow(double low, double high) {
  return !(high - low > 1e-9 * std::max({std::abs(low), std::abs(high), 1e-200}));
}

}  // namespace

std::string_view colour_of(std::size_t number) { return figure_colours[number % colour_count]; }

std::string begin(double width, double height, const std::string& title, const std::string& note) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"system-ui, sans-serif\" font-size=\"13\" role=\"img\">\n<title>{2}{3}</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      "<text x=\"{4:.0f}\" y=\"24\" font-size=\"15\" font-weight=\"600\">{2}</text>\n",
      width, height, report::escape(title), note.empty() ? "" : "; " + report::escape(note), margin_left);
}

std::string text(double x, double y, std::string_view anchor, const std::string& words) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     report::escape(words));
}

std::string rule(double x1, double y1, double x2, double y2, std::string_view colour) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\"/>\n", x1, y1, x2, y2,
                     colour);
}

std::string stroke(double x1, double y1, double x2, double y2, std::string_view colour, std::string_view dashes) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" stroke-width=\"2\"{}/>\n", x1, y1,
      x2, y2, colour, dashes.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dashes));
}

std::string upward(double middle, const std::string& words) {
  return fmt::format(
      "<text x=\"18\" y=\"{0:.1f}\" text-anchor=\"middle\" transform=\"rotate(-90 18 {0:.1f})\">{1}</text>\n", middle,
      report::escape(words));
}

std::string marker(std::size_t number, double x, double y, double size, std::string_view colour) {
  // The shapes change places where the colours begin again.
  switch ((number + number / colour_count) % 4) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" fill=\"{}\"/>\n", x, y, size, colour);
    case 1:
      return fmt::format("<rect x=\"{0:.1f}\" y=\"{1:.1f}\" width=\"{2:.1f}\" height=\"{2:.1f}\" fill=\"{3}\"/>\n",
                         x - 0.9 * size, y - 0.9 * size, 1.8 * size, colour);
    case 2:
      return fmt::format("<path d=\"M{:.1f},{:.1f}l{:.1f},{:.1f}h{:.1f}z\" fill=\"{}\"/>\n", x, y - 1.2 * size,
                         1.15 * size, 2 * size, -2.3 * size, colour);
    default:
      return fmt::format(
          "<path d=\"M{0:.1f},{1:.1f}l{2:.1f},{2:.1f}m0,{3:.1f}l{3:.1f},{2:.1f}\" stroke=\"{4}\" stroke-width=\"1.6\" "
          "fill=\"none\"/>\n",
          x - size, y - size, 2 * size, -2 * size, colour);
  }
}

double text_width(std::string_view words) {
  double width = 0;
  bool plain = true;
  for (const char letter : words) {
    width += letter_width(letter);
    plain &= static_cast<unsigned char>(letter) < 128;
  }
  return plain ? width : 8.1 * static_cast<double>(display_width(words));
}

std::string short_number(double value) {
  std::string digits = fmt::format("{:.4g}", std::abs(value));
  if (const std::size_t sign = digits.find('e'); sign != std::string::npos) {
    const std::string power = digits.substr(digits.find_first_not_of("+-0", sign + 1));
    digits = digits.substr(0, sign) + (digits[sign + 1] == '-' ? "e−" : "e") + power;
  }
  return (value < 0 ? "−" : "") + digits;
}

RoundAxis RoundAxis::between(double low, double high) {
  RoundAxis axis;
  if (too_narrow(low, high)) {
    const double room = std::max(0.05, 0.05 * std::abs(high));
    low -= room;
    high += room;
  }
  axis.low_ = low;
  axis.high_ = high;
  axis.step_ = round_step(high - low);
  return axis;
}

RoundAxis RoundAxis::up_to(double bottom, double largest) {
  RoundAxis axis;
  if (too_narrow(bottom, largest)) largest = bottom + std::max(1.0, 0.1 * std::abs(bottom));
  axis.low_ = bottom;
  axis.step_ = round_step(largest - bottom);
  axis.high_ = std::ceil(largest / axis.step_ - 1e-9) * axis.step_;
  return axis;
}

double RoundAxis::share(double value) const { return std::clamp((value - low_) / (high_ - low_), 0.0, 1.0); }

std::vector<double> RoundAxis::ticks() const {
  std::vector<double> ticks;
  const double first = std::ceil(low_ / step_ - 1e-9), last = std::floor(high_ / step_ + 1e-9);
  for (double i = first; i <= last && ticks.size() < 16; ++i) ticks.push_back(i == 0 ? 0.0 : i * step_);
  return ticks;
}

std::string RoundAxis::label(double tick) const {
  if (tick == 0) return "0";
  const int decimals = static_cast<int>(std::clamp(-std::floor(std::log10(step_) + 1e-9), 0.0, 9.0));
  if (std::abs(tick) >= 1e6 || step_ < 1e-4) return short_number(tick);
  return (tick < 0 ? "−" : "") + fmt::format("{:.{}f}", std::abs(tick), decimals);
}

double bounded(double value) { return std::clamp(value, -1e300, 1e300); }

void Range::cover(double value) {
  if (!std::isfinite(value)) return;
  value = bounded(value);
  low = empty ? value : std::min(low, value);
  high = empty ? value : std::max(high, value);
  empty = false;
}

RoundAxis Range::padded(double share) const {
  if (empty) return RoundAxis::between(0, 1);
  const double room = too_narrow(low, high) ? 0 : share * (high - low);
  return RoundAxis::between(low - room, high + room);
}

double left_of(const RoundAxis& axis) {
  double widest = 0;
  for (const double tick : axis.ticks()) widest = std::max(widest, text_width(axis.label(tick)));
  return std::max(margin_left, 36 + widest);
}

std::string value_axis(const RoundAxis& axis, const Plot& plot, const std::string& title) {
  std::string svg;
  for (const double tick : axis.ticks()) {
    const double y = plot.y(axis.share(tick));
    if (axis.share(tick) > 0) svg += rule(plot.left, y, plot.right(), y, "#e2e2e2");
    svg += text(plot.left - 8, y + 4, "end", axis.label(tick));
  }
  svg += rule(plot.left, plot.base(), plot.right(), plot.base(), "#555");
  return svg + upward(plot.top + plot.height / 2, title);
}

std::string tick_below(double x, const Plot& plot, const std::string& label) {
  return rule(x, plot.base(), x, plot.base() + 5, "#555") + text(x, plot.base() + 19, "middle", label);
}

Legend legend_of(const std::vector<LegendEntry>& entries, double right) {
  Legend legend;
  double x = margin_left, y = 42;
  for (const LegendEntry& entry : entries) {
    const std::string name = report::fitted(entry.name, right - margin_left - entry.key_width - 6);
    const double width = entry.key_width + 6 + text_width(name);
    if (x > margin_left && x + width > right) {
      x = margin_left;
      y += legend_line;
      legend.below += legend_line;
    }
    legend.svg += entry.key(x, y) + text(x + entry.key_width + 6, y + 4, "start", name);
    x += width + 24;
  }
  return legend;
}

}  // namespace ecotone::figure_parts
