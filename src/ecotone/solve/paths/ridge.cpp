#include "ecotone/solve/paths/ridge.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/progress.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/moments/gram_columns.h"
#include "ecotone/solve/moments/gram_fill.h"
#include "ecotone/solve/moments/moved_moments.h"

namespace ecotone {
namespace {

Cholesky factor_or_refuse(Matrix a, std::string_view who, double lam, const Context& context) {
  auto factor = Cholesky::factor(std::move(a), context);
  if (!factor) data_error("singular", "{}: the equations are singular with lam={}; use a larger lam", who, lam);
  return std::move(*factor);
}

/// Minimises J for the groups that a ScaledMeans has in use.
class Equations {
 public:
  virtual ~Equations() = default;
  /// Computes what all penalties for these groups share.
  virtual void prepare(const ScaledMeans& scaled, const Context& context) = 0;
  /// Weights of x as given.
  virtual Vector solve(double lam, const Vector& v, std::string_view who, const Context& context) = 0;
};

/// Gram matrices of groups, or of folds of groups that are left out together.
struct Grams {
  const Moments& sums;
  std::vector<Index> group_of;  ///< the group of `sums` that contains each labelled group of the rows
};

/// The fold of each labelled group.
std::vector<Index> folds_of(const Moments& moments) {
  std::vector<Index> result(labelled_list(moments).size());
  const auto folds = group_folds(moments);
  for (std::size_t f = 0; f < folds.size(); ++f)
    for (const Index d : folds[f]) result[at(d)] = static_cast<Index>(f);
  return result;
}

/// Moments of folds, so that there are never more than 64 Gram matrices. A row of group d counts w / W_d if groups are
/// weighted equally: the mean of its fold is then that over its groups.
Moments fold_moments(const MomentRows& rows, const Moments& moments, GroupShares shares, const Context& context) {
  const std::vector<Index> labelled = labelled_list(moments);
  const std::vector<Index> folds = folds_of(moments);
  std::vector<std::int32_t> fold_of(rows.group_names.size(), 0);
  for (std::size_t d = 0; d < folds.size(); ++d) fold_of[at(labelled[d])] = static_cast<std::int32_t>(folds[d]);
  std::vector<std::string> names;
  for (std::size_t f = 0; f < group_folds(moments).size(); ++f) names.push_back(fmt::format("fold {}", f + 1));
  std::vector<std::int32_t> group(at(rows.y.size()));
  Vector weight(rows.y.size());
  for (Index i = 0; i < rows.y.size(); ++i) {
    const Index own = rows.group[at(i)];
    group[at(i)] = fold_of[at(own)];
    const double total = shares == GroupShares::equal ? moments.weight[own] : 1.0;
    weight[i] = total > 0 ? weight_of(rows, i) / total : 0.0;
  }
  const Features x = rows.x.head(rows.y.size());
  return gather_moments({x, group, std::move(names), rows.y, weight}, GramKind::double_precision, context);
}

/// (G + lam V) w = b, with G the mean over groups of E[z z'|d].
class FeatureEquations final : public Equations {
 public:
  explicit FeatureEquations(Grams grams) : grams_(std::move(grams)), sum_(grams_.sums.cols()) {}

  void prepare(const ScaledMeans& scaled, const Context& context) override {
    scaled_ = &scaled;
    const Index p = scaled.cols();
    add_grams(scaled.means, context);
    gram_.resize(p, p);
    const GroupMeans& means = scaled.means;
    // Row j up to the diagonal: (E[x_i x_j] - m_i m_j) / (u_i u_j).
    context.parallel(p, [&](Index j) {
      for (Index i = 0; i <= j; ++i) {
        const bool none = scaled.constant(i) || scaled.constant(j);
        gram_(j, i) =
            none ? 0.0 : (sum_.at(i, j) - means.centre[i] * means.centre[j]) / (scaled.unit[i] * scaled.unit[j]);
      }
      gram_(j, j) = 1;
    });
  }

  Vector solve(double lam, const Vector& v, std::string_view who, const Context& context) override {
    Matrix a = gram_;
    a.diagonal() += lam * v;
    Vector w = factor_or_refuse(std::move(a), who, lam, context).solve(scaled_->target, context);
    // A constant feature has its own equation, w = 0.
    for (Index j = 0; j < w.size(); ++j) w[j] = scaled_->constant(j) ? 0.0 : w[j] / scaled_->unit[j];
    return w;
  }

 private:
  Grams grams_;
  SymmetricTiles<double> sum_;  ///< E[x x'] over the groups in use
  const ScaledMeans* scaled_ = nullptr;
  Matrix gram_;  ///< lower triangle

