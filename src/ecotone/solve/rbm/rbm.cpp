#include "ecotone/solve/rbm/rbm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/row_product.h"
#include "ecotone/solve/rbm/rbm_kernel.h"

namespace ecotone {
namespace {

/// Units per tile: the unit of work and of random streams.
constexpr Index unit_tile = 128;
constexpr int slow_epochs = 5;
constexpr double slow_momentum = 0.5;
constexpr double start_deviation = 0.01;

Index tiles(Index units) { return (units + unit_tile - 1) / unit_tile; }
Index units_in(Index t, Index units) { return std::min(unit_tile, units - t * unit_tile); }

/// Uniform in [0, 1) with 24 bits, all that single precision holds; two of them from one 64-bit draw.
void draw_uniform(Random& random, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); i += 2) {
    const std::uint64_t bits = random.bits();
    to[i] = static_cast<float>(static_cast<std::uint32_t>(bits) >> 8U) * 0x1p-24F;
    if (i + 1 < to.size()) to[i + 1] = static_cast<float>(static_cast<std::uint32_t>(bits >> 40U)) * 0x1p-24F;
  }
}

/// to ~ Bernoulli(p), row by row.
void draw_binary(Random random, ConstSingleView p, SingleView to) {
  std::array<float, unit_tile> uniform;
  const std::span<float> draws(uniform.data(), static_cast<std::size_t>(p.cols()));
  for (Index i = 0; i < p.rows(); ++i) {
    draw_uniform(random, draws);
    threshold_row(draws.data(), p.row(i).data(), to.row(i).data(), p.cols());
  }
}

/// v <- N(v, 1)
void add_noise(Random random, SingleView v) {
  for (Index i = 0; i < v.rows(); ++i)
    for (Index j = 0; j < v.cols(); ++j) v(i, j) += static_cast<float>(random.normal());
}

void apply_sigmoid(SingleView x, const float* bias) {
  for (Index i = 0; i < x.rows(); ++i) sigmoid_row(x.row(i).data(), bias, x.cols());
}

/// |a - b|^2: in single precision within a row of a tile, in double beyond.
double squared_distance(ConstSingleView a, ConstSingleView b) {
  double sum = 0;
  for (Index i = 0; i < a.rows(); ++i) sum += static_cast<double>((a.row(i) - b.row(i)).squaredNorm());
  return sum;
}

/// velocity <- momentum velocity + factor (sum of the first half of the rows - sum of the second), bias += velocity
void move_bias(ConstSingleView first, ConstSingleView second, float factor, float momentum,
               Eigen::Ref<SingleVector> velocity, Eigen::Ref<SingleVector> bias) {
  Eigen::RowVectorXf sum = Eigen::RowVectorXf::Zero(first.cols());
  for (Index i = 0; i < first.rows(); ++i) sum += first.row(i) - second.row(i);
  velocity = momentum * velocity + factor * sum.transpose();
  bias += velocity;
}

}  // namespace

void hidden_means(const Rbm& rbm, ConstSingleView v, SingleView h) {
  // In double, because there is a product whose rows do not depend on each other.
  Matrix sums(h.rows(), h.cols());
  multiply_rows(v.cast<double>(), rbm.weights.cast<double>(), sums);
  h = sums.cast<float>();
  apply_sigmoid(h, rbm.hidden_bias.data());
}

ContrastiveDivergence::ContrastiveDivergence(Rbm start, RbmOptions options, const Context& context)
    : rbm_(std::move(start)),
      options_(std::move(options)),
      context_(context),
      weight_velocity_(SingleMatrix::Zero(rbm_.visible(), rbm_.hidden())),
      visible_velocity_(SingleVector::Zero(rbm_.visible())),
      hidden_velocity_(SingleVector::Zero(rbm_.hidden())),
      hidden_stream_(options_.name + "/hidden"),
      visible_stream_(options_.name + "/visible") {}

double ContrastiveDivergence::memory(Index visible, const RbmOptions& options) {
  const auto v = static_cast<double>(visible);
  const auto h = static_cast<double>(options.hidden);
  // Weights and velocity; two batches of each layer, and the drawn units.
  return sizeof(float) * (2 * v * h + static_cast<double>(options.batch) * (2 * v + 3 * h));
}

