#include "ecotone/data/storage/csr_storage.h"

#include <algorithm>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"

namespace ecotone {

namespace {

constexpr Index rows_per_task = 4096;  // for loops over the stored values alone

void check(const Csr& x) {
  const auto entries = static_cast<Index>(x.value.size());
  if (x.rows < 0 || x.cols < 0 || static_cast<Index>(x.row_start.size()) != x.rows + 1 ||
      x.column.size() != x.value.size() || x.row_start.front() != 0 || x.row_start.back() != entries) {
    internal_error("features: sparse arrays of {} rows do not fit together ({} starts, {} columns, {} values)", x.rows,
                   x.row_start.size(), x.column.size(), x.value.size());
  }
  for (std::size_t i = 0; i + 1 < x.row_start.size(); ++i) {
    if (x.row_start[i] > x.row_start[i + 1] || x.row_start[i + 1] > entries)
      internal_error("features: sparse row {} ends before it begins", i);
    Index previous = -1;
    for (Index k = x.row_start[i]; k < x.row_start[i + 1]; ++k) {
      const Index column = x.column[at(k)];
      if (column <= previous || column >= x.cols) internal_error("features: column {} of sparse row {}", column, i);
      previous = column;
    }
  }
}

Index stored(const Csr& x, Index row) {
  const auto i = static_cast<std::size_t>(row);
  return x.row_start[i + 1] - x.row_start[i];
}

/// Calls body(first, last) for ranges of rows on all threads.
template <class Body>
void over_rows(Index rows, const Context& context, Body&& body) {
  context.parallel((rows + rows_per_task - 1) / rows_per_task,
                   [&](Index t) { body(t * rows_per_task, std::min(rows, (t + 1) * rows_per_task)); });
}

void require_csr_memory(Index rows, Index entries) {
  const auto bytes = static_cast<std::size_t>(rows + 1) * sizeof(Index) +
                     static_cast<std::size_t>(entries) * (sizeof(double) + sizeof(std::int32_t));
  require_memory(bytes, "features", "a sparse copy", "use fewer rows or columns");
}

/// Where each old column goes: positions[start[c]] .. positions[start[c + 1]], ascending.
struct ColumnMoves {
  std::vector<Index> start;
  std::vector<std::int32_t> position;
};

ColumnMoves column_moves(Index old_cols, std::span<const Index> columns) {
  ColumnMoves moves{std::vector<Index>(static_cast<std::size_t>(old_cols) + 1, 0), {}};
  for (const Index c : columns)
    if (c >= 0) ++moves.start[at(c) + 1];
  for (std::size_t c = 0; c + 1 < moves.start.size(); ++c) moves.start[c + 1] += moves.start[c];
  moves.position.resize(static_cast<std::size_t>(moves.start.back()));
  auto next = moves.start;
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j] >= 0) moves.position[at(next[at(columns[j])]++)] = static_cast<std::int32_t>(j);
  return moves;
}

}  // namespace

CsrStorage::CsrStorage(Csr x) : x_(std::move(x)) { check(x_); }

RowBlock CsrStorage::block(Index b, Scratch& scratch) const {
  const Index first = b * block_rows();
  const Index count = std::min(block_rows(), rows() - first);
  auto out = scratch.reserve(count, cols());
  out.setZero();
  for (Index i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(first + i);
    for (auto k = static_cast<std::size_t>(x_.row_start[row]); k < static_cast<std::size_t>(x_.row_start[row + 1]); ++k)
      out(i, x_.column[k]) = x_.value[k];
  }
  return {first, ConstMatrixMap(out.data(), count, cols(), Eigen::OuterStride<>(out.outerStride()))};
}

void CsrStorage::multiply(Index b, ConstMatrixView w, MatrixView out) const {
  csr_multiply(x_, b * block_rows(), w, out);
}

void CsrStorage::multiply_transposed(Index b, ConstMatrixView v, MatrixView acc) const {
  csr_multiply_transposed(x_, b * block_rows(), v, acc);
}

std::shared_ptr<const FeatureStorage> CsrStorage::take(std::span<const Index> rows) const {
  Index entries = 0;
  for (const Index row : rows) entries += stored(x_, row);
  require_csr_memory(static_cast<Index>(rows.size()), entries);
  Csr out;
  out.rows = static_cast<Index>(rows.size());
  out.cols = x_.cols;
  out.row_start.reserve(rows.size() + 1);
  out.row_start.push_back(0);
  out.column.reserve(static_cast<std::size_t>(entries));
  out.value.reserve(static_cast<std::size_t>(entries));
  for (const Index row : rows) {
    const Index begin = x_.row_start[at(row)];
    const Index end = x_.row_start[at(row) + 1];
    out.column.insert(out.column.end(), x_.column.begin() + begin, x_.column.begin() + end);
    out.value.insert(out.value.end(), x_.value.begin() + begin, x_.value.begin() + end);
    out.row_start.push_back(static_cast<Index>(out.value.size()));
  }
  return std::make_shared<CsrStorage>(std::move(out));
}

