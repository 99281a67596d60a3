#include "ecotone/solve/linear/sgd.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/progress.h"

namespace ecotone {
namespace {

constexpr Index window_values = Index{1} << 23;  // 64 MB

double step_at(const SgdOptions& options, double mu, double epochs) {
  switch (options.schedule) {
    case StepSchedule::constant:
      return mu;
    case StepSchedule::root:
      return mu / std::sqrt(1 + epochs);
    case StepSchedule::inverse:
      return mu / (1 + epochs);
  }
  internal_error("sgd: schedule {}", static_cast<int>(options.schedule));
}

/// Rows of some blocks, in memory.
struct Window {
  Matrix x;
  std::vector<Index> row;

  void load(const Features& features, std::span<const Index> blocks, const Context& context) {
    std::vector<Index> start{0};
    for (const Index b : blocks) start.push_back(start.back() + features.rows_in(b));
    x.resize(start.back(), features.cols());
    row.resize(static_cast<std::size_t>(start.back()));
    context.parallel(static_cast<Index>(blocks.size()), [&](Index i) {
      Scratch scratch;
      const Index b = blocks[at(i)];
      const Index first = start[at(i)];
      x.middleRows(first, features.rows_in(b)) = features.block(b, scratch).x;
      for (Index r = 0; r < features.rows_in(b); ++r) row[at(first + r)] = features.first_row(b) + r;
    });
  }
};

/// A quarter of 1 / L with L = curvature x mean squared norm + 2 rho: the largest stable step is below 2 / L.
double safe_step(const Window& window, const Loss& loss, const SgdOptions& options) {
  Matrix t = loss.constant_scores().transpose();
  Matrix curvature(1, loss.curvature_size());
  const double norm = window.x.squaredNorm() / static_cast<double>(window.x.rows()) + (options.offset ? 1.0 : 0.0);
  double steepest = 0;
  Index counted = 0;
  // About a thousand rows of the window; rows without weight carry no information.
  const auto stride = std::max<std::size_t>(1, window.row.size() / 1000);
  for (std::size_t i = 0; i < window.row.size(); i += stride) {
    Matrix scores = t;
    LossSums sums;
    loss.evaluate(window.row[i], scores, curvature, sums);
    double bend = 0;
    for (Index k = 0; k < loss.outputs(); ++k) bend += loss.curvature_entry(window.row[i], curvature, k, k)[0];
    steepest += bend;
    counted += bend > 0 ? 1 : 0;
  }
  if (counted == 0)
    data_error("diverged", "sgd: none of the first {} rows has positive weight; set step", window.row.size());
  steepest /= static_cast<double>(counted);
  const double batch = options.reduce_sum ? static_cast<double>(options.batch) : 1.0;
  const double step = 0.25 / (batch * std::max(steepest * norm, 1e-300) + 2 * options.l2);
  if (!(step > 0)) data_error("diverged", "sgd: the features are too large for any step; scale them first");
  return step;
}

}  // namespace

StochasticDescent::StochasticDescent(const Loss& loss, Index cols, const SgdOptions& options)
    : loss_(loss),
      options_(options),
      weights_(Matrix::Zero(loss.outputs(), cols)),
      offset_(Vector::Zero(loss.outputs())),
      gradient_(loss.outputs(), cols),
      offset_gradient_(loss.outputs()) {}

void StochasticDescent::step(ConstMatrixView x, std::span<const Index> index, double mu) {
  const Index outputs = loss_.outputs();
  gradient_.setZero();
  offset_gradient_.setZero();
  Vector t(outputs);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index k = 0; k < outputs; ++k) t[k] = weights_.row(k).dot(x.row(i)) + offset_[k];
    loss_.slope(index[at(i)], t);
    for (Index k = 0; k < outputs; ++k) gradient_.row(k) += t[k] * x.row(i);
    offset_gradient_ += t;
  }
  const double part = options_.reduce_sum ? mu : mu / static_cast<double>(x.rows());
  const double shrink = 1 - 2 * mu * options_.l2;
  weights_ = shrink * weights_ - part * gradient_;
  if (options_.l1 > 0) {
    const double cut = mu * options_.l1;
    weights_ = (weights_.array() > cut)
                   .select(weights_.array() - cut, (weights_.array() < -cut).select(weights_.array() + cut, 0.0));
  }
  if (!options_.offset) return;
  offset_ = (options_.penalise_offset ? shrink : 1.0) * offset_ - part * offset_gradient_;
  if (options_.penalise_offset && options_.l1 > 0) {
    const double cut = mu * options_.l1;
    for (double& c : offset_) c = c > cut ? c - cut : c < -cut ? c + cut : 0.0;
  }
}

SgdResult run_sgd(const Features& x, const Loss& loss, const SgdOptions& options, const Context& context) {
  StochasticDescent descent(loss, x.cols(), options);
  const Index per_window =
      std::clamp<Index>(window_values / std::max<Index>(1, x.block_rows() * x.cols()), 1, x.blocks());
  const bool stays = per_window == x.blocks();
  Window window;
  SgdResult result;
  Progress progress(context.observer(), "sgd", options.epochs);
  Matrix batch(std::min(options.batch, x.rows()), x.cols());
  std::vector<Index> index;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    const auto purpose = static_cast<std::uint64_t>(epoch);
    const std::vector<Index> blocks = context.random("sgd.blocks", purpose).permutation(x.blocks());
    Random random = context.random("sgd.rows", purpose);
    Index done = 0;
    for (Index first = 0; first < x.blocks(); first += per_window) {
      context.check_cancelled();
      const Index count = std::min(per_window, x.blocks() - first);
      if (!stays || epoch == 0)
        window.load(x, std::span(blocks).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                    context);
      if (result.step == 0) result.step = options.step > 0 ? options.step : safe_step(window, loss, options);
      const std::vector<Index> order = random.permutation(window.x.rows());
      for (Index begin = 0; begin < window.x.rows(); begin += options.batch) {
        const Index rows = std::min(options.batch, window.x.rows() - begin);
        index.clear();
        for (Index r = 0; r < rows; ++r) {
          const auto place = order[at(begin + r)];
          batch.row(r) = window.x.row(place);
          index.push_back(window.row[at(place)]);
        }
        const double epochs = epoch + static_cast<double>(done) / static_cast<double>(x.rows());
        descent.step(batch.topRows(rows), index, step_at(options, result.step, epochs));
        done += rows;
      }
    }
    if (!descent.weights().allFinite() || !descent.offset().allFinite()) {
      data_error("diverged",
                 "sgd: the weights are no longer finite after {} epochs with step {:.3g}; scale the features or use a "
                 "smaller step",
                 epoch + 1, result.step);
    }
    progress.advance();
  }
  result.weights = descent.weights();
  result.offset = descent.offset();
  return result;
}

}  // namespace ecotone
