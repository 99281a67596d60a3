#pragma once

#include <string_view>

#include "ecotone/data/dataset.h"
#include "ecotone/solve/paths/greedy.h"

/// Views for selectors and ridge. Moments are raw sums, so values far from 0 relative to their spread lose digits in
/// centring: such columns and labels are shifted near 0 first, and offsets are shifted back.
namespace ecotone {

/// Columns and labels whose mean exceeds this many standard deviations are shifted.
inline constexpr double far_from_zero = 1000;

struct SelectionView {
  TrainView view;
  Vector centre;        ///< p, subtracted from the columns; empty if nothing was
  double y_centre = 0;  ///< subtracted from the labels

  /// The offset for x and y as given: y = w . (x - c) + b + c_y.
  double moved_back(double offset, ConstVectorView weights) const;
  /// Shifts the offsets of a path back; weights and losses stay the same.
  void move_back(PathResult& path) const;
};

/// Leaves out domains whose rows all have weight 0, with a warning (`domain_without_weight`); data error `no_weight` if
/// none is left. Shifts dense columns and numeric labels that are far from 0 and will be centred anyway. Returns the
/// given view if there is nothing to do.
SelectionView selection_view(std::string_view who, const TrainView& view, Centring centring, const Context& context);

/// Moments alone cannot be shifted: warns (`lost_digits`) about the column or label farthest from 0 if centring leaves
/// too few of its digits.
void warn_lost_digits(std::string_view who, const Moments& moments, Centring centring, const Context& context);

}  // namespace ecotone