namespace {

/// Sum of value[k] w[column[k]]; four independent sums do not wait for each other.
double gather(const double* value, const std::int32_t* column, std::size_t count, const double* w) {
  double a = 0, b = 0, c = 0, d = 0;
  std::size_t k = 0;
  for (; k + 4 <= count; k += 4) {
    a += value[k] * w[column[k]];
    b += value[k + 1] * w[column[k + 1]];
    c += value[k + 2] * w[column[k + 2]];
    d += value[k + 3] * w[column[k + 3]];
  }
  for (; k < count; ++k) a += value[k] * w[column[k]];
  return (a + b) + (c + d);
}

}  // namespace

void csr_multiply(const Csr& x, Index first, ConstMatrixView w, MatrixView out) {
  const bool vector = w.cols() == 1 && w.outerStride() == 1;
  for (Index i = 0; i < out.rows(); ++i) {
    const auto row = static_cast<std::size_t>(first + i);
    const auto begin = static_cast<std::size_t>(x.row_start[row]);
    const auto end = static_cast<std::size_t>(x.row_start[row + 1]);
    if (vector) {
      out(i, 0) = gather(x.value.data() + begin, x.column.data() + begin, end - begin, w.data());
    } else {
      out.row(i).setZero();
      for (std::size_t k = begin; k < end; ++k) out.row(i) += x.value[k] * w.row(x.column[k]);
    }
  }
}

void csr_multiply_transposed(const Csr& x, Index first, ConstMatrixView v, MatrixView acc) {
  const bool vector = v.cols() == 1 && acc.outerStride() == 1;
  for (Index i = 0; i < v.rows(); ++i) {
    const auto row = static_cast<std::size_t>(first + i);
    const auto begin = static_cast<std::size_t>(x.row_start[row]);
    const auto end = static_cast<std::size_t>(x.row_start[row + 1]);
    if (vector) {
      const double factor = v(i, 0);
      double* sum = acc.data();
      const double* value = x.value.data();
      const std::int32_t* column = x.column.data();
      for (std::size_t k = begin; k < end; ++k) sum[column[k]] += value[k] * factor;
    } else {
      for (std::size_t k = begin; k < end; ++k) acc.row(x.column[k]) += x.value[k] * v.row(i);
    }
  }
}

Csr csr_head(const Csr& x, Index rows) {
  const Index entries = x.row_start[at(rows)];
  require_csr_memory(rows, entries);
  return {rows,
          x.cols,
          {x.row_start.begin(), x.row_start.begin() + rows + 1},
          {x.column.begin(), x.column.begin() + entries},
          {x.value.begin(), x.value.begin() + entries}};
}

Csr csr_columns(const Csr& x, std::span<const Index> columns, const Context& context) {
  const ColumnMoves moves = column_moves(x.cols, columns);
  auto copies = [&](Index k) {
    const auto c = static_cast<std::size_t>(x.column[at(k)]);
    return std::pair{moves.start[c], moves.start[c + 1]};
  };
  Csr out{x.rows, static_cast<Index>(columns.size()), std::vector<Index>(x.row_start.size(), 0), {}, {}};
  over_rows(x.rows, context, [&](Index first, Index last) {
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
      for (Index k = x.row_start[i]; k < x.row_start[i + 1]; ++k)
        out.row_start[i + 1] += copies(k).second - copies(k).first;
  });
  for (std::size_t i = 0; i + 1 < out.row_start.size(); ++i) out.row_start[i + 1] += out.row_start[i];
  require_csr_memory(out.rows, out.row_start.back());
  out.column.resize(static_cast<std::size_t>(out.row_start.back()));
  out.value.resize(out.column.size());
  over_rows(x.rows, context, [&](Index first, Index last) {
    std::vector<std::pair<std::int32_t, double>> entries;
    for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i) {
      entries.clear();
      for (Index k = x.row_start[i]; k < x.row_start[i + 1]; ++k)
        for (auto [p, end] = copies(k); p < end; ++p) entries.emplace_back(moves.position[at(p)], x.value[at(k)]);
      std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      auto slot = static_cast<std::size_t>(out.row_start[i]);
      for (const auto& [column, value] : entries) {
        out.column[slot] = column;
        out.value[slot++] = value;
      }
    }
  });
  return out;
}

Csr csr_scaled(const Csr& x, ConstVectorView factor, const Context& context) {
  require_csr_memory(x.rows, x.row_start.back());
  Csr out = x;
  over_rows(x.rows, context, [&](Index first, Index last) {
    const auto end = static_cast<std::size_t>(x.row_start[at(last)]);
    for (auto k = static_cast<std::size_t>(x.row_start[at(first)]); k < end; ++k) out.value[k] *= factor[out.column[k]];
  });
  return out;
}

}  // namespace ecotone
