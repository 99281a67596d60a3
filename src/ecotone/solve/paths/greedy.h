#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/moments/gram_columns.h"
#include "ecotone/solve/paths/means.h"

/// Paths of feature selection. They need only moments of groups of rows (moments.h) and take columns of X'X as they go.
/// A path and its leave-one-group-out copies run side by side over the same columns. stopping.h decides where a path
/// should end; penalised.h steps on the penalised loss and ridge.h solves it for all features; left_out.h chooses among
/// candidates on left-out groups and checks the winner against the empty model.
///
/// Greedy selection of features over groups of rows (domains), after foster2012. With c_i(d) = E[X_i (Y - w.X)|d] in
/// each group, mu_i its mean over groups and sigma_i its standard deviation (n - 1): T_i = mu_i / (sigma_i / sqrt n),
/// gain_i = mu_i^2 / E[X_i^2].
namespace ecotone {

/// Relative difference up to which scores, and gains, count as equal.
inline constexpr double path_tie = 1e-9;
/// Relative to the size of a feature (E[X_i^2], or G_ii + lam v_i): if less is left, the chosen features span it.
inline constexpr double spent_part = 1e-10;

/// tgreedy takes the largest |T_i|, greedy the largest gain.
enum class PathRule { tgreedy, greedy };
/// stagewise: w_i += mu_i / E[X_i^2], a feature may be chosen again. stepwise: all chosen weights are refitted. ortho:
/// X_i is orthonormalised to the chosen features, and judged by E[X~_i Y|d]. ortho_resid: judged by the residual
/// instead of Y.
enum class PathMode { stagewise, stepwise, ortho, ortho_resid };

struct PathOptions {
  PathRule rule = PathRule::tgreedy;
  PathMode mode = PathMode::stagewise;
  Index steps = 25;
  bool absolute = true;  ///< false: only features with positive T
  GroupShares shares = GroupShares::equal;
  double min_gain = 0;  ///< a feature needs gain >= min_gain E[Y^2]
  Centring centring;
  bool nonnegative = false;  ///< weights stay >= 0; stagewise and stepwise only
  Vector ex2;                ///< E[X_i^2] for gain and update (stagewise); empty: from the labelled groups
  double zero = 1e-12;       ///< relative size below which mu or sigma is 0; 1e-5 with float Gram matrices
};

/// A path after some steps. Arrays have one entry or row per step.
struct PathResult {
  std::vector<Index> indices;
  std::vector<double> t, mu, sigma, gain, pvalue;  ///< of the chosen feature, before its step; pvalue NaN for one group
  std::vector<double> loss;                        ///< after the step, mean over the groups in use
  std::vector<std::vector<double>> group_loss;     ///< after the step, for every labelled group, held out or not
  std::vector<std::vector<double>> weights;        ///< after the step, for the support so far
  std::vector<double> offset;                      ///< prediction = weights . x + offset
  std::vector<Index> support;                      ///< distinct features in order of selection
  std::vector<double> empty_loss;                  ///< for every labelled group, without any feature
  double empty_offset = 0;                         ///< prediction without any feature
  bool stopped_early = false;                      ///< no feature was selectable any more

  /// Whether there is a path, if only an empty one.
  bool known() const { return !empty_loss.empty(); }
  Index steps() const { return static_cast<Index>(indices.size()); }
  /// Weights of the support after `step` steps (0: none), padded with zeros, and the offset there.
  Vector weights_after(Index step) const;
  double offset_after(Index step) const;
  /// Loss of labelled group d after `step` steps; after the end of the path its last value.
  double group_loss_after(Index d, Index step) const;
  /// The first `step` steps.
  PathResult head(Index step) const;
};

/// A path as it grows: `choose`, then `advance` with the columns that the choice needs.
class GreedyPath {
 public:
  /// Data errors `needs_two_domains` (tgreedy with one group in use), `no_weight`. Option errors for combinations that
  /// do not exist.
  /// `left_out`: labelled groups by their positions among them.
  GreedyPath(const Moments& moments, const PathOptions& options, std::span<const Index> left_out = {});

  /// Scores all features and returns the next one; empty if the path has ended.
  std::optional<Index> choose(const Context& context);
  /// The best features after the chosen one, for guessing ahead.
  std::vector<Index> runners_up(Index count) const;
  /// Takes the chosen feature, which must be in `columns`.
  void advance(const GramColumns& columns, const Context& context);

  const PathResult& result() const { return result_; }
  PathResult take() && { return std::move(result_); }

 private:
  PathOptions options_;
  GroupMeans means_;
  PathResult result_;
  Matrix residual_;                     ///< g x p, E[X_i (Y - w.X)|d]; in mode ortho E[(X_i - its projection) Y|d]
  Matrix judged_;                       ///< mode ortho_resid: the counterpart of residual_ in mode ortho
  Vector rest_;                         ///< remaining norm^2 of each feature; E[X_i^2] in mode stagewise
  std::vector<Vector> basis_;           ///< E[X~_k X_i] for all i, one per chosen feature
  std::vector<double> loading_;         ///< E[X~_k Y]
  Vector score_, gain_;                 ///< -1: not selectable
  std::vector<std::int32_t> position_;  ///< position of each feature in the support; -1: not in it
  std::vector<double> weight_;          ///< of the support
  Index chosen_ = -1;

  bool refits() const { return options_.mode != PathMode::stagewise; }
  const Matrix& judged() const { return options_.mode == PathMode::ortho_resid ? judged_ : residual_; }
  bool taken(Index j) const { return refits() && position_[at(j)] >= 0; }
  double weight_of(Index j) const {
    const auto place = position_[at(j)];
    return place < 0 ? 0.0 : weight_[at(place)];
  }
  /// The squared norm of what is judged: the rest of X_j in the orthonormal modes, otherwise X_j.
  double scale(Index j) const { return options_.mode == PathMode::stepwise ? means_.x2[j] : rest_[j]; }
  void score_range(Index first, Index last);
  void record(Index j);
  void step_stagewise(const GramColumns& columns, const Context& context);
  void grow_basis(const GramColumns& columns, const Context& context);
  void refit();
  void refit_nonnegative(const GramColumns& columns);
  void renew_residual(const GramColumns& columns, const Context& context);
  void record_loss(const GramColumns& columns);
};

}  // namespace ecotone
