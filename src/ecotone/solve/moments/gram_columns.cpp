#include "ecotone/solve/moments/gram_columns.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/moments/gram_fill.h"

namespace ecotone {
namespace {

/// The labelled group of each labelled row, by its position among the labelled groups.
std::vector<std::int32_t> places(const MomentRows& rows, const std::vector<Index>& labelled) {
  std::vector<std::int32_t> place(rows.group_names.size(), -1);
  for (std::size_t d = 0; d < labelled.size(); ++d) place[at(labelled[d])] = static_cast<std::int32_t>(d);
  std::vector<std::int32_t> result(at(rows.y.size()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = place[at(rows.group[i])];
  return result;
}

Vector inverse_weights(const Moments& moments, const std::vector<Index>& labelled) {
  Vector result(static_cast<Index>(labelled.size()));
  for (std::size_t d = 0; d < labelled.size(); ++d) result[static_cast<Index>(d)] = 1.0 / moments.weight[labelled[d]];
  return result;
}

class FromGrams final : public GramColumns {
 public:
  explicit FromGrams(const Moments& moments)
      : GramColumns(static_cast<Index>(labelled_list(moments).size()), moments.cols()),
        moments_(moments),
        labelled_(labelled_list(moments)) {}

 private:
  const Moments& moments_;
  std::vector<Index> labelled_;

  std::vector<Matrix> compute(std::span<const Index> columns, const Context&) const override {
    std::vector<Matrix> result;
    for (const Index j : columns) {
      Matrix& column = result.emplace_back(groups_, cols_);
      for (Index d = 0; d < groups_; ++d) moments_.gram_column(labelled_[at(d)], j, column.row(d).data());
    }
    return result;
  }
};

class FromDenseRows final : public GramColumns {
 public:
  FromDenseRows(const MomentRows& rows, const Moments& moments)
      : GramColumns(static_cast<Index>(labelled_list(moments).size()), moments.cols()),
        rows_(rows),
        place_(places(rows, labelled_list(moments))),
        inverse_(inverse_weights(moments, labelled_list(moments))) {}

  Index batch() const override { return std::clamp<Index>((Index{1} << 23) / (groups_ * cols_), 1, 16); }

 private:
  MomentRows rows_;
  std::vector<std::int32_t> place_;
  Vector inverse_;

  /// Computes the columns in passes, each with few enough columns that the partial sums stay small.
  std::vector<Matrix> compute(std::span<const Index> columns, const Context& context) const override {
    std::vector<Matrix> result;
    for (std::size_t first = 0; first < columns.size(); first += at(batch())) {
      const auto some = columns.subspan(first, std::min(at(batch()), columns.size() - first));
      for (Matrix& column : pass(some, context)) result.push_back(std::move(column));
    }
    return result;
  }

  /// Rows [d k, d k + k) of the sum are the k columns of group d.
  std::vector<Matrix> pass(std::span<const Index> columns, const Context& context) const {
    const auto k = static_cast<Index>(columns.size());
    const Index block_rows = rows_.x.block_rows();
    const Index blocks = (static_cast<Index>(place_.size()) + block_rows - 1) / block_rows;
    const Matrix sum = sum_blocks(blocks, context, Matrix(Matrix::Zero(groups_ * k, cols_)), [&](Matrix& acc, Index b) {
      Scratch scratch;
      add_block(acc, rows_.x.block(b, scratch), columns);
    });
    std::vector<Matrix> result(columns.size(), Matrix(groups_, cols_));
    for (Index c = 0; c < k; ++c)
      for (Index d = 0; d < groups_; ++d) result[at(c)].row(d) = inverse_[d] * sum.row(d * k + c);
    return result;
  }

  /// Adds (w x_S)' x of the rows of each group. Adjacent rows of one group are used in place, others are gathered
  /// first.
  void add_block(Matrix& acc, const RowBlock& block, std::span<const Index> columns) const {
    const Index count = std::min(block.x.rows(), static_cast<Index>(place_.size()) - block.first);
    const auto k = static_cast<Index>(columns.size());
    std::vector<Index> order(at(count));
    std::iota(order.begin(), order.end(), Index{0});
    const auto group = [&](Index i) { return place_[at(block.first + i)]; };
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return group(a) < group(b); });
    Matrix chosen(count, k);
    for (Index i = 0; i < count; ++i) {
      const Index row = order[at(i)];
      const double w = weight_of(rows_, block.first + row);
      for (Index c = 0; c < k; ++c) chosen(i, c) = w * block.x(row, columns[at(c)]);
    }
    Matrix panel;
    for (Index first = 0; first < count;) {
      const Index d = group(order[at(first)]);
      Index last = first + 1;
      while (last < count && group(order[at(last)]) == d) ++last;
      const Index rows = last - first;
      const bool together = order[at(last - 1)] - order[at(first)] == rows - 1;
      if (!together) {
        panel.resize(rows, cols_);
        for (Index i = 0; i < rows; ++i) panel.row(i) = block.x.row(order[at(first + i)]);
      }
      const ConstMatrixMap x = together ? ConstMatrixMap(block.x.data() + order[at(first)] * block.x.outerStride(),
                                                         rows, cols_, Eigen::OuterStride<>(block.x.outerStride()))
                                        : ConstMatrixMap(panel.data(), rows, cols_, Eigen::OuterStride<>(cols_));
      add_transpose_product(chosen.middleRows(first, rows), x, acc.middleRows(d * k, k));
      first = last;
    }
  }
};

/// Sparse rows, with an index of the rows in which each column occurs: a new column costs the entries of those rows.
class FromSparseRows final : public GramColumns {
 public:
  FromSparseRows(const MomentRows& rows, const Csr& csr, const Moments& moments)
      : GramColumns(static_cast<Index>(labelled_list(moments).size()), moments.cols()),
        rows_(rows),
        csr_(csr),
        place_(places(rows, labelled_list(moments))),
        inverse_(inverse_weights(moments, labelled_list(moments))) {
    const auto entries = at(csr.row_start[place_.size()]);
    require_memory(entries * (sizeof(std::int32_t) + sizeof(double)) + (at(cols_) + 1) * 2 * sizeof(Index), "select",
                   "an index of the sparse columns", "use fewer rows or columns");
    start_.assign(at(cols_) + 1, 0);
    for (std::size_t k = 0; k < entries; ++k) ++start_[at(csr.column[k]) + 1];
    std::partial_sum(start_.begin(), start_.end(), start_.begin());
    row_.resize(entries);
    value_.resize(entries);
    std::vector<Index> next(start_.begin(), start_.end() - 1);
    for (std::size_t i = 0; i < place_.size(); ++i) {
      for (auto k = at(csr.row_start[i]); k < at(csr.row_start[i + 1]); ++k) {
        const auto place = at(next[at(csr.column[k])]++);
        row_[place] = static_cast<std::int32_t>(i);
        value_[place] = csr.value[k];
      }
    }
  }

