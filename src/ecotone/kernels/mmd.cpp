#include "ecotone/kernels/mmd.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/kernels/domain_sums.h"
#include "ecotone/linalg/stacked.h"

namespace ecotone {
namespace {

constexpr Index least_blocks = 8;

double unbiased(ConstMatrixView x, ConstMatrixView y, double sigma, const Context& context) {
  std::vector<std::int32_t> sample(static_cast<std::size_t>(x.rows() + y.rows()), 1);
  std::fill_n(sample.begin(), x.rows(), 0);
  return rbf_domain_sums(stacked(x, y), sample, 2, sigma, context).mmd_squared(0, 1);
}

void require_two_rows(Index x, Index y) {
  if (x < 2 || y < 2) data_error("too_few_rows", "mmd: each sample needs at least two rows, got {} and {}", x, y);
}

}  // namespace

double mmd_squared(ConstMatrixView x, ConstMatrixView y, double sigma, const Context& context) {
  require_two_rows(x.rows(), y.rows());
  return unbiased(x, y, sigma, context);
}

BlockMmd block_mmd(ConstMatrixView x, ConstMatrixView y, double sigma, Index block, const Context& context) {
  const Index blocks = block < 2 ? 0 : std::min(x.rows(), y.rows()) / block;
  if (blocks < least_blocks)
    option_error("bad_option", "mmd: {} and {} rows form {} blocks of {} rows; at least {} blocks are needed", x.rows(),
                 y.rows(), blocks, block, least_blocks);
  Vector part(blocks);
  context.parallel(blocks, [&](Index b) {
    const auto rows = [&](ConstMatrixView of) {
      const Index begin = b * of.rows() / blocks;
      return of.middleRows(begin, (b + 1) * of.rows() / blocks - begin);
    };
    part[b] = unbiased(rows(x), rows(y), sigma, context);
  });
  BlockMmd result;
  const auto count = static_cast<double>(blocks);
  result.blocks = blocks;
  result.mmd2 = part.mean();
  result.standard_error = std::sqrt((part.array() - result.mmd2).square().sum() / (count - 1) / count);
  if (result.standard_error > 0) {
    result.p = 0.5 * std::erfc(result.mmd2 / result.standard_error / std::sqrt(2.0));
  } else {
    result.p = result.mmd2 > 0 ? 0 : 1;
  }
  return result;
}

}  // namespace ecotone
