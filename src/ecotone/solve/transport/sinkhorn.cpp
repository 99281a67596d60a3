#include "ecotone/solve/transport/sinkhorn.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/exponential.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr Index strip_rows = 64;
constexpr Index rows_in_cache = 8;
/// Below this, steps from a large eps down are quicker than none.
constexpr double small_reg = 0.005;
constexpr double class_floor = 1e-3;
/// Exponentials below 1e-307 count as that: far less than a sum of masses as long as scales stay within this.
constexpr double most_scale = 1e100;

/// Costs of rows against all others, in strips of rows.
class CostStrips {
 public:
  CostStrips(ConstMatrixView x, ConstMatrixView y) : tiles_(x, y) {}

  Index strips() const { return (tiles_.rows() + strip_rows - 1) / strip_rows; }
  Index first(Index s) const { return s * strip_rows; }
  Index rows(Index s) const { return std::min(strip_rows, tiles_.rows() - first(s)); }
  /// c(r, j) = |x_(first + r) - y_j|^2
  Matrix strip(Index s) const {
    Matrix c(rows(s), tiles_.cols());
    for (Index from = 0; from < c.cols(); from += DistanceTiles::side) {
      const Index count = std::min(DistanceTiles::side, c.cols() - from);
      tiles_.tile(first(s), from, c.middleCols(from, count));
    }
    return c;
  }

 private:
  DistanceTiles tiles_;
};

/// What is added to the costs of a row: by its class where rows are the sources, by the class of the others where they
/// are the sinks.
using AddCosts = std::function<void(Index row, Eigen::Ref<Eigen::RowVectorXd> costs)>;

/// The mean of exponents: -eps ln sum_j exp((g_j - c_j) / eps) of a row of costs, which become weights of largest value
/// 1; `sum` is theirs.
double soft_minimum(Eigen::Ref<Eigen::RowVectorXd> row, const Vector& g, double eps, double& sum) {
  row -= g.transpose();
  const double least = row.minCoeff();
  row.array() -= least;
  exp_of_negative(1 / eps, row.data(), row.size());
  sum = row.sum();
  return least - eps * std::log(sum);
}

/// f = eps ln a + soft minimum of (c - g), for all rows.
Vector half_sweep(const CostStrips& strips, const AddCosts& add, const Vector& log_mass, const Vector& g, double eps,
                  const Context& context) {
  Vector f(log_mass.size());
  context.parallel(strips.strips(), [&](Index s) {
    Matrix c = strips.strip(s);
    for (Index r = 0; r < c.rows(); ++r) {
      const Index i = strips.first(s) + r;
      Eigen::Ref<Eigen::RowVectorXd> row = c.row(r);
      if (add) add(i, row);
      double sum = 0;
      f[i] = eps * log_mass[i] + soft_minimum(row, g, eps, sum);
    }
  });
  return f;
}

/// P_ij = u_i exp((f_i + g_j - c_ij) / eps) v_j with f and g held: u and v are found by products alone, which is what
/// makes a sweep cheap. The exponentials are kept where there is room, and else computed strip by strip; they are the
/// same numbers.
class ScaledKernel {
 public:
  ScaledKernel(const CostStrips& strips, const AddCosts& add, const EntropicPlan& plan, double eps, Index most_kept,
               const Context& context)
      : strips_(strips), add_(add), f_(plan.f), g_(plan.g), eps_(eps), context_(context) {
    const Index cells = f_.size() * g_.size();
    if (cells > most_kept || !fits_in_memory(2 * at(cells) * sizeof(double))) return;
    kept_.resize(f_.size(), g_.size());
    context_.parallel(strips_.strips(),
                      [&](Index s) { kept_.middleRows(strips_.first(s), strips_.rows(s)) = computed(s); });
  }

  /// rows = K v, new_u = a / rows, columns = K' new_u: a few rows at a time, while they are in the cache.
  void pass(const Vector& v, ConstVectorView a, Vector& rows, Vector& new_u, Vector& columns) const {
    columns = sum_blocks(strips_.strips(), context_, Vector(Vector::Zero(g_.size())), [&](Vector& sums, Index s) {
      const Matrix own = kept_.size() == 0 ? computed(s) : Matrix();
      const ConstMatrixView k =
          kept_.size() == 0 ? ConstMatrixView(own) : kept_.middleRows(strips_.first(s), strips_.rows(s));
      for (Index r = 0; r < k.rows(); r += rows_in_cache) {
        const Index i = strips_.first(s) + r, count = std::min(rows_in_cache, k.rows() - r);
        multiply(k.middleRows(r, count), v, rows.segment(i, count));
        new_u.segment(i, count) = a.segment(i, count).array() / rows.segment(i, count).array();
        add_transpose_product(k.middleRows(r, count), new_u.segment(i, count), sums);
      }
    });
  }