double ContrastiveDivergence::step(ConstSingleView data, std::span<const Index> rows, double momentum,
                                   std::uint64_t number) {
  const auto n = static_cast<Index>(rows.size());
  gather(data, rows);
  auto v = v_.middleRows(n, n);
  auto h = h_.middleRows(n, n);
  const auto steps = static_cast<std::uint64_t>(options_.cd);
  const Draw draw_visible = options_.cd > 1 ? Draw::yes : Draw::no;
  up(v_.topRows(n), h_.topRows(n), Draw::yes, number * steps);
  double error = 0;
  for (std::uint64_t k = 0; k < steps; ++k) {
    const double distance = down(v, draw_visible, number * steps + k);
    if (k == 0) error = distance;
    const bool last = k + 1 == steps;
    up(v, h, last ? Draw::no : Draw::yes, number * steps + k + 1);
  }
  update(n, momentum);
  return error;
}

void ContrastiveDivergence::gather(ConstSingleView data, std::span<const Index> rows) {
  const auto n = static_cast<Index>(rows.size());
  if (v_.rows() < 2 * n) {
    v_.resize(2 * n, rbm_.visible());
    h_.resize(2 * n, rbm_.hidden());
    drawn_.resize(n, rbm_.hidden());
  }
  for (Index i = 0; i < n; ++i) v_.row(i) = data.row(rows[at(i)]);
}

void ContrastiveDivergence::up(ConstSingleView v, SingleView h, Draw draw, std::uint64_t key) {
  const Index count = tiles(rbm_.hidden());
  context_.parallel(count, [&](Index t) {
    const Index first = t * unit_tile;
    const Index units = units_in(t, rbm_.hidden());
    // E[h | v] = sigmoid(v W + b)
    multiply(v, rbm_.weights.middleCols(first, units), h.middleCols(first, units));
    apply_sigmoid(h.middleCols(first, units), rbm_.hidden_bias.data() + first);
    if (draw == Draw::no) return;
    const auto stream = key * static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(t);
    draw_binary(context_.random(hidden_stream_, stream), h.middleCols(first, units),
                drawn_.block(0, first, h.rows(), units));
  });
}

double ContrastiveDivergence::down(SingleView v, Draw draw, std::uint64_t key) {
  const Index count = tiles(rbm_.visible());
  std::vector<double> distance(static_cast<std::size_t>(count));
  context_.parallel(count, [&](Index t) {
    const Index first = t * unit_tile;
    const Index units = units_in(t, rbm_.visible());
    auto part = v.middleCols(first, units);
    // E[v | h] = sigmoid(W h + a), or W h + a
    multiply_by_transpose(drawn_.topRows(v.rows()), rbm_.weights.middleRows(first, units), part);
    const bool binary = rbm_.units == VisibleUnits::binary;
    if (binary) {
      apply_sigmoid(part, rbm_.visible_bias.data() + first);
    } else {
      part.rowwise() += rbm_.visible_bias.segment(first, units).transpose();
    }
    distance[at(t)] = squared_distance(v_.block(0, first, v.rows(), units), part);
    if (draw == Draw::no) return;
    const auto stream = key * static_cast<std::uint64_t>(count) + static_cast<std::uint64_t>(t);
    if (binary) {
      draw_binary(context_.random(visible_stream_, stream), part, part);
    } else {
      add_noise(context_.random(visible_stream_, stream), part);
    }
  });
  return std::accumulate(distance.begin(), distance.end(), 0.0);
}

void ContrastiveDivergence::update(Index rows, double momentum) {
  const Index visible = tiles(rbm_.visible());
  const Index hidden = tiles(rbm_.hidden());
  const auto keep = static_cast<float>(momentum);
  context_.parallel(hidden, [&](Index t) { move_hidden_bias(t, rows, keep); });
  context_.parallel(visible, [&](Index t) { move_weights(t, rows, keep); });
}

