#include "ecotone/solve/trees/leaf_game.h"

#include <cmath>
#include <numbers>

namespace ecotone {

LeafGame::Points LeafGame::gauss_points(Index count) {
  Points points;
  const double n = static_cast<double>(count);
  for (Index i = 0; i < count; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
    double slope = 1;
    // Newton's steps to a root of Legendre's polynomial; from this start fewer would do.
    for (int step = 0; step < 8; ++step) {
      double before = 1, now = x;
      for (Index k = 2; k <= count; ++k) {
        const double degree = static_cast<double>(k);
        const double next = ((2 * degree - 1) * x * now - (degree - 1) * before) / degree;
        before = now;
        now = next;
      }
      slope = n * (before - x * now) / ((1 - x) * (1 + x));
      x -= now / slope;
    }
    points.t.push_back(0.5 * (1 - x));
    points.rest.push_back(0.5 * (1 + x));
    points.weight.push_back(1 / ((1 - x) * (1 + x) * slope * slope));
  }
  return points;
}

void LeafGame::set(std::span<const double> share, double value) {
  share_ = share;
  value_ = value;
  const std::size_t count = (share.size() + 1) / 2;  // exact up to degree 2 count - 1
  if (points_.size() <= count) points_.resize(count + 1);
  if (points_[count].t.empty()) points_[count] = gauss_points(static_cast<Index>(count));
  now_ = &points_[count];
  factor_.resize(share.size() * count);
  inverse_.resize(factor_.size());
  product_.resize(count);
  for (std::size_t j = 0; j < share.size(); ++j)
    for (std::size_t q = 0; q < count; ++q) {
      const double factor = now_->t[q] + share[j] * now_->rest[q];
      factor_[j * count + q] = factor;
      inverse_[j * count + q] = 1 / factor;
    }
}

void LeafGame::values(std::span<const std::uint8_t> passed, double* result) {
  const std::size_t count = product_.size();
  double scale = value_;
  product_ = now_->weight;
  for (std::size_t j = 0; j < share_.size(); ++j) {
    const double* by = passed[j] != 0 ? factor_.data() + j * count : now_->rest.data();
    for (std::size_t q = 0; q < count; ++q) product_[q] *= by[q];
    if (passed[j] == 0) scale *= share_[j];
  }
  double others = 0;
  for (std::size_t q = 0; q < count; ++q) others += product_[q] / now_->rest[q];
  for (std::size_t j = 0; j < share_.size(); ++j) {
    double sum = 0;
    for (std::size_t q = 0; q < count; ++q) sum += product_[q] * inverse_[j * count + q];
    result[j] = passed[j] != 0 ? scale * (1 - share_[j]) * sum : -scale * others;
  }
}

}  // namespace ecotone
