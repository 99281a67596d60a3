#include "ecotone/solve/linear/quadratic_model.h"

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "ecotone/base/memory.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

class GramModel final : public QuadraticModel {
 public:
  explicit GramModel(Matrix gram) : gram_(std::move(gram)), slope_(Vector::Zero(gram_.rows())) {}

  double curvature(Index k) const override { return gram_(k, k); }
  double slope(Index k) const override { return slope_[k]; }
  void move(Index k, double step) override { slope_ += step * gram_.row(k).transpose(); }

 private:
  Matrix gram_;
  Vector slope_;
};

class ColumnModel final : public QuadraticModel {
 public:
  ColumnModel(const ColumnStore& store, std::span<const Index> active, ConstVectorView c)
      : store_(store),
        curvature_(static_cast<Index>(active.size())),
        image_(Vector::Zero(store.rows())),
        root_(c.cwiseMax(0.0).cwiseSqrt()),
        scaled_(store.value().size()) {
    column_.reserve(active.size());
    for (std::size_t k = 0; k < active.size(); ++k) {
      if (store.is_offset(active[k])) {
        ones_ = static_cast<Index>(k);
        column_.emplace_back(0, 0);
        curvature_[ones_] = root_.squaredNorm();
        continue;
      }
      column_.push_back(store.entries(active[k]));
      curvature_[static_cast<Index>(k)] = scale(column_.back());
    }
  }

  double curvature(Index k) const override { return curvature_[k]; }

  double slope(Index k) const override {
    if (k == ones_) return root_.dot(image_);
    const auto& range = column_[at(k)];
    const std::int32_t* row = store_.row().data();
    const float* value = scaled_.data();
    const double* image = image_.data();
    // Four independent sums do not wait for each other.
    double sum[4] = {0, 0, 0, 0};
    Index e = range.first;
    for (; e + 4 <= range.second; e += 4) {
      for (Index lane = 0; lane < 4; ++lane) sum[lane] += static_cast<double>(value[e + lane]) * image[row[e + lane]];
    }
    for (; e < range.second; ++e) sum[0] += static_cast<double>(value[e]) * image[row[e]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
  }

  void move(Index k, double step) override {
    if (k == ones_) {
      image_ += step * root_;
      return;
    }
    const auto& range = column_[at(k)];
    const std::int32_t* row = store_.row().data();
    for (Index e = range.first; e < range.second; ++e) image_[row[e]] += step * scaled_[at(e)];
  }

 private:
  /// Scales a column; returns its squared norm.
  double scale(const std::pair<Index, Index>& range) {
    double sum = 0;
    for (Index e = range.first; e < range.second; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const auto value = static_cast<float>(store_.value()[at] * root_[store_.row()[at]]);
      scaled_[at] = value;
      sum += static_cast<double>(value) * static_cast<double>(value);
    }
    return sum;
  }

  const ColumnStore& store_;
  std::vector<std::pair<Index, Index>> column_;
  Vector curvature_;
  Vector image_;  // diag(root c) Z d
  Vector root_;
  // A model is an approximation: seven digits are enough, and halve the memory to read.
  std::vector<float> scaled_;
  Index ones_ = -1;  // position of the offset
};

}  // namespace

void ColumnStore::require(std::span<const Index> columns, std::span<const Index> soon) {
  const Index p = design_.scale().size();
  if (place_.empty()) place_.assign(static_cast<std::size_t>(p), -1);
  bool all = true;
  std::vector<Index> wanted;
  for (const Index j : columns) all = all && (j == p || place_[at(j)] >= 0);
  if (all) return;
  for (const Index j : columns) {
    if (j < p) place_[at(j)] = 0;
  }
  for (const Index j : soon) place_[at(j)] = 0;
  for (Index j = 0; j < p; ++j) {
    if (place_[at(j)] >= 0) wanted.push_back(j);
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) place_[at(wanted[k])] = static_cast<std::int32_t>(k);
  count(wanted);
  fill();
}

std::pair<Index, Index> ColumnStore::entries(Index column) const {
  const auto k = static_cast<std::size_t>(place_[at(column)]);
  return {start_[k], start_[k + 1]};
}

void ColumnStore::count(const std::vector<Index>& columns) {
  const Csr& x = design_.csr();
  start_.assign(columns.size() + 1, 0);
  const auto stored = static_cast<std::size_t>(x.row_start[at(design_.rows())]);
  for (std::size_t e = 0; e < stored; ++e) {
    const std::int32_t k = place_[at(x.column[e])];
    if (k >= 0) ++start_[at(k) + 1];
  }
  for (std::size_t k = 0; k + 1 < start_.size(); ++k) start_[k + 1] += start_[k];
  const auto size = static_cast<std::size_t>(start_.back());
  require_memory(size * (sizeof(double) + sizeof(float) + sizeof(std::int32_t)), "linear model", "the active columns",
                 "use a larger l1");
  row_.clear();
  value_.clear();
  row_.reserve(size);
  value_.reserve(size);
  // They are filled in scattered order: small pages would cost more than the copy itself.
  prefer_large_pages(row_.data(), size * sizeof(std::int32_t));
  prefer_large_pages(value_.data(), size * sizeof(double));
  row_.resize(size);
  value_.resize(size);
}

void ColumnStore::fill() {
  const Csr& x = design_.csr();
  std::vector<Index> next(start_.begin(), start_.end() - 1);
  for (Index i = 0; i < design_.rows(); ++i) {
    const auto end = static_cast<std::size_t>(x.row_start[at(i) + 1]);
    for (auto e = static_cast<std::size_t>(x.row_start[at(i)]); e < end; ++e) {
      const std::int32_t k = place_[at(x.column[e])];
      if (k < 0) continue;
      const auto slot = static_cast<std::size_t>(next[at(k)]++);
      row_[slot] = static_cast<std::int32_t>(i);
      value_[slot] = x.value[e] * design_.inverse()[x.column[e]];
    }
  }
}

std::unique_ptr<QuadraticModel> gram_model(const Standardised& design, std::span<const Index> active, ConstVectorView c,
                                           Index stride, const Context& context) {
  Matrix gram = weighted_gram(design, active, c, stride, context);
  mirror_lower(gram);
  return std::make_unique<GramModel>(std::move(gram));
}

std::unique_ptr<QuadraticModel> column_model(const ColumnStore& store, std::span<const Index> active,
                                             ConstVectorView c) {
  return std::make_unique<ColumnModel>(store, active, c);
}

}  // namespace ecotone
