#include "ecotone/data/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/storage/csr_storage.h"
#include "ecotone/data/storage/dense_storage.h"
#include "ecotone/data/storage/derived_storage.h"
#include "ecotone/data/storage/subset_storage.h"
#include "ecotone/linalg/products.h"
#include "ecotone/linalg/row_product.h"

namespace ecotone {

namespace {

std::size_t dense_bytes(Index rows, Index cols) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols) * sizeof(double);
}

/// First value of a block that is not finite; rows are counted from `first`.
NonFinite first_non_finite(const ConstMatrixMap& x, Index first) {
  // 0 x is 0, or NaN where x is not finite: a sum over a row takes whole registers at a time.
  double sum = 0;
  for (Index i = 0; i < x.rows(); ++i) sum += (0.0 * x.row(i).array()).sum();
  if (sum == 0) return {};
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j)
      if (!std::isfinite(x(i, j))) return {first + i, j, x(i, j)};
  return {};
}

/// The same among the stored values of sparse rows [first, last).
NonFinite first_non_finite(const Csr& x, Index first, Index last) {
  for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
    for (auto k = static_cast<std::size_t>(x.row_start[i]); k < static_cast<std::size_t>(x.row_start[i + 1]); ++k)
      if (!std::isfinite(x.value[k])) return {static_cast<Index>(i), x.column[k], x.value[k]};
  return {};
}

/// Positions in a list of rows, ordered by the row, so that every block is read once.
std::vector<Index> ascending(std::span<const Index> rows) {
  std::vector<Index> order(rows.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return rows[at(a)] < rows[at(b)]; });
  return order;
}

void require_rows_of(const Features& x, std::span<const Index> chosen) {
  for (const Index row : chosen)
    if (row < 0 || row >= x.rows()) internal_error("features: row {} of {}", row, x.rows());
}

}  // namespace

MatrixView Scratch::reserve(Index rows, Index cols) {
  if (dense.cols() != cols || dense.rows() < rows) dense.resize(rows, cols);
  return dense.topRows(rows);
}

Scratch& Scratch::nested() {
  if (!inner) inner = std::make_unique<Scratch>();
  return *inner;
}

Index block_rows_for(Index cols) {
  constexpr Index values = Index{1} << 20;  // 8 MB
  return std::clamp<Index>(values / std::max<Index>(cols, 1), 16, 512);
}

void FeatureStorage::multiply(Index b, ConstMatrixView w, MatrixView out) const {
  Scratch scratch;
  multiply_rows(block(b, scratch).x, w, out);
}

void FeatureStorage::multiply_transposed(Index b, ConstMatrixView v, MatrixView acc) const {
  Scratch scratch;
  add_transpose_product(block(b, scratch).x, v, acc);
}

std::shared_ptr<const FeatureStorage> FeatureStorage::take(std::span<const Index> rows) const {
  require_memory(dense_bytes(static_cast<Index>(rows.size()), cols()), "features", "a copy of the chosen rows",
                 "use fewer rows or columns");
  Matrix out(static_cast<Index>(rows.size()), cols());
  prefer_large_pages(out.data(), dense_bytes(out.rows(), out.cols()));
  Scratch scratch;
  if (std::is_sorted(rows.begin(), rows.end())) {
    gather_rows(*this, rows, out, scratch);
    return std::make_shared<DenseStorage>(std::move(out));
  }
  std::optional<RowBlock> current;
  for (const Index place : ascending(rows)) {
    const Index row = rows[at(place)];
    if (!current || row >= current->first + current->x.rows()) current.emplace(block(row / block_rows(), scratch));
    out.row(place) = current->x.row(row - current->first);
  }
  return std::make_shared<DenseStorage>(std::move(out));
}

Features::Features() : Features(std::make_shared<DenseStorage>(Matrix(0, 0)), {}) {}

Features::Features(std::shared_ptr<const FeatureStorage> storage, std::vector<std::string> names)
    : storage_(std::move(storage)), names_(std::make_shared<const std::vector<std::string>>(std::move(names))) {
  if (!names_->empty() && static_cast<Index>(names_->size()) != cols())
    internal_error("features: {} names for {} columns", names_->size(), cols());
}

Features Features::with_storage(std::shared_ptr<const FeatureStorage> storage) const {
  if (storage->cols() != cols()) internal_error("features: {} columns in place of {}", storage->cols(), cols());
  Features result = *this;
  result.storage_ = std::move(storage);
  return result;
}

Features Features::dense(Matrix x, std::vector<std::string> names) {
  return Features(std::make_shared<DenseStorage>(std::move(x)), std::move(names));
}

Features Features::sparse(Csr x, std::vector<std::string> names) {
  return Features(std::make_shared<CsrStorage>(std::move(x)), std::move(names));
}

Features Features::take(std::span<const Index> chosen) const {
  require_rows_of(*this, chosen);
  // All rows in order: the same features, not a copy.
  bool all = static_cast<Index>(chosen.size()) == rows();
  for (std::size_t i = 0; all && i < chosen.size(); ++i) all = chosen[i] == static_cast<Index>(i);
  if (all) return *this;
  return with_storage(storage_->take(chosen));
}

