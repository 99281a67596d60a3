#include "ecotone/methods/represent/dbn/dbn_input.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/methods/prepare/column_moments.h"
#include "ecotone/methods/requirements.h"

namespace ecotone {
namespace {

constexpr double largest_pixel = 255;

bool is_whole(const Features& x, const Context& context) {
  std::vector<char> whole(static_cast<std::size_t>(x.blocks()), 0);
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const ConstMatrixMap block = x.block(b, scratch).x;
    whole[at(b)] = (block.array() == block.array().floor()).all() ? 1 : 0;
  });
  return std::all_of(whole.begin(), whole.end(), [](char each) { return each != 0; });
}

Vector deviations(const Features& x, const ColumnMoments& moments) {
  Vector scale = moments.deviation();
  for (Index j = 0; j < x.cols(); ++j) {
    if (!std::isfinite(moments.mean[j]) || !std::isfinite(scale[j])) {
      data_error("non_finite", "dbn: column '{}' is too large to standardise; it ranges from {} to {}", x.name(j),
                 moments.low[j], moments.high[j]);
    }
    // A constant column becomes 0; so does one whose 1 / scale would overflow.
    if (scale[j] < std::numeric_limits<double>::min()) scale[j] = 1;
  }
  return scale;
}

void require_unit_interval(const Features& x, const ColumnMoments& moments, double divisor) {
  for (Index j = 0; j < x.cols(); ++j) {
    if (moments.low[j] >= 0 && moments.high[j] <= divisor) continue;
    data_error(
        "outside_unit",
        "dbn: column '{}' ranges from {} to {}, but binary visible units take values in [0, 1]; use visible=gaussian",
        x.name(j), moments.low[j], moments.high[j]);
  }
}

}  // namespace

void DbnInput::apply(ConstMatrixMap x, SingleView z) const {
  // New rows may hold any number, so values are bounded to keep single-precision products finite. NaN stays NaN.
  constexpr double bound = 1e18;
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) {
      const double value = (x(i, j) - mean[j]) / scale[j];
      z(i, j) = static_cast<float>(value > bound ? bound : value < -bound ? -bound : value);
    }
  }
}

DbnInput choose_input(const TrainView& view, DbnVisible visible, DbnScale scale, const Context& context) {
  const Features& x = view.x;
  require_finite_features("dbn", view.x, view.origin, context);
  const ColumnMoments moments = column_moments(x, context);
  const double low = moments.low.minCoeff();
  const double high = moments.high.maxCoeff();
  const bool unit = low >= 0 && high <= 1;
  const bool bytes = !unit && scale == DbnScale::automatic && visible != DbnVisible::gaussian && low >= 0 &&
                     high <= largest_pixel && is_whole(x, context);
  const bool binary =
      visible == DbnVisible::binary || (visible == DbnVisible::automatic && (unit || (bytes && high == largest_pixel)));
  if (binary) {
    const double divisor = bytes ? high : 1;
    require_unit_interval(x, moments, divisor);
    if (bytes) context.note("dbn: binary visible units, values are divided by {}", divisor);
    return {VisibleUnits::binary, Vector::Zero(x.cols()), Vector::Constant(x.cols(), divisor)};
  }
  if (visible == DbnVisible::automatic) context.note("dbn: gaussian visible units, as values go beyond [0, 1]");
  if (scale == DbnScale::none) return {VisibleUnits::gaussian, Vector::Zero(x.cols()), Vector::Ones(x.cols())};
  return {VisibleUnits::gaussian, moments.mean, deviations(x, moments)};
}

SingleMatrix visible_rows(const Features& x, const DbnInput& input, const Context& context) {
  SingleMatrix rows(x.rows(), x.cols());
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    input.apply(block.x, rows.middleRows(block.first, block.x.rows()));
  });
  return rows;
}

}  // namespace ecotone
