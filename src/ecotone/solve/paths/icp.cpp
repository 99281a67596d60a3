#include "ecotone/solve/paths/icp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/measure/intervals.h"

namespace ecotone {
namespace {

/// Relative to a feature's variance: if less is left beside the others, they span it.
constexpr double icp_spent = 1e-10;
/// Relative to a feature's mean square: a variance of no more is what rounding leaves of a constant.
constexpr double icp_constant = 1e-12;
/// Relative to the label's mean square: squares of residuals that are no larger are as good as 0, because they are
/// differences of sums of that size.
constexpr double icp_exact = 1e-11;

/// Sums over rows of some features and the label, the label last.
struct IcpSums {
  double n = 0;
  Vector first;   ///< k + 1
  Matrix second;  ///< products of values, (k + 1) x (k + 1)

  IcpSums minus(const IcpSums& other) const { return {n - other.n, first - other.first, second - other.second}; }
  void add(const IcpSums& other) {
    n += other.n;
    first += other.first;
    second += other.second;
  }
};

/// Least squares of the label on some of the features and an offset.
struct IcpRule {
  std::vector<Index> features;  ///< those that the others do not span
  Vector weights;
  double offset = 0;
  double rss = 0;
  Index parameters() const { return static_cast<Index>(features.size()) + 1; }
};

/// Elimination by the largest pivot of the unit-diagonal matrix of products around the mean.
IcpRule rule_of(const IcpSums& sums, const std::vector<Index>& set) {
  std::vector<Index> places = set;
  const Index y = sums.first.size() - 1;
  places.push_back(y);
  const auto size = static_cast<Index>(places.size());
  const Vector first = sums.first(places);
  Matrix s = sums.second(places, places) - first * first.transpose() / sums.n;
  const Matrix whole = s;
  const Vector variance = s.diagonal();
  const Vector constant = icp_constant * sums.second.diagonal()(places);
  std::vector<Index> order;
  std::vector<bool> used(places.size());
  for (;;) {
    Index pivot = -1;
    double most = icp_spent;
    for (Index j = 0; j + 1 < size; ++j) {
      const double left = variance[j] > constant[j] ? s(j, j) / variance[j] : 0;
      if (!used[at(j)] && left > most) {
        most = left;
        pivot = j;
      }
    }
    if (pivot < 0) break;
    used[at(pivot)] = true;
    order.push_back(pivot);
    const Vector column = s.col(pivot);
    s -= column * column.transpose() / column[pivot];
  }
  IcpRule rule;
  rule.rss = std::max(0.0, s(size - 1, size - 1));
  // The weights of what was taken, by Gaussian elimination on its own products.
  const auto rank = static_cast<Index>(order.size());
  Matrix a = whole(order, order);
  Vector b(rank);
  for (Index k = 0; k < rank; ++k) b[k] = whole(order[at(k)], size - 1);
  for (Index k = 0; k < rank; ++k) {
    for (Index i = k + 1; i < rank; ++i) {
      const double factor = a(i, k) / a(k, k);
      a.row(i) -= factor * a.row(k);
      b[i] -= factor * b[k];
    }
  }
  rule.weights = Vector::Zero(rank);
  for (Index k = rank - 1; k >= 0; --k) {
    double sum = b[k];
    for (Index i = k + 1; i < rank; ++i) sum -= a(k, i) * rule.weights[i];
    rule.weights[k] = sum / a(k, k);
  }
  rule.offset = sums.first[y] / sums.n;
  for (Index k = 0; k < rank; ++k) {
    rule.features.push_back(places[at(order[at(k)])]);
    rule.offset -= rule.weights[k] * sums.first[rule.features.back()] / sums.n;
  }
  return rule;
}

/// Mean and variance (divisor n - 1) of the residuals of a rule.
struct ResidualMoments {
  double n = 0;
  double mean = 0;
  double variance = 0;
};

/// A variance below `exact` counts as that much, so that groups which the rule fits exactly do not differ by rounding.
ResidualMoments residuals_of(const IcpSums& sums, const IcpRule& rule, double exact) {
  const Index y = sums.first.size() - 1;
  // r = c . (x, y) - offset
  Vector c = Vector::Zero(y + 1);
  c[y] = 1;
  for (std::size_t k = 0; k < rule.features.size(); ++k) c[rule.features[k]] = -rule.weights[static_cast<Index>(k)];
  ResidualMoments result;
  result.n = sums.n;
  const Vector mean = sums.first / sums.n;
  result.mean = c.dot(mean) - rule.offset;
  const Matrix scatter = sums.second - sums.n * mean * mean.transpose();
  result.variance = sums.n > 1 ? std::max(exact, c.dot(scatter * c) / (sums.n - 1)) : 0;
  return result;
}

double welch_p(const ResidualMoments& a, const ResidualMoments& b) {
  const double va = a.variance / a.n;
  const double vb = b.variance / b.n;
  if (!(va + vb > 0)) return a.mean == b.mean ? 1 : 0;
  const double freedom = (va + vb) * (va + vb) / (va * va / (a.n - 1) + vb * vb / (b.n - 1));
  return t_two_sided((a.mean - b.mean) / std::sqrt(va + vb), freedom);
}

double variance_p(const ResidualMoments& a, const ResidualMoments& b) {
  if (!(a.variance > 0) || !(b.variance > 0)) return a.variance == b.variance ? 1 : 0;
  const double f = a.variance / b.variance;
  return std::min(1.0, 2 * std::min(f_upper_tail(f, a.n - 1, b.n - 1), f_upper_tail(1 / f, b.n - 1, a.n - 1)));
}

/// The groups' sums, and those of all of them.
struct IcpGroups {
  std::vector<IcpSums> groups;
  IcpSums all;

