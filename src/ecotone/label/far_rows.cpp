#include "ecotone/label/far_rows.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ecotone/base/memory.h"
#include "ecotone/base/numbers.h"

namespace ecotone {
namespace {

constexpr Index most_directions = 32;
constexpr Index most_beside = 256;         // labelled rows that are not of the pool
constexpr Index scale_values = 1'000'000;  // that means and deviations are taken from
constexpr double farthest = 3;             // standard deviations
constexpr Index rows_at_once = 1024;       // of the pool, so that they stay in the cache while labels pass by

std::vector<Index> every_row(Index rows) {
  std::vector<Index> all(at(rows));
  std::iota(all.begin(), all.end(), Index{0});
  return all;
}

}  // namespace

FarRows::FarRows(const Dataset& data, std::vector<Index> pool, const Context& context)
    : data_(data), pool_(std::move(pool)), counted_(at(data.rows()), 0) {
  const Index width = std::min(data.x.cols(), most_directions);
  require_memory(pool_.size() * at(width + 2) * sizeof(double), "label", "the distances between rows",
                 "give fewer rows, or explore=0");
  const Features x = data.x.take(pool_);
  set_scale(x);
  if (x.cols() > most_directions) {
    Random random = context.random("directions");
    directions_.resize(x.cols(), most_directions);
    for (double& value : directions_.reshaped()) value = random.normal() / std::sqrt(most_directions);
  }
  place_ = places(x);
  nearest_ = Vector::Constant(std::ssize(pool_), infinity);
}

void FarRows::set_scale(const Features& x) {
  const Index most = std::max<Index>(100, scale_values / std::max<Index>(1, x.cols()));
  const Matrix sample = x.take(spread_over(every_row(x.rows()), most)).to_matrix();
  mean_ = scale_ = Vector::Zero(x.cols());
  for (Index j = 0; j < x.cols(); ++j) {
    double count = 0, squares = 0;
    for (Index i = 0; i < sample.rows(); ++i) {
      if (!std::isfinite(sample(i, j))) continue;
      // Welford's sums, for columns whose mean is large.
      const double before = sample(i, j) - mean_[j];
      mean_[j] += before / ++count;
      squares += before * (sample(i, j) - mean_[j]);
    }
    const double sd = count > 0 ? std::sqrt(squares / count) : 0;
    if (std::isfinite(sd) && sd > 1e-12 * std::abs(mean_[j])) scale_[j] = 1 / sd;
  }
}

Matrix FarRows::places(const Features& x) const {
  Matrix result(x.rows(), directions_.size() > 0 ? directions_.cols() : x.cols());
  Scratch scratch;
  for (Index b = 0; b < x.blocks(); ++b) {
    const RowBlock block = x.block(b, scratch);
    Matrix z(block.x.rows(), x.cols());
    for (Index i = 0; i < z.rows(); ++i)
      for (Index j = 0; j < z.cols(); ++j) {
        const double value = (block.x(i, j) - mean_[j]) * scale_[j];
        z(i, j) = std::isnan(value) ? 0.0 : std::clamp(value, -farthest, farthest);
      }
    if (directions_.size() == 0) {
      result.middleRows(block.first, z.rows()) = z;
    } else {
      // Row by row, so that a row has the same place in whatever company.
      for (Index i = 0; i < z.rows(); ++i) result.row(block.first + i).noalias() = z.row(i) * directions_;
    }
  }
  return result;
}

void FarRows::count_near(const Matrix& labelled) {
  for (Index first = 0; first < place_.rows(); first += rows_at_once) {
    const Index rows = std::min(rows_at_once, place_.rows() - first);
    const auto here = place_.middleRows(first, rows);
    auto nearest = nearest_.segment(first, rows);
    for (const auto& row : labelled.rowwise())
      nearest = nearest.cwiseMin((here.rowwise() - row).rowwise().squaredNorm());
  }
}

Vector FarRows::squared(std::span<const Index> rows, std::span<const Index> labelled) {
  std::vector<char> now(counted_.size(), 0);
  for (const Index row : labelled) now[at(row)] = 1;
  // A label that was taken back: count anew.
  for (std::size_t i = 0; i < now.size(); ++i)
    if (counted_[i] != 0 && now[i] == 0) {
      std::ranges::fill(counted_, 0);
      nearest_.setConstant(infinity);
      break;
    }
  std::vector<Index> inside, beside;
  for (const Index row : labelled)
    if (counted_[at(row)] == 0) (std::ranges::binary_search(pool_, row) ? inside : beside).push_back(row);
  beside = spread_over(beside, most_beside);
  inside.insert(inside.end(), beside.begin(), beside.end());
  if (!inside.empty()) count_near(places(data_.x.take(inside)));
  counted_ = std::move(now);
  Vector result(std::ssize(rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double distance = nearest_[std::ranges::lower_bound(pool_, rows[i]) - pool_.begin()];
    result[static_cast<Index>(i)] = std::isfinite(distance) ? distance : 1;
  }
  return result;
}

bool explores(const Strategy& strategy) { return strategy.rule != QueryRule::random && strategy.options.explore > 0; }

}  // namespace ecotone
