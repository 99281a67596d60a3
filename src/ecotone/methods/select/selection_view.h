#pragma once

#include <string_view>

#include "ecotone/data/dataset.h"
#include "ecotone/solve/paths/greedy.h"

/// Views as selectors and ridge read them. Moments are raw sums, so what lies far from 0 in units of its spread loses
/// its digits when it is centred: such columns and labels are moved near 0 first, and offsets are moved back.
namespace ecotone {

/// Columns and labels whose mean exceeds so many standard deviations are moved.
inline constexpr double far_from_zero = 1000;

struct SelectionView {
  TrainView view;
  Vector centre;        ///< p, subtracted from the columns; empty: nothing was
  double y_centre = 0;  ///< subtracted from the labels

  /// The offset for x and y as given: y = w . (x - c) + b + c_y.
  double moved_back(double offset, ConstVectorView weights) const;
  /// Moves the offsets of a path; weights and losses are the same.
  void move_back(PathResult& path) const;
};

/// Domains whose rows all weigh 0 are left out, with a warning (`domain_without_weight`); data error `no_weight` when
/// that are all. Dense columns, and labels that are numbers, are moved where they lie far from 0 and are centred
/// anyway. The view as given where there is nothing to do.
SelectionView selection_view(std::string_view who, const TrainView& view, Centring centring, const Context& context);

/// Moments alone cannot be moved: warns (`lost_digits`) of the column, or the label, that lies farthest from 0 where
/// centring leaves too few digits of it.
void warn_lost_digits(std::string_view who, const Moments& moments, Centring centring, const Context& context);

}  // namespace ecotone
