#include "ecotone/solve/components/low_rank_sums.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

void add_to(const double* __restrict row, double* __restrict sum, Index count) {
  for (Index j = 0; j < count; ++j) sum[j] += row[j];
}

/// row <- row - shift, sum <- sum + row
void shift_and_add(const double* __restrict shift, double* __restrict row, double* __restrict sum, Index count) {
  for (Index j = 0; j < count; ++j) {
    row[j] -= shift[j];
    sum[j] += row[j];
  }
}

/// Sums over a run of blocks, and memory for one block.
struct PartialSums {
  LowRankSums sums;
  LowRankMap::Workspace workspace;
  Scratch scratch;
  Matrix rho;
  Matrix g;

  explicit PartialSums(LowRankSums zero) : sums(std::move(zero)) {}
  PartialSums(const PartialSums& other) : sums(other.sums) {}
  PartialSums(PartialSums&&) = default;
  PartialSums& operator=(const PartialSums&) = delete;
  PartialSums& operator=(PartialSums&&) = default;
  ~PartialSums() = default;

  template <class Archive>
  void archive(Archive& with) {
    with(sums.shift, sums.output_shift, sums.gram, sums.group_sum, sums.group_rows, sums.output_sum, sums.output_gram,
         sums.output_one, sums.rows);
  }

  /// The block memory of the merged sums is no longer needed.
  void merge(const PartialSums& other) {
    sums.merge(other.sums);
    rho.resize(0, 0);
    g.resize(0, 0);
  }

  void read(const LowRankRows& rows, Index b) {
    const RowBlock block = rows.x.block(b, scratch);
    if (rho.rows() != block.x.rows()) rho.resize(block.x.rows(), rows.map.rank());
    rows.map.features(block.x, rho, workspace);
    if (!rows.outputs.rows) return;
    g.resize(block.x.rows(), rows.outputs.count);
    rows.outputs.rows(block.first, g);
  }

  void add(const LowRankRows& rows, Index b) {
    read(rows, b);
    const auto first = at(rows.x.first_row(b));
    const auto group = rows.group.subspan(first, at(rho.rows()));
    if (rows.outputs.classes.empty()) {
      if (!rows.outputs.rows) g.resize(rho.rows(), 0);
      sums.add(rho, group, g);
    } else {
      sums.add(rho, group, rows.outputs.classes.subspan(first, at(rho.rows())));
    }
  }
};

void check(const LowRankRows& rows) {
  const auto n = at(rows.x.rows());
  if (rows.x.cols() != rows.map.cols())
    internal_error("low-rank sums: {} columns, the map has {}", rows.x.cols(), rows.map.cols());
  if (rows.group.size() != n || (!rows.outputs.classes.empty() && rows.outputs.classes.size() != n))
    internal_error("low-rank sums: {} rows, {} groups, {} classes", n, rows.group.size(), rows.outputs.classes.size());
  for (const std::int32_t g : rows.group)
    if (g < 0 || g >= rows.groups) internal_error("low-rank sums: group {} of {}", g, rows.groups);
  for (const std::int32_t c : rows.outputs.classes)
    if (c < 0 || c >= rows.outputs.count) internal_error("low-rank sums: class {} of {}", c, rows.outputs.count);
  if (n == 0) data_error("no_rows", "low-rank sums: there are no rows");
}

/// Empty sums, shifted by the means of the first block.
LowRankSums begin(const LowRankRows& rows) {
  PartialSums first{LowRankSums()};
  first.read(rows, 0);
  const Index q = rows.outputs.classes.empty() && !rows.outputs.rows ? 0 : rows.outputs.count;
  Vector output_shift = Vector::Zero(q);
  if (rows.outputs.rows) output_shift = first.g.colwise().mean().transpose();
  return {first.rho.colwise().mean().transpose(), rows.groups, std::move(output_shift)};
}

/// If the sums are finite, so is every value: the search runs only if they are not.
void require_finite(const LowRankSums& sums, const LowRankRows& rows, const Context& context) {
  const bool finite = sums.gram.diagonal().allFinite() && sums.group_sum.allFinite() && sums.output_sum.allFinite() &&
                      sums.output_gram.allFinite();
  if (finite) return;
  const NonFinite found = find_non_finite(rows.x, context);
  if (found.row >= 0)
    data_error("non_finite", "low-rank sums: column '{}' is {} in row {}", rows.x.name(found.column),
               std::isnan(found.value) ? "not a number" : "infinite", found.row + 1);
  data_error("non_finite", "low-rank sums: the kernel or the outputs overflow; scale the columns first");
}

}  // namespace

LowRankOutputs LowRankOutputs::of_classes(std::span<const std::int32_t> classes, Index count) {
  return {classes, count, {}};
}

LowRankOutputs LowRankOutputs::of_rows(const Matrix& g) {
  return {{}, g.cols(), [&g](Index first, MatrixView out) { out = g.middleRows(first, out.rows()); }};
}

LowRankOutputs LowRankOutputs::of_map(const LowRankMap& map, const Matrix& y) {
  return {{}, map.rank(), [&map, &y](Index first, MatrixView out) {
            LowRankMap::Workspace workspace;
            map.features(y.middleRows(first, out.rows()), out, workspace);
          }};
}

