#include "ecotone/kernels/domain_means.h"

#include <cmath>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"

namespace ecotone {
namespace {

/// Sums over a run of blocks, and memory for one block.
struct Partial {
  Vector rows;
  Vector diagonal;
  Matrix sum;
  LowRankMap::Workspace workspace;
  Scratch scratch;
  Matrix values;

  Partial(Index domains, Index cols)
      : rows(Vector::Zero(domains)), diagonal(Vector::Zero(domains)), sum(Matrix::Zero(domains, cols)) {}
  Partial(const Partial& other) : rows(other.rows), diagonal(other.diagonal), sum(other.sum) {}
  Partial(Partial&&) = default;
  Partial& operator=(const Partial&) = delete;
  Partial& operator=(Partial&&) = default;
  ~Partial() = default;

  void merge(const Partial& other) {
    rows += other.rows;
    diagonal += other.diagonal;
    sum += other.sum;
    values.resize(0, 0);
  }

  void add(const LowRankMap& map, const Vector& origin, const DomainFeatures& of, Index b) {
    const RowBlock block = of.x.block(b, scratch);
    if (values.rows() != block.x.rows()) values.resize(block.x.rows(), sum.cols());
    Vector k;
    if (map.rank() > 0) {
      map.raw(block.x, values, workspace);
      k = kernel_diagonal(map.kernel(), block.x);
    } else {
      values = block.x.rowwise() - origin.transpose();
      k = values.rowwise().squaredNorm();
    }
    for (Index i = 0; i < values.rows(); ++i) {
      const Index d = of.domain[at(block.first + i)];
      rows[d] += 1;
      diagonal[d] += k[i];
      sum.row(d) += values.row(i);
    }
  }
};

/// If the sums are finite, so is every value: the search runs only if they are not.
void require_finite(const Partial& sums, const DomainFeatures& rows, const Context& context) {
  if (sums.sum.allFinite() && sums.diagonal.allFinite()) return;
  const NonFinite found = find_non_finite(rows.x, context);
  if (found.row >= 0)
    data_error("non_finite", "distributional map: column '{}' is {} in row {}", rows.x.name(found.column),
               std::isnan(found.value) ? "not a number" : "infinite", found.row + 1);
  data_error("non_finite", "distributional map: k2 overflows; scale the columns first");
}

}  // namespace

LowRankMeans low_rank_means(const LowRankMap& map, const Vector& origin, const DomainFeatures& rows,
                            const Context& context) {
  const Index cols = map.rank() > 0 ? map.rank() : origin.size();
  const auto threads = at(context.threads());
  const std::size_t bytes =
      at(rows.domains) * at(cols) * (threads + 6) + threads * at(rows.x.block_rows()) * at(cols + rows.x.cols());
  require_memory(bytes * sizeof(double), "distributional map",
                 fmt::format("means of {} domains with {} values each", rows.domains, cols), "use a lower rank");
  Partial sums = sum_blocks(rows.x.blocks(), context, Partial(rows.domains, cols),
                            [&](Partial& partial, Index b) { partial.add(map, origin, rows, b); });
  require_finite(sums, rows, context);
  for (Index d = 0; d < rows.domains; ++d) {
    if (sums.rows[d] == 0) continue;
    sums.sum.row(d) /= sums.rows[d];
    sums.diagonal[d] /= sums.rows[d];
  }
  if (map.rank() > 0) map.finish(sums.sum);
  return {std::move(sums.rows), std::move(sums.sum), std::move(sums.diagonal)};
}

}  // namespace ecotone
