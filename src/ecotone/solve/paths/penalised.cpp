#include "ecotone/solve/paths/penalised.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/solve/paths/side_by_side.h"

namespace ecotone {
namespace {

constexpr Index strip = 1024;  // columns that stay in the fastest cache while the basis is read

}  // namespace

PenalisedPath::PenalisedPath(std::shared_ptr<const ScaledMeans> scaled, const Penalty& penalty,
                             std::vector<Index> watched, double zero)
    : scaled_(std::move(scaled)), penalty_(penalty), watched_(std::move(watched)), zero_(zero) {
  const GroupMeans& means = scaled_->means;
  v_ = scaled_->penalty(penalty.mix);
  gradient_ = scaled_->target;
  rest_ = Vector::Ones(scaled_->cols()) + penalty.lam * v_;
  score_ = Vector::Constant(scaled_->cols(), -1);
  in_.assign(at(scaled_->cols()), 0);
  objective_ = means.y2;
  result_.empty_loss.assign(at(means.groups()), std::nan(""));
  for (const Index d : watched_) result_.empty_loss[at(d)] = means.yy[d];
  result_.empty_offset = means.y_centre;
}

std::optional<Index> PenalisedPath::choose(const Context& context) {
  chosen_ = -1;
  if (result_.stopped_early) return {};
  const double y2 = scaled_->means.y2;
  over_columns(scaled_->cols(), context, [&](Index first, Index last) {
    for (Index j = first; j < last; ++j) {
      const double g = gradient_[j];
      const double r = rest_[j];
      const bool open = in_[at(j)] == 0 && !scaled_->constant(j) && r > spent_part * (1 + penalty_.lam * v_[j]) &&
                        std::abs(g) > zero_ * std::sqrt(r * y2);
      score_[j] = open ? g * g / r : -1.0;
    }
  });
  const double best = score_.size() > 0 ? score_.maxCoeff() : -1.0;
  if (!(best >= 0)) {
    result_.stopped_early = true;
    return {};
  }
  for (Index j = 0; chosen_ < 0; ++j)
    if (score_[j] >= best * (1 - path_tie)) chosen_ = j;
  return chosen_;
}

std::vector<Index> PenalisedPath::runners_up(Index count) const { return best_after(score_, chosen_, count); }

/// One more row of the Cholesky factor of A = G + lam V for all columns: l_i = (A_ji - sum_k l_kj l_ki) / sqrt r_j.
/// Then r_i -= l_i^2 and g_i -= l_i g_j / sqrt r_j.
void PenalisedPath::grow(const GramColumns& columns, const Context& context) {
  const Index j = chosen_;
  const double norm = std::sqrt(rest_[j]);
  const double loading = gradient_[j] / norm;
  Vector row = scaled_->column(columns.column(j), j);
  row[j] = 1 + penalty_.lam * v_[j];
  over_columns(scaled_->cols(), context, [&](Index begin, Index end) {
    for (Index first = begin; first < end; first += strip) {
      const Index count = std::min(strip, end - first);
      auto part = row.segment(first, count);
      for (const Vector& earlier : basis_) part -= earlier[j] * earlier.segment(first, count);
      part /= norm;
      rest_.segment(first, count) -= part.cwiseAbs2();
      gradient_.segment(first, count) -= loading * part;
    }
  });
  basis_.push_back(std::move(row));
  loading_.push_back(loading);
}

void PenalisedPath::advance(const GramColumns& columns, const Context& context) {
  result_.gain.push_back(score_[chosen_]);
  objective_ -= score_[chosen_];
  result_.indices.push_back(chosen_);
  result_.support.push_back(chosen_);
  in_[at(chosen_)] = 1;
  grow(columns, context);
  record(columns);
}

/// argmin J on the chosen features: L' w = loadings.
std::vector<double> PenalisedPath::refitted() const {
  const auto& support = result_.support;
  std::vector<double> w(support.size());
  for (std::size_t k = support.size(); k-- > 0;) {
    double sum = loading_[k];
    for (std::size_t l = k + 1; l < support.size(); ++l) sum -= basis_[k][support[l]] * w[l];
    w[k] = sum / basis_[k][support[k]];
  }
  return w;
}

void PenalisedPath::record(const GramColumns& columns) {
  const auto& support = result_.support;
  std::vector<double> w = refitted();
  double penalty = 0;
  double offset = scaled_->means.y_centre;
  for (std::size_t k = 0; k < w.size(); ++k) {
    penalty += penalty_.lam * v_[support[k]] * w[k] * w[k];
    w[k] /= scaled_->unit[support[k]];
    offset -= w[k] * scaled_->means.centre[support[k]];
  }
  // J = loss + penalty; rounding may make a loss of 0 slightly negative.
  result_.loss.push_back(std::max(objective_ - penalty, 0.0));
  result_.group_loss.push_back(watched_losses(w, columns));
  result_.offset.push_back(offset);
  result_.weights.push_back(std::move(w));
}

/// E[(y - w.x)^2|d] = E[y^2|d] - sum_k w_k (2 E[x_k y|d] - sum_l w_l E[x_k x_l|d]), all centred.
std::vector<double> PenalisedPath::watched_losses(const std::vector<double>& weights,
                                                  const GramColumns& columns) const {
  const GroupMeans& means = scaled_->means;
  const auto& support = result_.support;
  std::vector<double> losses(at(means.groups()), std::nan(""));
  for (const Index d : watched_) losses[at(d)] = means.yy[d];
  for (std::size_t l = 0; l < support.size(); ++l) {
    const Matrix& raw = columns.column(support[l]);
    for (const Index d : watched_) {
      double product = 0;
      for (std::size_t k = 0; k < support.size(); ++k)
        product += weights[k] * means.entry(raw, d, support[k], support[l]);
      losses[at(d)] -= weights[l] * (2 * means.xy(d, support[l]) - product);
    }
  }
  return losses;
}

}  // namespace ecotone