 private:
  const CostStrips& strips_;
  const AddCosts& add_;
  const Vector f_;
  const Vector g_;
  double eps_;
  const Context& context_;
  Matrix kept_;

  Matrix computed(Index s) const {
    Matrix k = strips_.strip(s);
    for (Index r = 0; r < k.rows(); ++r) {
      const Index i = strips_.first(s) + r;
      Eigen::Ref<Eigen::RowVectorXd> row = k.row(r);
      if (add_) add_(i, row);
      row.array() -= f_[i] + g_.transpose().array();
      exp_of_negative(1 / eps_, row.data(), row.size());
    }
    return k;
  }
};

class Sinkhorn {
 public:
  Sinkhorn(ConstMatrixView x, ConstMatrixView y, ConstVectorView a, ConstVectorView b,
           std::span<const std::int32_t> cls, Index most_kept, const Context& context)
      : sources_(x, y),
        sinks_(y, x),
        a_(a),
        b_(b),
        log_a_(a.array().log()),
        log_b_(b.array().log()),
        cls_(cls),
        most_kept_(most_kept),
        context_(context) {}

  /// Sweeps from the plan's g until its row sums are the masses. A sweep in the log domain comes first, so that no
  /// exponential exceeds 1 in those that scale its plan; and again wherever these leave the range of numbers.
  void solve(EntropicPlan& plan, double eps, double tolerance, int most) const {
    plan.converged = false;
    while (most > 0 && !plan.converged) {
      log_sweep(plan, eps);
      ++plan.sweeps;
      most -= 1 + scaled_sweeps(plan, eps, tolerance, most - 1);
    }
  }

  /// classes x sinks: the mass that each class sends to each sink.
  Matrix class_masses(const EntropicPlan& plan, Index classes) const {
    Matrix sent = Matrix::Zero(classes, plan.g.size());
    each_sink(plan, [&](Index j, const Eigen::Ref<Eigen::RowVectorXd>& mass) {
      for (Index i = 0; i < mass.size(); ++i) sent(cls_[at(i)], j) += mass[i];
    });
    return sent;
  }

  /// sum P c, without what is added
  double cost(const EntropicPlan& plan) const {
    Vector costs = Vector::Zero(plan.g.size());
    context_.parallel(sinks_.strips(), [&](Index s) {
      const Matrix c = sinks_.strip(s);
      Matrix p = c;
      for (Index r = 0; r < c.rows(); ++r) {
        const Index j = sinks_.first(s) + r;
        masses(plan, j, p.row(r));
        costs[j] = p.row(r).dot(c.row(r));
      }
    });
    return costs.sum();
  }

 private:
  CostStrips sources_;
  CostStrips sinks_;
  ConstVectorView a_;
  ConstVectorView b_;
  Vector log_a_;
  Vector log_b_;
  std::span<const std::int32_t> cls_;
  Index most_kept_;
  const Context& context_;

  AddCosts added_by_source(const EntropicPlan& plan) const {
    if (plan.added.size() == 0) return {};
    return [&](Index i, Eigen::Ref<Eigen::RowVectorXd> row) { row += plan.added.row(cls_[at(i)]); };
  }

  AddCosts added_by_sink(const EntropicPlan& plan) const {
    if (plan.added.size() == 0) return {};
    return [&](Index j, Eigen::Ref<Eigen::RowVectorXd> row) {
      for (Index i = 0; i < row.size(); ++i) row[i] += plan.added(cls_[at(i)], j);
    };
  }

  void log_sweep(EntropicPlan& plan, double eps) const {
    context_.check_cancelled();
    plan.f = half_sweep(sources_, added_by_source(plan), log_a_, plan.g, eps, context_);
    plan.g = half_sweep(sinks_, added_by_sink(plan), log_b_, plan.f, eps, context_);
  }

  /// Scales a plan whose column sums are the masses; returns the number of sweeps. Ends early where the scales leave
  /// what exponentials that were set to the smallest one allow.
  int scaled_sweeps(EntropicPlan& plan, double eps, double tolerance, int most) const {
    const AddCosts add = added_by_source(plan);
    const ScaledKernel kernel(sources_, add, plan, eps, most_kept_, context_);
    Vector u = Vector::Ones(a_.size()), v = Vector::Ones(b_.size());
    Vector rows(a_.size()), new_u(a_.size()), columns(b_.size());
    int done = 0;
    for (; done <= most; ++done) {
      context_.check_cancelled();
      kernel.pass(v, a_, rows, new_u, columns);
      plan.residual = (u.array() * rows.array() - a_.array()).abs().sum();
      plan.converged = plan.residual < tolerance;
      if (plan.converged || done == most) break;
      const Vector new_v = b_.array() / columns.array();
      if (!in_range(new_u) || !in_range(new_v)) break;
      u = new_u;
      v = new_v;
      ++plan.sweeps;
    }
    plan.f.array() += eps * u.array().log();
    plan.g.array() += eps * v.array().log();
    return done;
  }

