#pragma once

#include "ecotone/base/context.h"
#include "ecotone/data/dataset.h"
#include "ecotone/linalg/single.h"
#include "ecotone/solve/rbm/rbm.h"

namespace ecotone {

enum class DbnVisible { automatic, binary, gaussian };
enum class DbnScale { automatic, none };

/// How columns become visible units: z = (x - mean) / scale.
struct DbnInput {
  VisibleUnits units = VisibleUnits::binary;
  Vector mean;
  Vector scale;  ///< > 0

  void apply(ConstMatrixMap x, SingleView z) const;
};

/// Decides the units and their scale from all rows of the view, and notes what `auto` chose. Data errors: `non_finite`
/// for a missing or infinite value, `outside_unit` for binary units with values outside [0, 1].
DbnInput choose_input(const TrainView& view, DbnVisible visible, DbnScale scale, const Context& context);

/// All rows as visible units.
SingleMatrix visible_rows(const Features& x, const DbnInput& input, const Context& context);

}  // namespace ecotone
