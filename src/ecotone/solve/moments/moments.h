#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/linalg/symmetric_tiles.h"

/// Moments of groups of rows. One pass sums X'1, X'y, y'y and, in tiles of 512 columns, X'X of every group; each tile
/// is one task. gram_columns.h gives the columns E[x x_j|d] that a selection path asks for, from these moments or
/// directly from the rows, several columns per pass.
namespace ecotone {

/// Whether X'X is kept, and in which precision.
enum class GramKind { none, double_precision, single_precision };

/// Sums over the rows of groups (usually domains), with row weights w: all that greedy selection, stepwise selection
/// and ridge regression need from the data. Sums can be added over blocks, files and machines. Means and X'y are always
/// double; X'X may be float.
struct Moments {
  std::vector<std::string> features;               ///< names of the p columns
  std::vector<std::string> groups;                 ///< names of the g groups
  std::vector<std::string> classes;                ///< -1 and +1 in y stand for these two; empty: regression
  std::vector<std::uint8_t> labelled;              ///< one per group: 0 if its rows have no y
  Vector rows;                                     ///< rows of each group
  Vector weight;                                   ///< sum of w; the number of rows if there are no weights
  Vector y1;                                       ///< sum of w y
  Vector yy;                                       ///< sum of w y^2
  Matrix x1;                                       ///< g x p, sum of w x
  Matrix xy;                                       ///< g x p, sum of w x y
  Matrix xx;                                       ///< g x p, sum of w x^2: the diagonal of X'X
  std::vector<SymmetricTiles<double>> gram;        ///< one per group with GramKind::double_precision
  std::vector<SymmetricTiles<float>> single_gram;  ///< one per group with GramKind::single_precision

  Index cols() const { return x1.cols(); }
  Index group_count() const { return x1.rows(); }
  GramKind gram_kind() const;
  /// Adds the sums of other rows. Groups are matched by name; new ones are appended. Data error `different_moments` if
  /// features, classes or the kind of Gram matrix differ, or if a group is labelled in only one of them.
  void merge(const Moments& other);
  /// out[i] = sum of w x_i x_j over group `group`, divided by its weight; needs a Gram matrix.
  void gram_column(Index group, Index j, double* out) const;
};

/// Rows to take moments of.
struct MomentRows {
  const Features& x;
  std::span<const std::int32_t> group;  ///< of each row
  std::vector<std::string> group_names;
  ConstVectorView y;       ///< of the first rows; the rows after them have none and form groups of their own
  ConstVectorView weight;  ///< of the rows that have y; empty: all 1
  std::span<const Index> origin = {};  ///< row of the files of each row, for messages; empty: row i is row i
};

/// Bytes needed for moments of this size.
std::size_t moments_bytes(Index groups, Index cols, GramKind kind);

/// Computes the moments in one pass over the row blocks, on all threads. The bytes of the result do not depend on the
/// number of threads. Data errors: `not_enough_memory`, `non_finite` (names column and row).
Moments gather_moments(const MomentRows& rows, GramKind kind, const Context& context);

/// Replaces the sums that depend on y by those of these rows, which must be the rows of the moments but for y. The
/// bytes are those that gather_moments would give, without the cost of X'X.
void relabel_moments(Moments& moments, const MomentRows& rows, const Context& context);

}  // namespace ecotone