 private:
  MomentRows rows_;
  const Csr& csr_;
  std::vector<std::int32_t> place_;
  Vector inverse_;
  std::vector<Index> start_;  ///< start of each column in row_ and value_
  std::vector<std::int32_t> row_;
  std::vector<double> value_;

  std::vector<Matrix> compute(std::span<const Index> columns, const Context& context) const override {
    std::vector<Matrix> result(columns.size());
    context.parallel(static_cast<Index>(columns.size()), [&](Index c) {
      Matrix sum = Matrix::Zero(groups_, cols_);
      const auto j = at(columns[at(c)]);
      for (auto e = at(start_[j]); e < at(start_[j + 1]); ++e) {
        const auto i = static_cast<std::size_t>(row_[e]);
        const Index d = place_[i];
        const double factor = inverse_[d] * weight_of(rows_, row_[e]) * value_[e];
        double* out = sum.row(d).data();
        for (auto k = at(csr_.row_start[i]); k < at(csr_.row_start[i + 1]); ++k)
          out[csr_.column[k]] += factor * csr_.value[k];
      }
      result[at(c)] = std::move(sum);
    });
    return result;
  }
};

}  // namespace

void GramColumns::fetch(std::span<const Index> wanted, const Context& context) {
  std::vector<Index> missing;
  for (const Index j : wanted)
    if (!has(j) && std::find(missing.begin(), missing.end(), j) == missing.end()) missing.push_back(j);
  if (missing.empty()) return;
  const std::size_t bytes = missing.size() * at(groups_) * at(cols_) * sizeof(double);
  // Small allocations are not worth the check, which reads a system file.
  if (bytes > (std::size_t{16} << 20))
    require_memory(2 * bytes, "select", "columns of the Gram matrices", "use fewer steps, columns or domains");
  std::vector<Matrix> made = compute(missing, context);
  for (std::size_t c = 0; c < missing.size(); ++c) kept_.emplace(missing[c], std::move(made[c]));
}

std::unique_ptr<GramColumns> columns_of_grams(const Moments& moments) { return std::make_unique<FromGrams>(moments); }

std::unique_ptr<GramColumns> columns_of_rows(const MomentRows& rows, const Moments& moments) {
  if (const Csr* csr = rows.x.storage().csr()) return std::make_unique<FromSparseRows>(rows, *csr, moments);
  return std::make_unique<FromDenseRows>(rows, moments);
}

std::vector<Index> labelled_list(const Moments& moments) {
  std::vector<Index> list;
  for (Index g = 0; g < moments.group_count(); ++g)
    if (moments.labelled[at(g)] != 0) list.push_back(g);
  return list;
}

}  // namespace ecotone
