#pragma once

#include "ecotone/base/context.h"
#include "ecotone/base/index.h"
#include "ecotone/linalg/matrix.h"

/// Exact nearest neighbours, written by hand: tiles of single-precision products with a bounded error exclude most
/// rows, and the rest are measured in double precision. The result does not depend on the number of threads.
namespace ecotone {

/// Whether a row may be its own neighbour.
enum class Self {
  keep,      ///< query and reference rows are unrelated
  leave_out  ///< query row i is reference row i, and not its own neighbour
};

/// The k nearest reference rows of each query row, nearest first; at equal distance, the smaller index first.
struct Neighbours {
  Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> index;  ///< queries x k
  Matrix squared_distance;  ///< queries x k; equal rows have distance exactly 0
};

/// Exact nearest neighbours in Euclidean distance, without ever storing all distances: tiles of single-precision
/// products with a bound on their error rule out most rows, and the few others are measured in double precision from
/// differences. Data errors: `shape_mismatch`, `non_finite` (also if squared distances overflow), `bad_k` if there are
/// fewer than k rows to choose from. `who` names the caller in messages.
Neighbours nearest_neighbours(ConstMatrixView query, ConstMatrixView reference, Index k, Self self,
                              const Context& context, const char* who = "neighbours");

}  // namespace ecotone