void ContrastiveDivergence::move_hidden_bias(Index t, Index rows, float momentum) {
  const Index first = t * unit_tile;
  const Index units = units_in(t, rbm_.hidden());
  const auto factor = static_cast<float>(options_.rate / static_cast<double>(rows));
  auto chain = h_.block(rows, first, rows, units);
  move_bias(h_.block(0, first, rows, units), chain, factor, momentum, hidden_velocity_.segment(first, units),
            rbm_.hidden_bias.segment(first, units));
  // The product [v; v of the chain]' [h; -h of the chain] is the difference of the two statistics.
  chain = -chain;
}

void ContrastiveDivergence::move_weights(Index t, Index rows, float momentum) {
  const Index first = t * unit_tile;
  const Index units = units_in(t, rbm_.visible());
  const auto factor = static_cast<float>(options_.rate / static_cast<double>(rows));
  const auto decay = static_cast<float>(options_.rate * options_.weight_decay);
  auto velocity = weight_velocity_.middleRows(first, units);
  add_transpose_product(v_.block(0, first, 2 * rows, units), h_.topRows(2 * rows), factor, momentum, velocity);
  move_row(velocity.data(), rbm_.weights.row(first).data(), decay, velocity.size());
  move_bias(v_.block(0, first, rows, units), v_.block(rows, first, rows, units), factor, momentum,
            visible_velocity_.segment(first, units), rbm_.visible_bias.segment(first, units));
}

namespace {

Rbm start_of(ConstSingleView v, VisibleUnits units, const RbmOptions& options, const Context& context) {
  Rbm rbm{units, SingleMatrix(v.cols(), options.hidden), SingleVector::Zero(v.cols()),
          SingleVector::Zero(options.hidden)};
  Random random = context.random(options.name + "/start");
  for (Index i = 0; i < rbm.weights.size(); ++i)
    rbm.weights.data()[i] = static_cast<float>(start_deviation * random.normal());
  if (units == VisibleUnits::gaussian) return rbm;
  Vector sum = Vector::Zero(v.cols());
  for (Index i = 0; i < v.rows(); ++i) sum += v.row(i).transpose().cast<double>();
  // ln p / (1 - p) of p = (sum + 1) / (n + 2), which is never 0 or 1
  const auto n = static_cast<double>(v.rows());
  rbm.visible_bias = ((sum.array() + 1) / (n + 1 - sum.array())).log().matrix().cast<float>();
  return rbm;
}

std::string bar_text(const RbmOptions& options, int epoch, ConstVectorView errors) {
  std::string text = fmt::format("{}, epoch {} of {}", options.name, epoch + 1, options.epochs);
  return epoch == 0 ? text : fmt::format("{}, error {:.4g}", text, errors[epoch - 1]);
}

}  // namespace

RbmFit fit_rbm(ConstSingleView v, VisibleUnits units, const RbmOptions& options, const Context& context) {
  if (v.rows() < 1 || options.hidden < 1 || options.batch < 1)
    internal_error("rbm: {} rows, {} hidden units, batches of {}", v.rows(), options.hidden, options.batch);
  const Index batches = (v.rows() + options.batch - 1) / options.batch;
  ContrastiveDivergence training(start_of(v, units, options, context), options, context);
  Vector errors = Vector::Zero(options.epochs);
  bool finite = true;
  for (int epoch = 0; finite && epoch < options.epochs; ++epoch) {
    const std::vector<Index> order =
        context.random(options.name + "/order", static_cast<std::uint64_t>(epoch)).permutation(v.rows());
    const double momentum = epoch < slow_epochs ? std::min(slow_momentum, options.momentum) : options.momentum;
    Progress progress(context.observer(), bar_text(options, epoch, errors), batches);
    for (Index b = 0; b < batches; ++b) {
      const Index first = b * v.rows() / batches;
      const Index count = (b + 1) * v.rows() / batches - first;
      const auto number = static_cast<std::uint64_t>(epoch) * static_cast<std::uint64_t>(batches);
      errors[epoch] +=
          training.step(v, std::span(order).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count)),
                        momentum, number + static_cast<std::uint64_t>(b));
      progress.advance();
    }
    errors[epoch] /= static_cast<double>(v.rows()) * static_cast<double>(v.cols());
    finite = std::isfinite(errors[epoch]) && training.rbm().weights.allFinite();
  }
  return {training.rbm(), std::move(errors), finite};
}

}  // namespace ecotone
