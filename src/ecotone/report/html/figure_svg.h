#pragma once

#include <string>

#include "ecotone/reproduce/figure.h"

namespace ecotone {

/// A self-contained SVG of lines over steps on a logarithmic axis, with a legend.
std::string figure_svg(const LineChart& chart);
/// A self-contained SVG with two shades for the classes, a border between them and points on top.
std::string figure_svg(const RegionMap& map);

}  // namespace ecotone