  /// Adds the groups in use rather than subtracting the others: a group with huge values would leave rounding behind.
  void add_grams(const GroupMeans& means, const Context& context) {
    const Moments& sums = grams_.sums;
    Vector factor = Vector::Zero(sums.group_count());
    for (const Index d : means.in_use) factor[grams_.group_of[at(d)]] += means.share[d];
    const std::span<double> out = sum_.values();
    constexpr std::size_t part = std::size_t{1} << 14;
    context.parallel(static_cast<Index>((out.size() + part - 1) / part), [&](Index t) {
      const std::size_t first = at(t) * part;
      const std::span<double> into = out.subspan(first, std::min(part, out.size() - first));
      std::fill(into.begin(), into.end(), 0.0);
      for (Index g = 0; g < factor.size(); ++g) {
        if (factor[g] == 0) continue;
        const double each = factor[g] / sums.weight[g];
        const double* values = sums.gram[at(g)].values().data() + first;
        for (std::size_t k = 0; k < into.size(); ++k) into[k] += each * values[k];
      }
    });
  }
};

/// With T = V^-1/2 Z' C^1/2, where C are the shares of the rows in the mean: w = V^-1/2 T (T'T + lam I)^-1 C^1/2 y.
class RowEquations final : public Equations {
 public:
  RowEquations(const MomentRows& rows, const Moments& moments) : rows_(rows), moments_(moments) {
    x_ = rows.x.head(rows.y.size()).to_matrix();
    place_.assign(rows.group_names.size(), -1);
    const std::vector<Index> labelled = labelled_list(moments);
    for (std::size_t d = 0; d < labelled.size(); ++d) place_[at(labelled[d])] = static_cast<Index>(d);
  }

  void prepare(const ScaledMeans& scaled, const Context& context) override {
    scaled_ = &scaled;
    v_.resize(0);
    in_use_.clear();
    std::vector<double> root;
    for (Index i = 0; i < rows_.y.size(); ++i) {
      const auto group = at(rows_.group[at(i)]);
      const double share =
          scaled.means.share[place_[group]] * weight_of(rows_, i) / moments_.weight[static_cast<Index>(group)];
      if (!(share > 0)) continue;
      in_use_.push_back(i);
      root.push_back(std::sqrt(share));
    }
    root_ = Eigen::Map<const Vector>(root.data(), static_cast<Index>(root.size()));
    target_ = root_.cwiseProduct(Vector(rows_.y(in_use_).array() - scaled.means.y_centre));
    context.check_cancelled();
  }

  Vector solve(double lam, const Vector& v, std::string_view who, const Context& context) override {
    if (v_.size() != v.size() || v_ != v) form(v, context);
    Matrix a = kernel_;
    a.diagonal().array() += lam;
    const Vector u = factor_or_refuse(std::move(a), who, lam, context).solve(target_, context);
    return product(scaled_rows_, Matrix(u), context).col(0).cwiseProduct(factor_);
  }

 private:
  const MomentRows& rows_;
  const Moments& moments_;
  Matrix x_;
  std::vector<Index> place_;  ///< position of a group among the labelled ones
  const ScaledMeans* scaled_ = nullptr;
  std::vector<Index> in_use_;
  Vector root_;         ///< C^1/2
  Vector target_;       ///< C^1/2 y
  Vector v_;            ///< the following are computed for this
  Vector factor_;       ///< V^-1/2 / u; 0 for constant features
  Matrix scaled_rows_;  ///< T, p x N
  Matrix kernel_;       ///< T'T

