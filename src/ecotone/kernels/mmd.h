#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Maximum mean discrepancy of two samples under the Gaussian kernel: MMD^2 = ||mu_x - mu_y||^2 of their mean
/// embeddings (gretton2012). Both samples need two rows; values must be finite.
namespace ecotone {

/// The unbiased estimate: mean k over pairs within X + the same within Y - 2 times the mean over pairs between. Around
/// 0 where the laws are equal, and then also negative. Tile by tile: memory in proportion to the rows.
double mmd_squared(ConstMatrixView x, ConstMatrixView y, double sigma, const Context& context);

struct MmdTest {
  double mmd2 = 0;         ///< the unbiased estimate
  double p = 1;            ///< (1 + permutations with at least that MMD^2) / (permutations + 1)
  Index permutations = 0;  ///< that were drawn
};

/// The permutation test of equal laws: the first `first` rows of X are one sample, the others the second. The labels of
/// the rows are permuted by the context's seed. All quadratic forms z'Kz are found at once, in single precision, by
/// products over tiles of one triangle of K; the observed labels go the same way, and values that differ by no more
/// than that rounding count as equal.
MmdTest mmd_test(ConstMatrixView x, Index first, double sigma, Index permutations, const Context& context);

struct BlockMmd {
  double mmd2 = 0;            ///< mean of the blocks' unbiased estimates: unbiased as well
  double standard_error = 0;  ///< of that mean, from the blocks' spread
  double p = 1;               ///< one-sided, by the normal law of the mean
  Index blocks = 0;
};

/// MMD^2 in time proportional to the rows: X and Y are cut into as many blocks, of about `block` rows of the smaller
/// sample, and the blocks' estimates are averaged (zaremba2013). Rows must stand in random order. Fewer than 8 blocks
/// are the option error `bad_option`: their spread would say little.
BlockMmd block_mmd(ConstMatrixView x, ConstMatrixView y, double sigma, Index block, const Context& context);

}  // namespace ecotone
