#pragma once

#include <string>

#include "ecotone/reproduce/figure.h"

namespace ecotone {

/// Lines over steps on a logarithmic axis, with a legend: one self-contained SVG.
std::string figure_svg(const LineChart& chart);
/// Two shades for the classes, a border between them, points on top: one self-contained SVG.
std::string figure_svg(const RegionMap& map);

}  // namespace ecotone
