#pragma once

#include <cstdint>
#include <span>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/components/component_map.h"
#include "ecotone/solve/components/low_rank.h"

/// Transfer components (pan2011): K H K v = g (I + mu K L K) v for the largest g, with the raw kernel K, H = I - 11'/n
/// and L = F F', F = sqrt(2 / (G - 1)) (e_a - mean of e_a), e_a = 1/n_a on the rows of group a: directions that vary
/// over rows and little over the means of G groups. v'(I + mu K L K) v = 1, z = K v. The signs make the training value
/// of largest magnitude positive.
namespace ecotone {

struct TransferOptions {
  double mu = 10;
  Index components = 30;
};

/// All rows in memory: two products and one eigenproblem of n x n, no factorisation. Memory is checked.
struct TransferComponents {
  Vector gamma;        ///< g, descending; those below 1e-10 of the largest are left out
  ComponentMap map;    ///< z of any row, with bias 0
  Matrix projections;  ///< z of the training rows
};
TransferComponents transfer_components(ConstMatrixView x, const Kernel& kernel, std::span<const std::int32_t> group,
                                       Index groups, const TransferOptions& options, const char* who,
                                       const Context& context);

/// The same for K = R R' from sums over the rows of R alone: S_H a = g (S^-1 + mu f f') a, z = R a, with S = R'R,
/// S_H = R'HR and f = R'F.
struct TransferDirections {
  Vector gamma;
  Matrix directions;  ///< a, one per column, signs as found
};
TransferDirections transfer_directions(const LowRankSums& sums, const TransferOptions& options, const Context& context);

/// Makes the value of largest magnitude of each column of x times `directions` positive; x is read in blocks.
void fix_transfer_signs(const Features& x, const LowRankMap& map, Matrix& directions, const Context& context);

}  // namespace ecotone
