#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ecotone/solve/linear/risk.h"

namespace ecotone {

/// d -> d'H d / 2 with H = Z_A' diag(c) Z_A on the active columns A, as coordinate descent needs it; d starts at 0.
class QuadraticModel {
 public:
  virtual ~QuadraticModel() = default;
  /// H_kk
  virtual double curvature(Index k) const = 0;
  /// (H d)_k
  virtual double slope(Index k) const = 0;
  /// d_k += step
  virtual void move(Index k, double step) = 0;
};

/// A model with H formed from every `stride`-th block of rows.
std::unique_ptr<QuadraticModel> gram_model(const Standardised& design, std::span<const Index> active, ConstVectorView c,
                                           Index stride, const Context& context);

/// Columns of a sparse design, copied by column; grows when others are requested.
class ColumnStore {
 public:
  explicit ColumnStore(const Standardised& design) : design_(design) {}
  /// Ensures that these columns are present; if some are missing, those that may be requested soon are copied with
  /// them. Memory is checked first.
  void require(std::span<const Index> columns, std::span<const Index> soon);

  /// Entries [first, last) of a column of Z other than the column of ones.
  std::pair<Index, Index> entries(Index column) const;
  std::span<const std::int32_t> row() const { return row_; }
  std::span<const double> value() const { return value_; }
  Index rows() const { return design_.rows(); }
  /// Whether this is the column of ones.
  bool is_offset(Index column) const { return column == design_.scale().size(); }

 private:
  void count(const std::vector<Index>& columns);
  void fill();

  const Standardised& design_;
  std::vector<std::int32_t> place_;  // position of each column of the features; -1: absent
  std::vector<Index> start_;
  std::vector<std::int32_t> row_;
  std::vector<double> value_;
};

/// A model with the active columns, which must be in the store, times the root of c.
std::unique_ptr<QuadraticModel> column_model(const ColumnStore& store, std::span<const Index> active,
                                             ConstVectorView c);

}  // namespace ecotone