Matrix Features::copy(std::span<const Index> chosen) const {
  constexpr std::size_t together = 4096;
  require_rows_of(*this, chosen);
  require_memory(dense_bytes(static_cast<Index>(chosen.size()), cols()), "features", "a copy of the chosen rows",
                 "use fewer rows or columns");
  Matrix out(static_cast<Index>(chosen.size()), cols());
  const std::vector<Index> order = ascending(chosen);
  // In parts, so that rows that are derived from others do not need all of those at once.
  for (std::size_t first = 0; first < order.size(); first += together) {
    const auto part = std::span(order).subspan(first, std::min(together, order.size() - first));
    std::vector<Index> rows;
    for (const Index place : part) rows.push_back(chosen[at(place)]);
    const Features taken = with_storage(storage_->take(rows));
    Scratch scratch;
    for (Index b = 0; b < taken.blocks(); ++b) {
      const RowBlock block = taken.block(b, scratch);
      for (Index i = 0; i < block.x.rows(); ++i) out.row(part[at(block.first + i)]) = block.x.row(i);
    }
  }
  return out;
}

Features Features::head(Index count) const {
  if (count < 0 || count > rows()) internal_error("features: the first {} rows of {}", count, rows());
  return count == rows() ? *this : with_storage(std::make_shared<HeadStorage>(storage_, count));
}

Features Features::columns(std::span<const Index> chosen, std::vector<std::string> names,
                           const Context& context) const {
  for (const Index column : chosen)
    if (column < -1 || column >= cols()) internal_error("features: column {} of {}", column, cols());
  if (const Csr* csr = storage_->csr()) return sparse(csr_columns(*csr, chosen, context), std::move(names));
  auto select = [list = std::vector<Index>(chosen.begin(), chosen.end())](ConstMatrixMap x, MatrixView out) {
    for (Index i = 0; i < out.rows(); ++i)
      for (Index j = 0; j < out.cols(); ++j) {
        const Index from = list[at(j)];
        out(i, j) = from < 0 ? 0.0 : x(i, from);
      }
  };
  return map(static_cast<Index>(chosen.size()), std::move(names), std::move(select), context);
}

Features Features::map(Index new_cols, std::vector<std::string> names, BlockMap map, const Context& context) const {
  auto derived = std::make_shared<DerivedStorage>(storage_, new_cols, std::move(map));
  // A megabyte is there; to ask how much memory there is would take longer than to compute it.
  const std::size_t bytes = dense_bytes(rows(), new_cols);
  if (storage_->resident() && (bytes <= std::size_t{1} << 20 || bytes <= available_memory() / 2))
    return dense(derived->compute_all(context), std::move(names));
  return Features(std::move(derived), std::move(names));
}

Features Features::scaled(ConstVectorView factor, const Context& context) const {
  if (factor.size() != cols()) internal_error("features: {} factors for {} columns", factor.size(), cols());
  if (const Csr* csr = storage_->csr())
    return with_storage(std::make_shared<CsrStorage>(csr_scaled(*csr, factor, context)));
  auto scale = [f = Eigen::RowVectorXd(factor.transpose())](ConstMatrixMap x, MatrixView out) {
    out = x.array().rowwise() * f.array();
  };
  return with_storage(map(cols(), {}, std::move(scale), context).storage_);
}

std::string Features::name(Index column) const {
  return names_->empty() ? fmt::format("x{}", column + 1) : (*names_)[at(column)];
}

std::vector<std::string> Features::names() const {
  if (!names_->empty()) return *names_;
  std::vector<std::string> made;
  made.reserve(static_cast<std::size_t>(cols()));
  for (Index j = 0; j < cols(); ++j) made.push_back(name(j));
  return made;
}

Matrix Features::to_matrix() const {
  require_memory(dense_bytes(rows(), cols()), "features", "a dense copy", "use fewer rows or columns");
  Matrix out(rows(), cols());
  Scratch scratch;
  for (Index b = 0; b < blocks(); ++b) out.middleRows(first_row(b), rows_in(b)) = block(b, scratch).x;
  return out;
}

NonFinite find_non_finite(const Features& x, const Context& context) {
  // The first block known to contain one; later blocks need not be read, earlier ones must.
  std::atomic<Index> lowest{x.blocks()};
  const Csr* csr = x.storage().csr();
  return sum_rows(x.blocks(), context, NonFinite{}, [&](NonFinite& found, Index b) {
    if (found.row >= 0 || b > lowest.load(std::memory_order_relaxed)) return;
    NonFinite here;
    if (csr) {
      here = first_non_finite(*csr, x.first_row(b), x.first_row(b) + x.rows_in(b));
    } else {
      Scratch scratch;
      const RowBlock block = x.block(b, scratch);
      here = first_non_finite(block.x, block.first);
    }
    if (here.row < 0) return;
    found = here;
    Index seen = lowest.load(std::memory_order_relaxed);
    while (b < seen && !lowest.compare_exchange_weak(seen, b, std::memory_order_relaxed)) {
    }
  });
}

}  // namespace ecotone
