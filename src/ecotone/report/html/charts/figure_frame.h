#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// What the pictures of figure_svg.h are made of. Their SVG is self-contained: it has colours of its own.
namespace ecotone::figure_parts {

inline constexpr double margin_left = 62, margin_right = 16, margin_top = 64, margin_bottom = 48;

/// Lines, groups and series are told apart by colour, and by dashes or shapes; further numbers begin again.
inline constexpr std::size_t colour_count = 8;
std::string_view colour_of(std::size_t number);

/// The head of a picture. `note` follows the title where screen readers and tooltips show it.
std::string begin(double width, double height, const std::string& title, const std::string& note = {});
std::string text(double x, double y, std::string_view anchor, const std::string& words);
std::string rule(double x1, double y1, double x2, double y2, std::string_view colour);
/// A line with dashes: "" for none, otherwise lengths as SVG has them.
std::string stroke(double x1, double y1, double x2, double y2, std::string_view colour, std::string_view dashes);
/// The title of a vertical axis, centred on it.
std::string upward(double middle, const std::string& words);
/// About how wide a text is drawn.
double text_width(std::string_view words);
/// Four digits, with a minus sign and without zeros in front of an exponent.
std::string short_number(double value);

/// A mark at a point: a circle, a square, a triangle or a cross, by number.
std::string marker(std::size_t number, double x, double y, double size, std::string_view colour);

/// An axis with ticks at round numbers.
class RoundAxis {
 public:
  /// From low to high; a range without width gets some.
  static RoundAxis between(double low, double high);
  /// From the bottom to a round number that is not below the largest value.
  static RoundAxis up_to(double bottom, double largest);

  double low() const { return low_; }
  double high() const { return high_; }
  /// Where a value lies, 0 to 1; values beyond an end lie at the end.
  double share(double value) const;
  std::vector<double> ticks() const;
  std::string label(double tick) const;

 private:
  double low_ = 0, high_ = 1, step_ = 0.2;
};

/// A number whose differences from others like it are finite.
double bounded(double value);

/// The smallest and the largest of some values; those that are not finite do not count.
struct Range {
  double low = 0, high = 0;
  bool empty = true;

  void cover(double value);
  /// With a share of its width added at both ends.
  RoundAxis padded(double share) const;
};

/// The area that values are drawn in.
struct Plot {
  double left = margin_left, top = margin_top, width = 560, height = 300;

  double right() const { return left + width; }
  double base() const { return top + height; }
  double x(double share) const { return left + share * width; }
  double y(double share) const { return base() - share * height; }
};

/// Where the plot begins so that the labels of its vertical axis have room beside the title.
double left_of(const RoundAxis& axis);
/// Horizontal lines and labels at the ticks of a vertical axis, its title and its base line.
std::string value_axis(const RoundAxis& axis, const Plot& plot, const std::string& title);
/// A tick of the horizontal axis and its label.
std::string tick_below(double x, const Plot& plot, const std::string& label);

/// One entry of a legend: its key is drawn at the left end and the middle of its line.
struct LegendEntry {
  std::string name;
  std::function<std::string(double x, double middle)> key;
  double key_width = 14;
};
/// Entries below the title, in as many lines as they need. `below` is what the lines after the first take.
struct Legend {
  std::string svg;
  double below = 0;
};
Legend legend_of(const std::vector<LegendEntry>& entries, double right);

}  // namespace ecotone::figure_parts