LowRankSums::LowRankSums(Vector shift_of_rho, Index groups, Vector shift_of_outputs)
    : shift(std::move(shift_of_rho)),
      output_shift(std::move(shift_of_outputs)),
      gram(Matrix::Zero(shift.size(), shift.size())),
      group_sum(Matrix::Zero(groups, shift.size())),
      group_rows(Vector::Zero(groups)),
      output_sum(Matrix::Zero(output_shift.size(), shift.size())),
      output_gram(Matrix::Zero(output_shift.size(), output_shift.size())),
      output_one(Vector::Zero(output_shift.size())) {}

std::size_t LowRankSums::bytes(Index rank, Index groups, Index outputs) {
  const Index vectors = rank + groups + 2 * outputs;
  return (at(rank) * at(rank + groups + outputs) + at(outputs) * at(outputs) + at(vectors)) * sizeof(double);
}

void LowRankSums::add_rows(MatrixView rho, std::span<const std::int32_t> group) {
  if (rho.cols() != rank() || static_cast<Index>(group.size()) != rho.rows())
    internal_error("low-rank sums: a block of {} x {}, {} groups", rho.rows(), rho.cols(), group.size());
  rows += static_cast<double>(rho.rows());
  for (Index i = 0; i < rho.rows(); ++i) {
    const Index d = group[at(i)];
    group_rows[d] += 1;
    shift_and_add(shift.data(), rho.data() + i * rho.outerStride(), group_sum.data() + d * rank(), rank());
  }
  add_gram(rho, gram);
}

void LowRankSums::add(MatrixView rho, std::span<const std::int32_t> group, MatrixView g) {
  if (g.cols() != outputs() || g.rows() != rho.rows())
    internal_error("low-rank sums: outputs of {} x {} for {} columns", g.rows(), g.cols(), outputs());
  add_rows(rho, group);
  if (outputs() == 0) return;
  g.rowwise() -= output_shift.transpose();
  add_transpose_product(g, rho, output_sum);
  add_transpose_product(g, g, output_gram);
  output_one += g.colwise().sum().transpose();
}

void LowRankSums::add(MatrixView rho, std::span<const std::int32_t> group, std::span<const std::int32_t> classes) {
  if (static_cast<Index>(classes.size()) != rho.rows())
    internal_error("low-rank sums: {} classes for {} rows", classes.size(), rho.rows());
  add_rows(rho, group);
  for (Index i = 0; i < rho.rows(); ++i) {
    const Index c = classes[at(i)];
    output_one[c] += 1;
    output_gram(c, c) += 1;
    add_to(rho.data() + i * rho.outerStride(), output_sum.data() + c * rank(), rank());
  }
}

void LowRankSums::merge(const LowRankSums& other) {
  if (other.rank() != rank() || other.groups() != groups() || other.outputs() != outputs())
    data_error("different_sums",
               "low-rank sums: sums of {} features, {} groups and {} outputs cannot be added to sums of {}, {} and {}",
               other.rank(), other.groups(), other.outputs(), rank(), groups(), outputs());
  gram += other.gram;
  group_sum += other.group_sum;
  output_sum += other.output_sum;
  output_gram += other.output_gram;
  output_one += other.output_one;
  group_rows += other.group_rows;
  rows += other.rows;
  // The other's rho minus our shift is its shifted rho + d, and its g is its shifted g + e.
  const Vector d = other.shift - shift;
  const Vector e = other.output_shift - output_shift;
  if (d.isZero(0) && e.isZero(0)) return;
  const Vector sum = other.group_sum.colwise().sum().transpose();
  gram.triangularView<Eigen::Lower>() += sum * d.transpose() + d * sum.transpose() + other.rows * d * d.transpose();
  group_sum += other.group_rows * d.transpose();
  output_sum += other.output_one * d.transpose() + e * sum.transpose() + other.rows * e * d.transpose();
  output_gram += other.output_one * e.transpose() + e * other.output_one.transpose() + other.rows * e * e.transpose();
  output_one += other.rows * e;
}

LowRankSums gather_low_rank_sums(const LowRankRows& rows, const Context& context) {
  check(rows);
  const Index q = rows.outputs.classes.empty() && !rows.outputs.rows ? 0 : rows.outputs.count;
  // The summation tree keeps a few sums alive in addition to those of the threads; each thread has a block of features.
  const auto threads = at(context.threads());
  const std::size_t bytes = LowRankSums::bytes(rows.map.rank(), rows.groups, q) * (threads + 6) +
                            threads * at(rows.x.block_rows()) * at(rows.map.rank() + rows.x.cols()) * sizeof(double);
  require_memory(bytes, "low-rank sums", fmt::format("sums of rank {} over {} groups", rows.map.rank(), rows.groups),
                 "use a lower rank");
  const PartialSums zero(begin(rows));
  LowRankSums sums =
      sum_rows(rows.x.blocks(), context, zero, [&](PartialSums& partial, Index b) { partial.add(rows, b); }).sums;
  require_finite(sums, rows, context);
  return sums;
}

}  // namespace ecotone
