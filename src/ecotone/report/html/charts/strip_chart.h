#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// One strip per row on a common scale: named dots, a band or an interval behind them, a mean.
namespace ecotone::report {

struct StripDot {
  double value = 0;
  std::string name;               ///< what it stands for; drawn where there is room
  std::string note;               ///< in full, when it is pointed at
  std::string_view look = "dot";  ///< class of the style sheet
  bool foremost = false;          ///< its name is drawn before all others
};

struct StripRow {
  std::string tag;  ///< a letter
  std::string name;
  std::string figure;  ///< at the right
  std::string_view figure_look = "figure";
  std::vector<StripDot> dots = {};
  std::optional<std::pair<double, double>> band = {};
  std::string_view band_look = "spread";
  std::optional<double> mean = {};
};

struct StripChart {
  std::string description;  ///< for those who do not see the picture
  std::string axis_title;
  std::vector<StripRow> rows;
  std::optional<double> line = {};  ///< a value to compare with
};

inline constexpr double wide_picture = 800, narrow_picture = 330;
std::string strip_chart(const StripChart& chart, double width);

}  // namespace ecotone::report
