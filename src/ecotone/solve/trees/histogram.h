#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/trees/bins.h"
#include "ecotone/solve/trees/fixed_point.h"

/// Sums of derivatives by code: all that splits are chosen from.
namespace ecotone {

/// The rows that this rank has derivatives of: all, or a part where ranks divide them.
struct RankRows {
  Share own;
  bool divided = false;
};

/// First and second derivatives of the loss of every row by its score, times its weight, as integers.
struct Gradients {
  struct Row {
    std::int32_t g = 0, h = 0;
  };
  FixedPoint g_scale, h_scale;
  std::vector<Row> row;
  RankRows rows;  ///< of which there are some

  /// Second derivatives must not be negative.
  static Gradients of(ConstVectorView first, ConstVectorView second, const Context& context) {
    return of(first, second, {{0, first.size()}}, context);
  }
  static Gradients of(ConstVectorView first, ConstVectorView second, const RankRows& rows, const Context& context);
};

/// Sums over rows.
struct GradientSums {
  std::int64_t g = 0, h = 0;
  Index rows = 0;

  GradientSums& operator+=(const GradientSums& other) {
    g += other.g;
    h += other.h;
    rows += other.rows;
    return *this;
  }
  GradientSums& operator-=(const GradientSums& other) {
    g -= other.g;
    h -= other.h;
    rows -= other.rows;
    return *this;
  }
};
inline GradientSums operator-(GradientSums a, const GradientSums& b) { return a -= b; }

inline constexpr int cells_per_column = 256;

/// Replaces sums by those of all ranks.
void sum_over_ranks(std::string_view what, std::span<GradientSums> sums, const Context& context);

/// The sums of a node by code, column after column.
struct GradientHistogram {
  std::vector<GradientSums> cell;

  const GradientSums* column(Index j) const { return cell.data() + j * cells_per_column; }
  /// Of all rows.
  GradientSums total() const;
  void subtract(const GradientHistogram& other, const Context& context);
};

/// The histogram of these rows. Its bytes do not depend on the number of threads or on the order of the rows.
GradientHistogram histogram_of(const TreeRows& data, const Gradients& gradients, std::span<const std::uint32_t> rows,
                               const Context& context);

/// The histogram of the rows that all ranks have, of which these are this rank's.
GradientHistogram histogram_of_ranks(const TreeRows& data, const Gradients& gradients,
                                     std::span<const std::uint32_t> rows, const Context& context);

}  // namespace ecotone
