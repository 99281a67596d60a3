#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "ecotone/solve/paths/greedy.h"
#include "ecotone/solve/paths/scaled_means.h"

/// Forward stepwise selection on J(w) = mean_d L_d(w) + lam sum_i v_i w_i^2, with L_d the squared loss of group d and
/// features in the units of ScaledMeans: every step takes the feature whose refit lowers J most, g_i^2 / r_i with g = b
/// - (G + lam V) w and r_i the Schur complement of G + lam V given the chosen features. lam = 0 is greedy selection in
/// mode ortho.
namespace ecotone {

/// How the weights of a path are penalised.
struct Penalty {
  double lam = 0;
  double mix = 0;  ///< share of the variance over groups in v_i; see ScaledMeans::penalty
};

/// A path as it grows; run with run_side_by_side. Its PathResult has weights and offsets for x as given, `gain` of J,
/// `loss` without the penalty, and group_loss only for the watched groups (NaN elsewhere); t, mu, sigma and pvalue are
/// empty.
class PenalisedPath {
 public:
  /// `watched`: labelled groups by their positions.
  PenalisedPath(std::shared_ptr<const ScaledMeans> scaled, const Penalty& penalty, std::vector<Index> watched,
                double zero = 1e-12);

  /// Scores all features and returns the next one; empty if the path has ended.
  std::optional<Index> choose(const Context& context);
  /// The best features after the chosen one, for guessing ahead.
  std::vector<Index> runners_up(Index count) const;
  /// Takes the chosen feature, which must be in `columns`.
  void advance(const GramColumns& columns, const Context& context);

  const PathResult& result() const { return result_; }
  PathResult take() && { return std::move(result_); }

 private:
  std::shared_ptr<const ScaledMeans> scaled_;
  Penalty penalty_;
  std::vector<Index> watched_;
  double zero_;
  PathResult result_;
  Vector v_;                      ///< penalty of each feature
  Vector gradient_;               ///< g
  Vector rest_;                   ///< r
  Vector score_;                  ///< g^2 / r; -1: not selectable
  std::vector<std::uint8_t> in_;  ///< whether a feature has been chosen
  std::vector<Vector> basis_;     ///< rows of the Cholesky factor of G + lam V, for all columns
  std::vector<double> loading_;   ///< L^-1 b on the chosen features
  double objective_;              ///< J
  Index chosen_ = -1;

  void grow(const GramColumns& columns, const Context& context);
  std::vector<double> refitted() const;
  void record(const GramColumns& columns);
  std::vector<double> watched_losses(const std::vector<double>& weights, const GramColumns& columns) const;
};

}  // namespace ecotone