  /// The mean square of residuals that is as good as 0.
  double exact() const { return icp_exact * all.second(all.first.size() - 1, all.first.size() - 1) / all.n; }
};

/// p of one set, 1 and `untested` where a group leaves too few rows.
double chow_p(const IcpGroups& data, const std::vector<Index>& set, bool& untested) {
  const IcpRule whole = rule_of(data.all, set);
  const double exact = data.exact();
  double least = 1;
  for (const IcpSums& group : data.groups) {
    const IcpSums rest = data.all.minus(group);
    const IcpRule other = rule_of(rest, set);
    const double freedom = rest.n - static_cast<double>(other.parameters());
    if (!(freedom > 0)) {
      untested = true;
      return 1;
    }
    // F_e = ((RSS_all - RSS_-e) / n_e) / (RSS_-e / (n_-e - p))
    const double added = whole.rss - other.rss;
    const double more = added > exact * data.all.n ? added / group.n : 0;
    const double noise = std::max(other.rss, exact * rest.n) / freedom;
    const double f = noise > 0 ? more / noise : more > 0 ? std::numeric_limits<double>::infinity() : 0;
    least = std::min(least, f_upper_tail(f, group.n, freedom));
  }
  return std::min(1.0, static_cast<double>(data.groups.size()) * least);
}

double residual_p(const IcpGroups& data, const std::vector<Index>& set, bool& untested) {
  const IcpRule whole = rule_of(data.all, set);
  // Of two groups the one against the rest is the other against the rest.
  const std::size_t compared = data.groups.size() == 2 ? 1 : data.groups.size();
  double least = 1;
  for (std::size_t e = 0; e < compared; ++e) {
    const IcpSums rest = data.all.minus(data.groups[e]);
    if (!(rest.n > static_cast<double>(whole.parameters()))) {
      untested = true;
      return 1;
    }
    const ResidualMoments own = residuals_of(data.groups[e], whole, data.exact());
    const ResidualMoments others = residuals_of(rest, whole, data.exact());
    if (own.n < 2 || others.n < 2) continue;
    least = std::min(least, 2 * std::min(welch_p(own, others), variance_p(own, others)));
  }
  return std::min(1.0, static_cast<double>(compared) * least);
}

/// All subsets of k features, small ones first, each ascending.
std::vector<IcpSet> subsets_of(Index k) {
  std::vector<IcpSet> sets;
  for (std::uint32_t bits = 0; bits < (1U << k); ++bits) {
    IcpSet set;
    for (Index j = 0; j < k; ++j)
      if ((bits >> j) & 1U) set.features.push_back(j);
    sets.push_back(std::move(set));
  }
  std::ranges::sort(sets, [](const IcpSet& a, const IcpSet& b) {
    if (a.features.size() != b.features.size()) return a.features.size() < b.features.size();
    return a.features < b.features;
  });
  return sets;
}

IcpGroups sums_of(const Moments& moments, const GramColumns& columns, const std::vector<Index>& screened) {
  IcpGroups data;
  const std::vector<Index> labelled = labelled_list(moments);
  const auto k = static_cast<Index>(screened.size());
  data.all = {0, Vector::Zero(k + 1), Matrix::Zero(k + 1, k + 1)};
  for (std::size_t place = 0; place < labelled.size(); ++place) {
    const Index g = labelled[place];
    const double weight = moments.weight[g];
    if (!(weight > 0)) continue;
    IcpSums sums{moments.rows[g], Vector(k + 1), Matrix(k + 1, k + 1)};
    // Row weights count within a group; it has as many rows as it has.
    const double part = sums.n / weight;
    for (Index a = 0; a < k; ++a) {
      const Index j = screened[at(a)];
      sums.first[a] = part * moments.x1(g, j);
      sums.second(a, k) = sums.second(k, a) = part * moments.xy(g, j);
      for (Index b = 0; b < k; ++b)
        sums.second(a, b) = sums.n * columns.column(j)(static_cast<Index>(place), screened[at(b)]);
    }
    sums.first[k] = part * moments.y1[g];
    sums.second(k, k) = part * moments.yy[g];
    data.all.add(sums);
    data.groups.push_back(std::move(sums));
  }
  return data;
}

}  // namespace

std::string_view icp_test_name(IcpTest test) { return test == IcpTest::chow ? "chow" : "residual"; }

std::vector<Index> lasso_entries(const Moments& moments, GramColumns& columns, Index count, const Context& context) {
  const std::vector<Index> labelled = labelled_list(moments);
  const Index p = moments.cols();
  double n = 0;
  double y = 0;
  Vector mean = Vector::Zero(p);
  Vector square = Vector::Zero(p);
  Vector c = Vector::Zero(p);
  for (const Index g : labelled) {
    n += moments.weight[g];
    y += moments.y1[g];
    mean += moments.x1.row(g).transpose();
    square += moments.xx.row(g).transpose();
    c += moments.xy.row(g).transpose();
  }
  mean /= n;
  Vector scale = (square / n - mean.cwiseAbs2()).cwiseMax(0.0).cwiseSqrt();
  for (Index j = 0; j < p; ++j)
    if (!(scale[j] > 1e-6 * std::abs(mean[j]))) scale[j] = 0;
  const auto unit = [&](Index j) { return scale[j] > 0 ? 1 / scale[j] : 0.0; };
  // Correlations with the label, up to its scale, and of features.
  for (Index j = 0; j < p; ++j) c[j] = (c[j] / n - mean[j] * y / n) * unit(j);
  std::vector<Index> entered;
  std::vector<Vector> correlation;
  Vector w = Vector::Zero(p);
  Vector gradient = c;
  const auto move = [&](std::size_t k, double value) {
    gradient -= (value - w[entered[k]]) * correlation[k];
    w[entered[k]] = value;
  };
  const double top = c.cwiseAbs().maxCoeff();
  double level = top;
  for (int step = 0; step < 400 && std::ssize(entered) < count && top > 0; ++step, level *= 0.97) {
    context.check_cancelled();
    for (int round = 0; round < 1000; ++round) {
      double change = 0;
      for (std::size_t k = 0; k < entered.size(); ++k) {
        const double before = w[entered[k]];
        const double free = gradient[entered[k]] + before;
        move(k, free > level ? free - level : free < -level ? free + level : 0.0);
        change = std::max(change, std::abs(w[entered[k]] - before));
      }
      if (change <= 1e-10 * top) break;
    }
    std::vector<Index> next;
    for (Index j = 0; j < p; ++j)
      if (std::abs(gradient[j]) > level * (1 - 1e-9) && std::ranges::find(entered, j) == entered.end())
        next.push_back(j);
    std::ranges::stable_sort(next, [&](Index a, Index b) { return std::abs(gradient[a]) > std::abs(gradient[b]); });
    if (std::ssize(next) > count - std::ssize(entered)) next.resize(at(count - std::ssize(entered)));
    columns.fetch(next, context);
    for (const Index j : next) {
      Vector column = Vector::Zero(p);
      for (std::size_t place = 0; place < labelled.size(); ++place)
        column += moments.weight[labelled[place]] / n * columns.column(j).row(static_cast<Index>(place)).transpose();
      for (Index i = 0; i < p; ++i) column[i] = (column[i] - mean[i] * mean[j]) * unit(i) * unit(j);
      entered.push_back(j);
      correlation.push_back(std::move(column));
    }
  }
  return entered;
}

IcpResult invariant_sets(const Moments& moments, GramColumns& columns, const IcpOptions& options, std::string_view who,
                         const Context& context) {
  Index groups = 0;
  for (const Index g : labelled_list(moments)) groups += moments.weight[g] > 0 ? 1 : 0;
  if (groups < 2) data_error("needs_two_domains", "{}: needs two labelled domains to compare, got {}", who, groups);
  IcpResult result;
  result.all = moments.cols() <= options.most;
  if (result.all) {
    for (Index j = 0; j < moments.cols(); ++j) result.screened.push_back(j);
  } else {
    result.screened = lasso_entries(moments, columns, options.most, context);
    std::ranges::sort(result.screened);
  }
  columns.fetch(result.screened, context);
  const IcpGroups data = sums_of(moments, columns, result.screened);
  const auto k = static_cast<Index>(result.screened.size());
  result.sets = subsets_of(k);
  std::vector<char> untested(result.sets.size());
  context.parallel(std::ssize(result.sets), [&](Index s) {
    IcpSet& set = result.sets[at(s)];
    bool skipped = false;
    set.p =
        options.test == IcpTest::chow ? chow_p(data, set.features, skipped) : residual_p(data, set.features, skipped);
    untested[at(s)] = skipped ? 1 : 0;
  });
  result.untested = std::ranges::count(untested, 1);
  result.pvalue = Vector::Zero(k);
  std::vector<Index> shared;
  for (Index j = 0; j < k; ++j) shared.push_back(j);
  for (std::size_t s = 0; s < result.sets.size(); ++s) {
    IcpSet& set = result.sets[s];
    set.accepted = set.p > options.alpha;
    const auto has = [&](Index j) { return std::ranges::find(set.features, j) != set.features.end(); };
    for (Index j = 0; j < k; ++j)
      if (!has(j)) result.pvalue[j] = std::max(result.pvalue[j], set.p);
    if (!set.accepted) continue;
    if (result.best < 0 || set.p > result.sets[at(result.best)].p) result.best = static_cast<Index>(s);
    std::erase_if(shared, [&](Index j) { return !has(j); });
  }
  result.found = result.best >= 0;
  if (!result.found) shared.clear();
  const IcpRule rule = rule_of(data.all, shared);
  result.weights = Vector::Zero(std::ssize(shared));
  for (std::size_t i = 0; i < rule.features.size(); ++i)
    result.weights[std::ranges::find(shared, rule.features[i]) - shared.begin()] = rule.weights[static_cast<Index>(i)];
  result.offset = rule.offset;
  // From places among the screened features to features.
  for (const Index j : shared) result.selected.push_back(result.screened[at(j)]);
  for (IcpSet& set : result.sets)
    for (Index& j : set.features) j = result.screened[at(j)];
  return result;
}

}  // namespace ecotone
