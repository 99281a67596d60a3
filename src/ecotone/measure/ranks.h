#pragma once

#include <optional>
#include <span>
#include <vector>

namespace ecotone {

/// Ranks from 1; equal values share the mean of their ranks.
std::vector<double> ranks(std::span<const double> values);

/// Spearman's rank correlation: Pearson's correlation of the ranks. Undefined with fewer than two pairs or when one
/// side is constant.
std::optional<double> spearman(std::span<const double> x, std::span<const double> y);

}  // namespace ecotone
