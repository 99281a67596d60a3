#pragma once

#include <array>
#include <cstdint>

#include "ecotone/solve/boost/codes.h"

/// The loops over rows of boosting on bins. Internal to solve/.
namespace ecotone {

using Histogram = std::array<double, boost_bin_count>;

/// Adds the weights to the bins of their codes.
void add_to_bins(const std::uint8_t* code, const double* weight, Index count, Histogram& bins);

/// weight *= factor of its bin, but not below `least`.
void scale_by_bins(const std::uint8_t* code, const Histogram& factor, double least, double* weight, Index count);

/// How many weights are at least `limit`.
Index count_above(const double* weight, double limit, Index count);
/// Sum of the first weights of rows whose weight is at least limit times the first.
double sum_above(const double* weight, const double* first, double limit, Index count);

}  // namespace ecotone
