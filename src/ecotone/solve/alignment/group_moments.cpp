#include "ecotone/solve/alignment/group_moments.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/blocks.h"
#include "ecotone/base/error.h"
#include "ecotone/base/memory.h"
#include "ecotone/base/numbers.h"
#include "ecotone/linalg/products.h"

namespace ecotone {
namespace {

constexpr double most_prior_rows = 100;  // that a prior may count for
constexpr double plain_kappa = 4;        // where too few groups tell
constexpr Index fewest_for_log = 3;      // rows of a group whose ln variance is used

/// v <= max(1e-20 v0, 1e-24 m^2): what rounding leaves of a constant column.
bool is_constant(double v, double v0, double mean) { return v <= std::max(1e-20 * v0, 1e-24 * mean * mean); }

/// S_jj / (n - 1); 0 for one row
double sample_variance_of(double square, double count) { return count > 1 ? square / (count - 1) : 0; }

/// Whether column j has one value in every group, up to rounding.
bool is_constant_in_all(const std::vector<const GroupMoments*>& groups, const std::vector<Vector>& squares, Index j) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (!is_constant(sample_variance_of(squares[g][j], groups[g]->count), 0, groups[g]->mean[j])) return false;
  return true;
}

/// kv = min(100, 2 / q), q the spread of ln v over groups beyond that of samples
double kappa_of(const std::vector<const GroupMoments*>& groups, const std::vector<Vector>& squares, Index j,
                double v0) {
  std::vector<double> logs;
  double sampling = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const double v = sample_variance_of(squares[g][j], groups[g]->count);
    if (groups[g]->count < fewest_for_log || is_constant(v, v0, groups[g]->mean[j])) continue;
    logs.push_back(std::log(v));
    sampling += 2 / (groups[g]->count - 1);
  }
  const auto count = static_cast<double>(logs.size());
  if (logs.size() < 2) return plain_kappa;
  double mean = 0, square = 0;
  for (const double each : logs) mean += each / count;
  for (const double each : logs) square += (each - mean) * (each - mean);
  const double q = square / (count - 1) - sampling / count;
  return q <= 0 ? most_prior_rows : std::min(most_prior_rows, 2 / q);
}

/// Rows of each group of a block, one after the other.
struct BlockGroups {
  Matrix x;
  Vector weight;
};

BlockGroups rows_of_group(const RowBlock& block, std::span<const std::int32_t> group, const Vector& weight,
                          std::int32_t wanted) {
  std::vector<Index> rows;
  for (Index i = 0; i < block.x.rows(); ++i)
    if (group[at(block.first + i)] == wanted) rows.push_back(i);
  BlockGroups found{Matrix(std::ssize(rows), block.x.cols()), {}};
  if (weight.size() > 0) found.weight.resize(std::ssize(rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto to = static_cast<Index>(i);
    found.x.row(to) = block.x.row(rows[i]);
    if (weight.size() > 0) found.weight[to] = weight[block.first + rows[i]];
  }
  return found;
}

/// States of all groups, added in blocks.
struct AllGroups {
  std::vector<GroupMoments> groups;

  void merge(const AllGroups& other) {
    for (std::size_t g = 0; g < groups.size(); ++g) groups[g].merge(other.groups[g]);
  }
};

std::vector<GroupMoments> in_one_pass(const Features& x, std::span<const std::int32_t> group, Index groups,
                                      const Vector& weight, ScatterKind kind, const Context& context) {
  const AllGroups zero{std::vector<GroupMoments>(at(groups), GroupMoments(x.cols(), kind))};
  AllGroups sum = sum_blocks(x.blocks(), context, zero, [&](AllGroups& into, Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    std::vector<std::int32_t> there(group.begin() + block.first, group.begin() + block.first + block.x.rows());
    std::sort(there.begin(), there.end());
    there.erase(std::unique(there.begin(), there.end()), there.end());
    for (const std::int32_t g : there) {
      if (g < 0) continue;
      const BlockGroups rows = rows_of_group(block, group, weight, g);
      into.groups[at(g)].add(rows.x, rows.weight);
    }
  });
  return std::move(sum.groups);
}

}  // namespace

