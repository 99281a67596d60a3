#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Sums over rows of a low-rank map rho (r values per row), over groups of rows, and over rows of the output factor G
/// (q values per row, L = G G'): all that invariant components need from the data. Sums can be added over blocks, files
/// and machines. A shift near the mean is subtracted from rho and g, so that centring later costs no digits.
struct LowRankSums {
  Vector shift;         ///< r
  Vector output_shift;  ///< q; 0 for classes
  double rows = 0;
  Matrix gram;         ///< r x r, sum of rho rho'; only the lower triangle
  Matrix group_sum;    ///< groups x r, sum of rho over each group
  Vector group_rows;   ///< rows of each group
  Matrix output_sum;   ///< q x r, sum of g rho' (G'R)
  Matrix output_gram;  ///< q x q, sum of g g' (G'G)
  Vector output_one;   ///< q, sum of g (G'1)

  LowRankSums() = default;
  LowRankSums(Vector shift, Index groups, Vector output_shift);

  Index rank() const { return shift.size(); }
  Index groups() const { return group_rows.size(); }
  Index outputs() const { return output_shift.size(); }
  static std::size_t bytes(Index rank, Index groups, Index outputs);

  /// Adds a block of features, shifted in place; `g` are its rows of G (no columns: none), also shifted in place.
  void add(MatrixView rho, std::span<const std::int32_t> group, MatrixView g);
  /// The same with classes instead of rows of G: g is 1 in the column of the class.
  void add(MatrixView rho, std::span<const std::int32_t> group, std::span<const std::int32_t> classes);
  /// Adds the sums of other rows, with any shifts. Data error `different_sums` if sizes differ.
  void merge(const LowRankSums& other);

 private:
  void add_rows(MatrixView rho, std::span<const std::int32_t> group);
};

/// The outputs of rows: nothing, classes, or any factor G read by blocks.
struct LowRankOutputs {
  std::span<const std::int32_t> classes;  ///< of each row; empty: no classes
  Index count = 0;                        ///< number of classes, or columns of G
  /// Fills rows first .. first + g.rows() - 1 of G.
  std::function<void(Index first, MatrixView g)> rows;

  /// Each row's class, of `count`.
  static LowRankOutputs of_classes(std::span<const std::int32_t> classes, Index count);
  /// Rows of a matrix, which must outlive the result: outputs with the linear kernel, or any factor.
  static LowRankOutputs of_rows(const Matrix& g);
  /// A map of the rows of y; both must outlive the result. What the map leaves out of the output kernel is left out of
  /// P.
  static LowRankOutputs of_map(const LowRankMap& map, const Matrix& y);
};

/// Rows to sum over: features, the map, the group of each row (0 .. groups - 1) and the outputs.
struct LowRankRows {
  const Features& x;
  const LowRankMap& map;
  std::span<const std::int32_t> group;
  Index groups = 1;
  LowRankOutputs outputs = {};
};

/// One pass over the blocks of rows on all threads. The bytes of the result do not depend on the number of threads.
/// Memory: a few r x r sums and one block of features per thread. Data errors `not_enough_memory`, `non_finite` (names
/// column and row).
LowRankSums gather_low_rank_sums(const LowRankRows& rows, const Context& context);

}  // namespace ecotone