  void form(const Vector& v, const Context& context) {
    v_ = v;
    const Index p = scaled_->cols();
    factor_.resize(p);
    for (Index j = 0; j < p; ++j) factor_[j] = scaled_->constant(j) ? 0.0 : 1 / (std::sqrt(v[j]) * scaled_->unit[j]);
    scaled_rows_.resize(p, root_.size());
    context.parallel(p, [&](Index j) {
      for (Index i = 0; i < root_.size(); ++i)
        scaled_rows_(j, i) = factor_[j] * root_[i] * (x_(in_use_[at(i)], j) - scaled_->means.centre[j]);
    });
    kernel_ = gram(scaled_rows_, context);
  }
};

void require_room(const MomentRows& rows, RidgeRoute route, std::string_view who) {
  const std::size_t p = at(rows.x.cols());
  const std::size_t n = at(rows.y.size());
  const std::size_t grams = std::min(rows.group_names.size(), at(most_group_folds));
  const std::size_t numbers = route == RidgeRoute::features ? grams * p * p / 2 + 5 * p * p / 2 : 2 * n * p + 2 * n * n;
  require_memory(numbers * sizeof(double), who,
                 route == RidgeRoute::features ? "a Gram matrix for every domain or fold" : "the products of all rows",
                 "use step, which selects few features, or use fewer columns");
}

/// The empty model, then every penalty.
std::vector<Candidate> candidates_of(const RidgePathOptions& options, Index size) {
  std::vector<Candidate> list{{}};
  for (const double mix : options.mix)
    for (const double lam : options.lam ? std::vector<double>{*options.lam} : ridge_penalties())
      list.push_back({lam, mix, size});
  return list;
}

/// The equations of rows whose groups each have their own sums.
std::unique_ptr<Equations> equations_of(const MomentRows& rows, const Moments& moments, bool by_rows) {
  if (by_rows) return std::make_unique<RowEquations>(rows, moments);
  return std::make_unique<FeatureEquations>(Grams{moments, labelled_list(moments)});
}

/// One column and offset for every candidate.
struct FoldModels {
  Matrix weights;
  Vector offset;
};

/// All candidates fitted without the held groups (positions among the labelled ones).
FoldModels fold_models(const Moments& moments, Equations& equations, const std::vector<Index>& held,
                       const RidgePathOptions& options, const std::vector<Candidate>& list, const Context& context) {
  const auto count = static_cast<Index>(list.size());
  const ScaledMeans scaled(moments, options.shares, held);
  equations.prepare(scaled, context);
  FoldModels models{Matrix::Zero(moments.cols(), count), Vector::Constant(count, scaled.means.y_centre)};
  for (Index c = 1; c < count; ++c) {
    const Candidate& each = list[at(c)];
    const Vector w = equations.solve(each.lam, scaled.penalty(each.mix), options.who, context);
    models.weights.col(c) = w;
    models.offset[c] = scaled.offset(w);
  }
  return models;
}

/// Fits all candidates without the held groups and judges them there.
void judge_fold(const MomentRows& rows, const Moments& moments, Equations& equations, const std::vector<Index>& held,
                const RidgePathOptions& options, const std::vector<Candidate>& list, LeftOutValues& values,
                const Context& context) {
  const std::vector<Index> labelled = labelled_list(moments);
  const auto rows_of = rows_by_group(rows);
  const FoldModels models = fold_models(moments, equations, held, options, list, context);
  for (const Index d : held)
    judge_group(rows, rows_of[at(labelled[at(d)])], {}, models.weights, models.offset, d, values, context);
}

/// The mean squared error of every candidate in a group, from its sums:
/// E(y - w.x - b)^2 = E y^2 - 2 (w.E xy + b E y) + w'E xx' w + 2 b w.E x + b^2.
Vector squared_errors(const Moments& moments, Index group, const FoldModels& models, const Context& context) {
  const double weight = moments.weight[group];
  const Matrix gram_w = product(gram_of(moments, group), models.weights, context);
  Vector errors(models.offset.size());
  for (Index c = 0; c < errors.size(); ++c) {
    const auto w = models.weights.col(c);
    const double b = models.offset[c];
    const double sum = moments.yy[group] - 2 * (moments.xy.row(group).dot(w) + b * moments.y1[group]) +
                       w.dot(gram_w.col(c)) + 2 * b * moments.x1.row(group).dot(w) + weight * b * b;
    errors[c] = std::max(0.0, sum / weight);
  }
  return errors;
}

/// The table of candidates judged by the sums of the groups left out.
LeftOutTable left_out_table(const Moments& moments, Equations& equations, const RidgePathOptions& options,
                            const Context& context) {
  std::vector<Candidate> list = candidates_of(options, moments.cols());
  const std::vector<Index> labelled = labelled_list(moments);
  const auto folds = group_folds(moments);
  LeftOutValues values(static_cast<Index>(labelled.size()), static_cast<Index>(list.size()));
  Progress progress(context.observer(), "penalties", static_cast<Index>(folds.size()));
  for (const auto& held : folds) {
    context.check_cancelled();
    const FoldModels models = fold_models(moments, equations, held, options, list, context);
    for (const Index d : held)
      values.loss.row(d) = squared_errors(moments, labelled[at(d)], models, context).transpose();
    progress.advance();
  }
  const LeftOutCriterion criterion =
      criterion_of(options.who, options.judge.score, !moments.classes.empty(), /*rows=*/false);
  return choose_left_out(std::move(list), values, criterion, options.judge.rule, static_cast<Index>(folds.size()));
}

LeftOutTable left_out_table(const MomentRows& rows, const Moments& moments, Equations& equations,
                            const RidgePathOptions& options, const Context& context) {
  std::vector<Candidate> list = candidates_of(options, moments.cols());
  const auto folds = left_out_folds(moments, options.refitted);
  LeftOutValues values(static_cast<Index>(labelled_list(moments).size()), static_cast<Index>(list.size()));
  Progress progress(context.observer(), "penalties", static_cast<Index>(folds.size()));
  bool judged = false;
  for (std::size_t f = 0; f < folds.size(); ++f) {
    context.check_cancelled();
    if (options.refitted.held.empty()) {
      judged = true;
      judge_fold(rows, moments, equations, folds[f], options, list, values, context);
    } else {
      options.refitted.rows(f, [&](const MomentRows& own) {
        const bool by_rows = own.y.size() < own.x.cols();
        const Moments sums = gather_moments(own, by_rows ? GramKind::none : GramKind::double_precision, context);
        const std::unique_ptr<Equations> of_fold = equations_of(own, sums, by_rows);
        judge_fold(own, sums, *of_fold, folds[f], options, list, values, context);
        judged = true;
      });
    }
    progress.advance();
  }
  if (!judged) {
    note_nothing_refitted(options.who, context);
    RidgePathOptions plain = options;
    plain.refitted = {};
    return left_out_table(rows, moments, equations, plain, context);
  }
  const bool classes = (rows.y.array().abs() == 1).all();
  return choose_left_out(std::move(list), values, criterion_of(options.who, options.judge.score, classes, true),
                         options.judge.rule, static_cast<Index>(folds.size()));
}

}  // namespace

std::string_view route_name(RidgeRoute route) { return route == RidgeRoute::features ? "features" : "rows"; }

std::vector<double> ridge_penalties() { return {0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10}; }

namespace {

/// Chooses by the table, where there is something to choose, and fits all groups.
template <class Table>
RidgePathFit chosen_fit(const Moments& moments, Equations& equations, const RidgePathOptions& options, RidgeRoute route,
                        const Table& table, const Context& context) {
  RidgePathFit result;
  result.route = route;
  result.lam = options.lam.value_or(0.0);
  result.mix = options.mix.front();
  if (!options.lam || options.mix.size() > 1) {
    const auto groups = labelled_list(moments).size();
    if (groups < 2)
      data_error("needs_two_domains",
                 "{}: the penalty is chosen by leaving one domain out, which needs at least two labelled domains, got "
                 "{}; or set lam",
                 options.who, groups);
    result.table = table();
    const Candidate& best = result.table->candidates[at(result.table->best)];
    result.lam = best.lam;
    result.mix = best.mix;
    result.kept_empty = !options.lam && !result.table->beats_empty;
  }
  const ScaledMeans scaled(moments, options.shares, {});
  result.weights = Vector::Zero(moments.cols());
  if (!result.kept_empty) {
    equations.prepare(scaled, context);
    result.weights = equations.solve(result.lam, scaled.penalty(result.mix), options.who, context);
  }
  result.offset = scaled.offset(result.weights);
  return result;
}

}  // namespace

RidgePathFit fit_ridge_path(const Moments& moments, const RidgePathOptions& options, const Context& context) {
  if (moments.gram_kind() != GramKind::double_precision)
    data_error("no_gram", "{}: the moments have no Gram matrices of double precision", options.who);
  FeatureEquations equations(Grams{moments, labelled_list(moments)});
  return chosen_fit(
      moments, equations, options, RidgeRoute::features,
      [&] { return left_out_table(moments, equations, options, context); }, context);
}

RidgePathFit fit_ridge_path(const MomentRows& rows, const RidgePathOptions& options, RidgeRoute route,
                            const Context& context) {
  require_room(rows, route, options.who);
  const bool by_features = route == RidgeRoute::features;
  const bool many = rows.group_names.size() > at(most_group_folds);
  const Moments moments =
      gather_moments(rows, by_features && !many ? GramKind::double_precision : GramKind::none, context);
  Moments of_folds;
  std::unique_ptr<Equations> equations;
  if (by_features && many) {
    of_folds = fold_moments(rows, moments, options.shares, context);
    equations = std::make_unique<FeatureEquations>(Grams{of_folds, folds_of(moments)});
  } else {
    equations = equations_of(rows, moments, !by_features);
  }
  return chosen_fit(
      moments, *equations, options, route, [&] { return left_out_table(rows, moments, *equations, options, context); },
      context);
}

RidgePathFit fit_ridge_path(const MomentRows& rows, const RidgePathOptions& options, const Context& context) {
  const RidgeRoute route = rows.y.size() < rows.x.cols() ? RidgeRoute::rows : RidgeRoute::features;
  return fit_ridge_path(rows, options, route, context);
}

}  // namespace ecotone