GroupMoments::GroupMoments(Index cols, ScatterKind kind)
    : mean(Vector::Zero(cols)), scatter(Matrix::Zero(cols, kind == ScatterKind::full ? cols : 1)) {}

void GroupMoments::add(ConstMatrixView x, ConstVectorView row_weight) {
  GroupMoments block(cols(), scatter.cols() == cols() ? ScatterKind::full : ScatterKind::diagonal);
  const bool weighted = row_weight.size() > 0;
  Vector low = Vector::Constant(cols(), infinity), high = -low;
  for (Index i = 0; i < x.rows(); ++i) {
    const double w = weighted ? row_weight[i] : 1;
    if (!(w > 0)) continue;
    block.count += 1;
    block.weight += w;
    block.mean += w * x.row(i).transpose();
    low = low.cwiseMin(x.row(i).transpose());
    high = high.cwiseMax(x.row(i).transpose());
  }
  if (block.count == 0) return;
  block.mean /= block.weight;
  // The mean of equal values is that value: what rounding leaves of a constant column would be learned from.
  block.mean = (low.array() == high.array()).select(low, block.mean);
  Matrix centred = x.rowwise() - block.mean.transpose();
  if (weighted)
    for (Index i = 0; i < x.rows(); ++i) centred.row(i) *= std::sqrt(std::max(row_weight[i], 0.0));
  if (scatter.cols() == cols() && cols() > 1) {
    add_gram(centred, block.scatter);
    mirror_lower(block.scatter);
  } else {
    block.scatter = centred.colwise().squaredNorm().transpose();
  }
  merge(block);
}

void GroupMoments::merge(const GroupMoments& other) {
  if (other.count == 0) return;
  if (count == 0) {
    *this = other;
    return;
  }
  const double total = weight + other.weight;
  const Vector apart = other.mean - mean;
  const double product = weight * (other.weight / total);
  // S + S' + D D' n n' / (n + n')
  if (scatter.cols() == cols() && cols() > 1)
    scatter += other.scatter + product * apart * apart.transpose();
  else
    scatter += other.scatter + product * apart.cwiseAbs2();
  mean += apart * (other.weight / total);
  count += other.count;
  weight = total;
}

Matrix GroupMoments::scaled_scatter() const { return weight > 0 ? Matrix(scatter * (count / weight)) : scatter; }

Vector GroupMoments::squares() const {
  const Vector found = scatter.cols() == cols() ? Vector(scatter.diagonal()) : Vector(scatter.col(0));
  return weight > 0 ? Vector(found * (count / weight)) : found;
}

std::vector<GroupMoments> group_moments(const Features& x, std::span<const std::int32_t> group, Index groups,
                                        const Vector& weight, ScatterKind kind, const char* who,
                                        const Context& context) {
  const auto d = static_cast<std::size_t>(x.cols()), count = static_cast<std::size_t>(groups);
  const auto copies = static_cast<std::size_t>(context.threads()) + 6;
  const std::size_t cells = kind == ScatterKind::full ? (count + copies) * d * d : (copies + 1) * count * 2 * d;
  require_memory(cells * sizeof(double), who, "the moments of the domains", "use fewer columns");
  if (kind == ScatterKind::diagonal) return in_one_pass(x, group, groups, weight, kind, context);
  std::vector<std::vector<Index>> rows(count);
  for (std::size_t i = 0; i < group.size(); ++i)
    if (group[i] >= 0) rows[at(group[i])].push_back(static_cast<Index>(i));
  std::vector<GroupMoments> found;
  for (const std::vector<Index>& own : rows) {
    if (own.empty()) {
      found.emplace_back(x.cols(), kind);
      continue;
    }
    const std::vector<std::int32_t> one(own.size(), 0);
    const Vector of_own = weight.size() > 0 ? Vector(weight(own)) : Vector();
    found.push_back(std::move(in_one_pass(x.take(own), one, 1, of_own, kind, context)[0]));
  }
  return found;
}

