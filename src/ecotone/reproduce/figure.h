#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ecotone/linalg/matrix.h"

/// Pictures as data that tests can read; the layer report draws them.
namespace ecotone {

/// Several lines over one axis.
struct LineChart {
  std::string name = {};  ///< of its files
  std::string title = {}, x_title = {}, y_title = {};
  struct Line {
    std::string name;
    std::vector<double> values;
    bool dashed = false;
  };
  std::vector<Line> lines = {};
  std::vector<double> x = {};        ///< where the values lie, rising; empty: at 1, 2, ...
  bool logarithmic = true;           ///< the axis of x; it needs x > 0
  double bottom = 0;                 ///< where the axis of values begins
  std::optional<double> level = {};  ///< a horizontal line, such as chance
};

/// The class that a classifier predicts on a grid, with some points on top.
struct RegionMap {
  std::string name;  ///< of its files
  std::string title;
  double left = 0, right = 1, bottom = 0, top = 1;  ///< of the grid's outer cells
  Matrix score;                                     ///< above 0: the second class; the first row is the lowest
  Matrix points;                                    ///< x and y
  std::vector<double> classes;                      ///< of the points: -1 or +1
};

/// Points of several groups, and straight lines across them.
struct ScatterChart {
  std::string name = {};  ///< of its files
  std::string title = {}, x_title = {}, y_title = {};
  struct Group {
    std::string name;
    Matrix points;                   ///< x and y
    std::vector<double> value = {};  ///< of each point, shown by its shade; empty: the group has one colour
  };
  std::vector<Group> groups;
  struct Segment {
    std::string name;
    double x1 = 0, y1 = 0, x2 = 0, y2 = 0;
  };
  std::vector<Segment> segments = {};
};

/// A value per category and series, such as a score per method and setting.
struct DotChart {
  std::string name;  ///< of its files
  std::string title, y_title;
  std::vector<std::string> categories;
  struct Series {
    std::string name;
    std::vector<double> values;       ///< one per category
    std::vector<double> spread = {};  ///< drawn to both sides; empty: none
  };
  std::vector<Series> series;
};

struct Figures {
  std::vector<LineChart> charts = {};
  std::vector<RegionMap> maps = {};
  std::vector<ScatterChart> scatters = {};
  std::vector<DotChart> dots = {};

  bool empty() const { return charts.empty() && maps.empty() && scatters.empty() && dots.empty(); }
};

/// The column of x (`step` where there is none) and a column per line.
std::string figure_csv(const LineChart& chart);
/// Columns kind (grid or point), x, y, class: the class predicted at the centre of each cell, and the points' own
/// class.
std::string figure_csv(const RegionMap& map);
/// Columns group, x, y and value; the two ends of a line are two rows of its name.
std::string figure_csv(const ScatterChart& chart);
/// Columns category, series, value, spread.
std::string figure_csv(const DotChart& chart);

}  // namespace ecotone
