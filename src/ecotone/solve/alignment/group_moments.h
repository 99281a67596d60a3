#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

/// Means and spreads of groups of rows (domains), shrunk towards what all groups share, so that a group with few rows,
/// or one, has usable statistics. What alignment of domains starts from; linear_maps.h and subspace.h build on it.
namespace ecotone {

/// Which part of the scatter is kept.
enum class ScatterKind { diagonal, full };

/// Rows, mean and scatter of one group; states of different rows can be merged.
struct GroupMoments {
  double count = 0;   ///< rows with a positive weight
  double weight = 0;  ///< sum of the weights
  Vector mean;        ///< d; exact in columns of one value
  Matrix scatter;     ///< weighted sum of (x - mean)(x - mean)': d x d, or d x 1 of its diagonal

  GroupMoments() = default;
  GroupMoments(Index cols, ScatterKind kind);

  bool diagonal() const { return scatter.cols() == 1 && mean.size() != 1; }
  Index cols() const { return mean.size(); }
  /// Adds rows; no weights: all 1. Rows of weight 0 are left out.
  void add(ConstMatrixView x, ConstVectorView weight);
  void merge(const GroupMoments& other);
  /// The scatter with weights scaled to sum to `count`.
  Matrix scaled_scatter() const;
  /// Its diagonal.
  Vector squares() const;
};

/// The moments of each group 0 .. groups - 1; rows of a negative group are left out. `weight`: of each row, empty: all
/// 1. One pass over the blocks for diagonals, one pass per group for full scatters, whose memory is checked.
std::vector<GroupMoments> group_moments(const Features& x, std::span<const std::int32_t> group, Index groups,
                                        const Vector& weight, ScatterKind kind, const char* who,
                                        const Context& context);

/// What all groups share. It is computed once, from the groups of training, and used for new groups too.
struct MomentPrior {
  Vector mean;      ///< m0: of the groups' means, each once
  Vector variance;  ///< v0: diagonal of W
  Vector between;   ///< tau^2: how far means of groups really differ
  Vector kappa;     ///< kv: rows that the shared variance counts for
  Matrix within;    ///< W, d x d; empty where only diagonals are kept

  Index cols() const { return mean.size(); }
};

/// Groups without rows are left out. Data error `empty_data` if all are.
MomentPrior moment_prior(const std::vector<GroupMoments>& groups, const char* who);

/// How many rows what is shared counts for; none: chosen from the data.
struct Shrinkage {
  std::optional<double> mean;
  std::optional<double> deviation;
  std::optional<double> covariance;
  double ridge = 0;
};

/// s~: the standard deviation of each column, 1 where it does not vary. The logarithm of the variance is shrunk, so
/// that units do not matter.
Vector shrunk_deviation(const MomentPrior& prior, const GroupMoments& group, std::optional<double> k);
/// m~: the mean, moved the less towards m0 the more groups differ and the less the column varies in this one.
Vector shrunk_mean(const MomentPrior& prior, const GroupMoments& group, std::optional<double> k);
/// C~ = (S + k W) / (n - 1 + k) + ridge t I, t the mean variance within groups. Needs full scatters.
Matrix shrunk_covariance(const MomentPrior& prior, const GroupMoments& group, const Shrinkage& shrinkage);

}  // namespace ecotone