  static bool in_range(const Vector& scales) {
    return scales.minCoeff() > 1 / most_scale && scales.maxCoeff() < most_scale;
  }

  /// From costs to the masses that sink j gets from each source.
  void masses(const EntropicPlan& plan, Index j, Eigen::Ref<Eigen::RowVectorXd> row) const {
    if (plan.added.size() > 0)
      for (Index i = 0; i < row.size(); ++i) row[i] += plan.added(cls_[at(i)], j);
    row = ((plan.f.transpose().array() + plan.g[j] - row.array()) / plan.eps).exp();
  }

  void each_sink(const EntropicPlan& plan,
                 const std::function<void(Index, const Eigen::Ref<Eigen::RowVectorXd>&)>& visit) const {
    context_.parallel(sinks_.strips(), [&](Index s) {
      Matrix p = sinks_.strip(s);
      for (Index r = 0; r < p.rows(); ++r) {
        const Index j = sinks_.first(s) + r;
        Eigen::Ref<Eigen::RowVectorXd> row = p.row(r);
        masses(plan, j, row);
        visit(j, row);
      }
    });
  }
};

}  // namespace

double mean_pair_cost(ConstMatrixView x, ConstMatrixView y, ConstVectorView a, ConstVectorView b) {
  const Vector mx = x.transpose() * a;
  const Vector my = y.transpose() * b;
  // |m_s - m_t|^2 + tr C_s + tr C_t
  double cost = (mx - my).squaredNorm();
  for (Index i = 0; i < x.rows(); ++i) cost += a[i] * (x.row(i).transpose() - mx).squaredNorm();
  for (Index j = 0; j < y.rows(); ++j) cost += b[j] * (y.row(j).transpose() - my).squaredNorm();
  return cost;
}

EntropicPlan entropic_transport(ConstMatrixView x, ConstMatrixView y, ConstVectorView a, ConstVectorView b,
                                std::span<const std::int32_t> cls, Index classes, const EntropicOptions& options,
                                std::string_view who, const Context& context) {
  prepare_blas();
  EntropicPlan plan;
  plan.f = Vector::Zero(x.rows());
  plan.g = Vector::Zero(y.rows());
  plan.mean_cost = mean_pair_cost(x, y, a, b);
  if (!std::isfinite(plan.mean_cost))
    data_error("non_finite", "{}: the distances overflow; scale the features first", who);
  // All rows are equal: every plan costs nothing.
  const double unit = plan.mean_cost > 0 ? plan.mean_cost : 1;
  plan.eps = options.reg * unit;
  const Sinkhorn sinkhorn(x, y, a, b, cls, options.most_kept, context);
  if (options.reg < small_reg)
    for (double eps = unit; eps > plan.eps; eps *= 0.5) sinkhorn.solve(plan, eps, 1e-3, 50);
  const int rounds = cls.empty() ? 1 : options.rounds;
  for (int round = 0; round < rounds; ++round) {
    if (round > 0) {
      // W = (1/2) (mass that the class sends there + 1e-3)^(-1/2)
      const Matrix sent = sinkhorn.class_masses(plan, classes);
      plan.added = 0.5 * options.eta * unit * (sent.array() + class_floor).rsqrt();
    }
    const bool last = round + 1 == rounds;
    const int before = plan.sweeps;
    sinkhorn.solve(plan, plan.eps, last ? options.tolerance : options.tolerance_of_round(), options.max_sweeps);
    plan.sweeps_of_last = plan.sweeps - before;
  }
  plan.cost = sinkhorn.cost(plan);
  return plan;
}

Matrix barycentric_map(ConstMatrixView x, ConstMatrixView y, std::span<const std::int32_t> cls,
                       const EntropicPlan& plan, const Context& context) {
  Matrix mapped(x.rows(), y.cols());
  const CostStrips strips(x, y);
  context.parallel(strips.strips(), [&](Index s) {
    Matrix c = strips.strip(s);
    for (Index r = 0; r < c.rows(); ++r) {
      const Index i = strips.first(s) + r;
      Eigen::Ref<Eigen::RowVectorXd> row = c.row(r);
      if (plan.added.size() > 0) row += plan.added.row(cls[at(i)]);
      double sum = 0;
      soft_minimum(row, plan.g, plan.eps, sum);
      mapped.row(i).noalias() = row * y / sum;
    }
  });
  return mapped;
}

Matrix plan_of(ConstMatrixView x, ConstMatrixView y, std::span<const std::int32_t> cls, const EntropicPlan& plan) {
  Matrix p(x.rows(), y.rows());
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < y.rows(); ++j) {
      const double more = plan.added.size() > 0 ? plan.added(cls[at(i)], j) : 0;
      p(i, j) = std::exp((plan.f[i] + plan.g[j] - (x.row(i) - y.row(j)).squaredNorm() - more) / plan.eps);
    }
  }
  return p;
}

}  // namespace ecotone