MomentPrior moment_prior(const std::vector<GroupMoments>& all, const char* who) {
  std::vector<const GroupMoments*> groups;
  std::vector<Vector> squares;
  for (const GroupMoments& each : all) {
    if (each.count == 0) continue;
    groups.push_back(&each);
    squares.push_back(each.squares());
  }
  if (groups.empty()) data_error("empty_data", "{}: there are no rows of positive weight to learn from", who);
  const Index d = groups[0]->cols();
  const auto count = static_cast<double>(groups.size());
  const bool full = groups[0]->scatter.cols() == d && !groups[0]->diagonal();
  MomentPrior prior{Vector::Zero(d), Vector::Zero(d), Vector::Zero(d), Vector::Zero(d), {}};
  if (full) prior.within = Matrix::Zero(d, d);
  double freedom = 0, inverse = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    prior.mean += groups[g]->mean / count;
    freedom += groups[g]->count - 1;
    inverse += 1 / groups[g]->count / count;
    prior.variance += squares[g];
    if (full) prior.within += groups[g]->scaled_scatter();
  }
  const double divisor = freedom > 0 ? freedom : 1;
  prior.variance /= divisor;
  if (full) prior.within /= divisor;
  for (Index j = 0; j < d; ++j) {
    if (is_constant_in_all(groups, squares, j)) {
      prior.variance[j] = 0;
      if (full) {
        prior.within.row(j).setZero();
        prior.within.col(j).setZero();
      }
    }
    const double v0 = prior.variance[j];
    double apart = 0;
    for (const GroupMoments* each : groups) apart += (each->mean[j] - prior.mean[j]) * (each->mean[j] - prior.mean[j]);
    prior.between[j] = groups.size() == 1 ? v0 : std::max(0.0, apart / (count - 1) - v0 * inverse);
    prior.kappa[j] = kappa_of(groups, squares, j, v0);
  }
  return prior;
}

Vector shrunk_deviation(const MomentPrior& prior, const GroupMoments& group, std::optional<double> given) {
  const Vector squares = group.squares();
  Vector result(prior.cols());
  for (Index j = 0; j < prior.cols(); ++j) {
    const double v0 = prior.variance[j], v = sample_variance_of(squares[j], group.count);
    const double k = given.value_or(prior.kappa[j]), freedom = group.count - 1;
    double shrunk = v;
    if (group.count <= 1 || is_constant(v, v0, group.mean[j]))
      shrunk = v0;
    else if (v0 > 0 && k > 0)
      shrunk = std::exp((freedom * std::log(v) + k * std::log(v0)) / (freedom + k));
    result[j] = shrunk > 0 ? std::sqrt(shrunk) : 1;
  }
  return result;
}

Vector shrunk_mean(const MomentPrior& prior, const GroupMoments& group, std::optional<double> given) {
  if (group.count == 0) return prior.mean;
  const Vector deviation = shrunk_deviation(prior, group, std::nullopt);
  Vector result(prior.cols());
  for (Index j = 0; j < prior.cols(); ++j) {
    double k = given.value_or(0);
    if (!given && prior.variance[j] > 0)
      k = prior.between[j] > 0 ? std::min(most_prior_rows, deviation[j] * deviation[j] / prior.between[j])
                               : most_prior_rows;
    result[j] = k == 0 ? group.mean[j] : (group.count * group.mean[j] + k * prior.mean[j]) / (group.count + k);
  }
  return result;
}

Matrix shrunk_covariance(const MomentPrior& prior, const GroupMoments& group, const Shrinkage& shrinkage) {
  const Index d = prior.cols();
  const double k = shrinkage.covariance.value_or(static_cast<double>(d));
  const double divisor = std::max(group.count - 1, 0.0) + k;
  Matrix result = divisor > 0 ? Matrix((group.scaled_scatter() + k * prior.within) / divisor) : prior.within;
  const double level = prior.variance.sum() / static_cast<double>(d);
  result.diagonal().array() += shrinkage.ridge * (level > 0 ? level : 1);
  return result;
}

}  // namespace ecotone
