#pragma once

#include <string>
#include <vector>

#include "ecotone/linalg/matrix.h"

/// Pictures as data that tests can read; the layer report draws them.
namespace ecotone {

/// Several lines with values at 1, 2, ...
struct LineChart {
  std::string name;  ///< of its files
  std::string title, x_title, y_title;
  struct Line {
    std::string name;
    std::vector<double> values;
  };
  std::vector<Line> lines;
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

struct Figures {
  std::vector<LineChart> charts;
  std::vector<RegionMap> maps;
};

/// `step` and a column per line.
std::string figure_csv(const LineChart& chart);
/// Columns kind (grid or point), x, y, class: the class predicted at the centre of each cell, and the points' own
/// class.
std::string figure_csv(const RegionMap& map);

}  // namespace ecotone
