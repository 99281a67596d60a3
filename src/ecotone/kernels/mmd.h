#pragma once

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"

/// Maximum mean discrepancy between two samples under the Gaussian kernel: MMD^2 = ||mu_x - mu_y||^2 between their mean
/// embeddings (gretton2012). Each sample needs at least two rows; values must be finite.
namespace ecotone {

/// The unbiased estimate: mean k over pairs within X + the same within Y - 2 times the mean over pairs between them.
/// About 0 if the distributions are equal, and then possibly negative. Computed tile by tile: memory is proportional to
/// the number of rows.
double mmd_squared(ConstMatrixView x, ConstMatrixView y, double sigma, const Context& context);

struct MmdTest {
  double mmd2 = 0;         ///< the unbiased estimate
  double p = 1;            ///< (1 + permutations with at least this MMD^2) / (permutations + 1)
  Index permutations = 0;  ///< number drawn
};

/// The permutation test of equal distributions: the first `first` rows of X are one sample, the others the second. The
/// sample labels of the rows are permuted with the context's seed. All quadratic forms z'Kz are computed at once, in
/// single precision, by products over the tiles of one triangle of K; the observed labels are treated the same way, and
/// values that differ by no more than this rounding count as equal.
MmdTest mmd_test(ConstMatrixView x, Index first, double sigma, Index permutations, const Context& context);

struct BlockMmd {
  double mmd2 = 0;            ///< mean of the unbiased estimates of the blocks: unbiased as well
  double standard_error = 0;  ///< of that mean, from the spread over blocks
  double p = 1;               ///< one-sided, from the normal approximation of the mean
  Index blocks = 0;
};

/// MMD^2 in time proportional to the number of rows: X and Y are cut into equally many blocks, of about `block` rows of
/// the smaller sample, and the estimates of the blocks are averaged (zaremba2013). Rows must be in random order. Fewer
/// than 8 blocks are the option error `bad_option`: their spread would say little.
BlockMmd block_mmd(ConstMatrixView x, ConstMatrixView y, double sigma, Index block, const Context& context);

}  // namespace ecotone
