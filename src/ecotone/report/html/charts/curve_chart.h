#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Lines with bands around them as SVG inside a page: colours follow the page's light or dark scheme.
namespace ecotone::report {

/// A line over ascending x. `low` and `high` bound its band and are as long as `x`, or empty.
struct ChartLine {
  std::size_t number = 0;  ///< decides colour and dashes; see line_key
  std::string name;        ///< at its end
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> low;
  std::vector<double> high;
  bool dots = false;  ///< a mark at every point
  bool thin = false;  ///< one of many
};

/// A horizontal line to compare with.
struct ChartGuide {
  double y = 0;
  std::string name;
};

struct CurveChart {
  std::string description;  ///< for those who do not see the picture
  std::string x_title;
  std::string y_title;
  std::vector<ChartLine> lines;
  std::vector<ChartGuide> guides;
  std::vector<double> cover;    ///< values that the vertical axis includes
  std::vector<double> x_cover;  ///< the same of the other
  bool names = true;            ///< at the ends of the lines
  double width = 760;
  double height = 360;
};

std::string curve_chart(const CurveChart& chart);

/// Lines that are told apart by colour and dashes; further numbers begin again. The last is grey: what the others are
/// compared with.
inline constexpr std::size_t chart_lines = 8;
/// A short piece of the line with this number, for a legend.
std::string line_key(std::size_t number);

}  // namespace ecotone::report
