#include "ecotone/solve/paths/greedy.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/solve/paths/nonnegative.h"
#include "ecotone/solve/paths/side_by_side.h"

namespace ecotone {

GreedyPath::GreedyPath(const Moments& moments, const PathOptions& options, std::span<const Index> left_out)
    : options_(options), means_(moments, options.shares, options.centring, left_out) {
  const Index cols = means_.cols();
  if (means_.used() < (options.rule == PathRule::tgreedy ? 2 : 1))
    data_error("needs_two_domains", "tgreedy: T compares domains, so it needs at least two labelled domains, got {}",
               means_.used());
  const bool ortho = options.mode == PathMode::ortho || options.mode == PathMode::ortho_resid;
  if (options.nonnegative && ortho)
    option_error("bad_option", "select: nonnegative needs mode=stagewise or mode=stepwise");
  if (options.ex2.size() > 0 && options.mode != PathMode::stagewise)
    option_error("bad_option", "select: ex2 of other rows needs mode=stagewise");
  if (options.ex2.size() > 0 && options.ex2.size() != cols)
    internal_error("select: {} values of ex2 for {} columns", options.ex2.size(), cols);
  residual_ = means_.xy;
  if (options.mode == PathMode::ortho_resid) judged_ = residual_;
  rest_ = means_.x2;
  score_ = Vector::Constant(cols, -1);
  gain_ = Vector::Zero(cols);
  position_.assign(at(cols), -1);
  result_.empty_loss.assign(means_.yy.data(), means_.yy.data() + means_.groups());
  result_.empty_offset = means_.y_centre;
}

void GreedyPath::advance(const GramColumns& columns, const Context& context) {
  const Index j = chosen_;
  record(j);
  if (position_[at(j)] < 0) {
    position_[at(j)] = static_cast<std::int32_t>(result_.support.size());
    result_.support.push_back(j);
    weight_.push_back(0);
  }
  if (refits()) {
    grow_basis(columns, context);
    if (options_.nonnegative) {
      refit_nonnegative(columns);
    } else {
      refit();
    }
    if (options_.mode != PathMode::ortho) renew_residual(columns, context);
  } else {
    step_stagewise(columns, context);
  }
  record_loss(columns);
}

/// w_i += mu_i / E[X_i^2]
void GreedyPath::step_stagewise(const GramColumns& columns, const Context& context) {
  const Index j = chosen_;
  double step = result_.mu.back() / (options_.ex2.size() > 0 ? options_.ex2[j] : rest_[j]);
  double& weight = weight_[at(position_[at(j)])];
  if (options_.nonnegative) step = std::max(step, -weight);
  weight += step;
  const Matrix& raw = columns.column(j);
  over_columns(means_.cols(), context,
               [&](Index first, Index last) { means_.subtract_column(raw, j, step, first, last, residual_); });
}

/// Makes the chosen feature X~ = (X_i - sum_k E[X~_k X_i] X~_k) / norm the next basis element: one more row of the
/// Cholesky factor of M = E[X X'], for all columns.
void GreedyPath::grow_basis(const GramColumns& columns, const Context& context) {
  const Index j = chosen_;
  const double norm = std::sqrt(rest_[j]);
  Vector row = means_.mean_column(columns.column(j), j);
  double loading = 0;
  for (const Index d : means_.in_use) loading += means_.share[d] * means_.xy(d, j);
  for (std::size_t k = 0; k < basis_.size(); ++k) loading -= basis_[k][j] * loading_[k];
  loading_.push_back(loading / norm);
  // E[X~ Y|d], for mode ortho, whose residual_ has already been orthogonalised to the earlier ones.
  const Vector of_group = residual_.col(j) / norm;
  over_columns(means_.cols(), context, [&](Index first, Index last) {
    const Index count = last - first;
    auto part = row.segment(first, count);
    for (const Vector& earlier : basis_) part -= earlier[j] * earlier.segment(first, count);
    part /= norm;
    rest_.segment(first, count) -= part.cwiseProduct(part);
    if (options_.mode != PathMode::ortho) return;
    for (Index d = 0; d < means_.groups(); ++d)
      residual_.row(d).segment(first, count) -= of_group[d] * part.transpose();
  });
  basis_.push_back(std::move(row));
}

/// The weights of the smallest mean loss: L' w = loadings, with L the Cholesky factor of M on the support.
void GreedyPath::refit() {
  const auto& support = result_.support;
  for (std::size_t k = support.size(); k-- > 0;) {
    double sum = loading_[k];
    for (std::size_t l = k + 1; l < support.size(); ++l) sum -= basis_[k][support[l]] * weight_[l];
    weight_[k] = sum / basis_[k][support[k]];
  }
}

void GreedyPath::refit_nonnegative(const GramColumns& columns) {
  const auto& support = result_.support;
  const auto size = static_cast<Index>(support.size());
  Matrix gram = Matrix::Zero(size, size);
  Vector target = Vector::Zero(size);
  for (Index k = 0; k < size; ++k) {
    const Index j = support[at(k)];
    for (const Index d : means_.in_use) {
      target[k] += means_.share[d] * means_.xy(d, j);
      for (Index l = 0; l < size; ++l)
        gram(l, k) += means_.share[d] * means_.entry(columns.column(j), d, support[at(l)], j);
    }
  }
  const Vector w = nonnegative_least_squares(gram, target);
  weight_.assign(w.data(), w.data() + size);
}

/// E[X_i (Y - w.X)|d] for the refitted w; in mode ortho_resid also for the rest of X_i.
void GreedyPath::renew_residual(const GramColumns& columns, const Context& context) {
  const auto& support = result_.support;
  over_columns(means_.cols(), context, [&](Index first, Index last) {
    residual_.middleCols(first, last - first) = means_.xy.middleCols(first, last - first);
    for (std::size_t k = 0; k < support.size(); ++k) {
      if (k % 64 == 63) context.check_cancelled();
      means_.subtract_column(columns.column(support[k]), support[k], weight_[k], first, last, residual_);
    }
  });
  if (options_.mode != PathMode::ortho_resid) return;
  // z_k = E[X~_k (Y - w.X)|d] by L z = residual on the support.
  Matrix z(means_.groups(), static_cast<Index>(support.size()));
  for (std::size_t k = 0; k < support.size(); ++k) {
    context.check_cancelled();
    const auto place = static_cast<Index>(k);
    z.col(place) = residual_.col(support[k]);
    for (std::size_t l = 0; l < k; ++l) z.col(place) -= basis_[l][support[k]] * z.col(static_cast<Index>(l));
    z.col(place) /= basis_[k][support[k]];
  }
  over_columns(means_.cols(), context, [&](Index first, Index last) {
    const Index count = last - first;
    judged_.middleCols(first, count) = residual_.middleCols(first, count);
    for (std::size_t k = 0; k < support.size(); ++k)
      judged_.middleCols(first, count) -= z.col(static_cast<Index>(k)) * basis_[k].segment(first, count).transpose();
  });
}

/// E[(Y - w.X)^2|d] = E[Y^2|d] - w.(E[XY|d] + E[X (Y - w.X)|d]), over the support.
void GreedyPath::record_loss(const GramColumns& columns) {
  const auto& support = result_.support;
  std::vector<double> losses;
  double mean = 0;
  for (Index d = 0; d < means_.groups(); ++d) {
    double loss = means_.yy[d];
    for (std::size_t k = 0; k < support.size(); ++k) {
      const Index i = support[k];
      double residual = residual_(d, i);
      if (options_.mode == PathMode::ortho) {
        residual = means_.xy(d, i);
        for (std::size_t l = 0; l < support.size(); ++l)
          residual -= weight_[l] * means_.entry(columns.column(support[l]), d, i, support[l]);
      }
      loss -= weight_[k] * (means_.xy(d, i) + residual);
    }
    losses.push_back(loss);
    mean += means_.share[d] * loss;
  }
  result_.loss.push_back(mean);
  result_.group_loss.push_back(std::move(losses));
  result_.weights.push_back(weight_);
  double offset = means_.y_centre;
  if (means_.centre.size() > 0)
    for (std::size_t k = 0; k < support.size(); ++k) offset -= weight_[k] * means_.centre[support[k]];
  result_.offset.push_back(offset);
}

Vector PathResult::weights_after(Index step) const {
  Vector w = Vector::Zero(static_cast<Index>(support.size()));
  if (step > 0)
    for (std::size_t k = 0; k < weights[at(step - 1)].size(); ++k) w[static_cast<Index>(k)] = weights[at(step - 1)][k];
  return w;
}

double PathResult::offset_after(Index step) const { return step > 0 ? offset[at(step - 1)] : empty_offset; }

double PathResult::group_loss_after(Index d, Index step) const {
  step = std::min(step, steps());
  return step > 0 ? group_loss[at(step - 1)][at(d)] : empty_loss[at(d)];
}

PathResult PathResult::head(Index step) const {
  PathResult result = *this;
  const auto count = at(std::min(step, steps()));
  for (auto* list : {&result.t, &result.mu, &result.sigma, &result.gain, &result.pvalue, &result.loss, &result.offset})
    if (list->size() > count) list->resize(count);
  result.indices.resize(count);
  result.group_loss.resize(count);
  result.weights.resize(count);
  result.support.resize(count > 0 ? result.weights.back().size() : 0);
  result.stopped_early = stopped_early && count == indices.size();
  return result;
}

}  // namespace ecotone
