#pragma once

#include <string>

#include "ecotone/reproduce/figure.h"

namespace ecotone {

/// A self-contained SVG of lines over one axis, with a legend. Values that are not finite are gaps; those below the
/// bottom of the axis lie on it.
std::string figure_svg(const LineChart& chart);
/// A self-contained SVG with two shades for the classes, a border between them and points on top.
std::string figure_svg(const RegionMap& map);
/// A self-contained SVG of points with a shape and a colour, or a shade, for each group, and lines as far as the frame.
/// Of groups with many points some are drawn; the title says so.
std::string figure_svg(const ScatterChart& chart);
/// A self-contained SVG of marks with their spread, categories side by side.
std::string figure_svg(const DotChart& chart);

}  // namespace ecotone
