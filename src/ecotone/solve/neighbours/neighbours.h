#pragma once

#include "ecotone/base/context.h"
#include "ecotone/base/index.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// Whether a row may be its own neighbour.
enum class Self {
  keep,      ///< query and reference rows have nothing to do with each other
  leave_out  ///< query row i is reference row i, and not a neighbour of itself
};

/// The k nearest reference rows of each query row, nearest first; of equal distances the smaller index first.
struct Neighbours {
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> index;  ///< queries x k
  Matrix squared_distance;  ///< queries x k; equal rows have distance exactly 0
};

/// Exact nearest neighbours in Euclidean distance, without ever holding all distances: tiles of single-precision
/// products with a bound of their error pass over what cannot be a neighbour, and the few others are measured in double
/// precision from differences. Data errors: `shape_mismatch`, `non_finite` (also squared distances beyond the numbers),
/// `bad_k` when there are fewer than k rows to choose from. `who` names the caller in messages.
Neighbours nearest_neighbours(ConstMatrixView query, ConstMatrixView reference, Index k, Self self,
                              const Context& context, const char* who = "neighbours");

}  // namespace ecotone
