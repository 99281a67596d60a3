#include "ecotone/methods/sums/lost_digits.h"

#include <cmath>

#include "ecotone/base/blocks.h"

namespace ecotone {
namespace {

/// Beyond it, less than 8 of the 16 digits of a sum of squares say how the column varies.
constexpr double most_spreads = 1e4;

/// The sum of what `of` makes of every row, column by column.
template <class Of>
Vector column_sums(const Features& x, const Context& context, const Of& of) {
  return sum_rows(x.blocks(), context, Vector(Vector::Zero(x.cols())), [&](Vector& sum, Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i) sum += of(block.x.row(i).transpose());
  });
}

}  // namespace

void warn_of_lost_digits(const TrainView& view, const Context& context) {
  const auto n = static_cast<double>(view.x.rows());
  const Vector mean = column_sums(view.x, context, [](const auto& row) -> Vector { return row; }) / n;
  const Vector square =
      column_sums(view.x, context, [&](const auto& row) -> Vector { return (row - mean).cwiseAbs2(); });
  for (Index j = 0; j < view.x.cols(); ++j) {
    const double spread = std::sqrt(square[j] / n);
    if (spread <= 1e-15 * std::abs(mean[j]) || std::abs(mean[j]) <= most_spreads * spread) continue;
    context.warn(
        "lost_digits",
        "partial: the mean of column '{}' is {:.0e} times its spread, so sums of its squares lose digits; "
        "subtract the same number near {:.6g} from it at every site, or make parts of \"scale\" alone first and "
        "give that model with --behind",
        view.x.name(j), std::abs(mean[j]) / spread, mean[j]);
  }
}

}  // namespace ecotone
