#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/label_shift/bcts.h"
#include "ecotone/solve/label_shift/class_shares.h"

/// The shares of classes in a target, from predictions of models that have not seen the rows.
namespace ecotone {

enum class PriorMethod { em, bbse, rlls };

/// Predictions for rows of several domains, each by a model without its domain.
struct UnseenRows {
  Matrix probability;                   ///< clipped (clipped_probabilities)
  std::vector<std::int32_t> predicted;  ///< by the model itself
  std::vector<std::int32_t> label;
  std::vector<Index> domain;   ///< 0 .. domains - 1
  std::vector<double> weight;  ///< of rows within their domain, as given
  Index domains = 0;

  /// Weights under which domains count alike, but none of fewer than five rows as much as the others; a domain's own
  /// factor comes on top (empty: all 1).
  std::vector<double> domain_equal(const std::vector<double>& factor = {}) const;
};

/// Probabilities of at least 1e-6: a certain one would decide every temperature alone.
Matrix clipped_probabilities(ConstMatrixView probability);

/// How predictions relate to labels in the sources.
class ShareEstimator {
 public:
  /// Rows count by `weight`. Data errors are those of fit_bcts.
  ShareEstimator(const UnseenRows& rows, const std::vector<double>& weight, PriorMethod method);

  const Bcts& calibration() const { return calibration_; }
  const Vector& source_share() const { return source_share_; }
  /// The shares in a sample; `probability` is clipped. The weights are those of the shares after one more row of each
  /// class, (n share + 1) / (n + classes): a class that the sample seems to lack may be in it all the same, and a
  /// weight of 0 would rule it out for every row.
  ClassShares estimate(ConstMatrixView probability, std::span<const std::int32_t> predicted) const;
  /// The probabilities of a sample whose classes have other shares.
  Matrix corrected(ConstMatrixView probability, const Vector& weight) const;

 private:
  PriorMethod method_;
  Bcts calibration_;
  Vector source_share_;  ///< mean calibrated probability: a target like the sources has exactly these
  Matrix confusion_;
  Vector label_share_;
  Vector predicted_share_;
  Index rows_;
};

/// The class that probabilities predict: the first of the largest; of two the second where both are equal.
std::int32_t predicted_class(const Eigen::Ref<const Eigen::RowVectorXd>& probability);

/// One source domain that played the target.
struct ReplayedDomain {
  Index domain = 0;
  double gain = 0;             ///< in accuracy by correcting its predictions
  double log_loss_gain = 0;    ///< by how much that lowers the mean log loss
  double distance = 0;         ///< total variation of the estimated shares from the true ones
  double source_distance = 0;  ///< of the shares in the other domains
};
struct PriorReplay {
  std::vector<ReplayedDomain> domains;
  double gain = 0;  ///< mean
  double error = 0;
  std::optional<double> log_loss_gain = {};  ///< mean; empty: a model of before, which did not look at it
  /// Whether correcting gained more than its standard error.
  bool gained() const { return gain > error; }
  /// Whether it made the log loss worse.
  bool misled() const { return log_loss_gain && *log_loss_gain < 0; }
};
/// Lets every domain play the target. Empty with fewer than three domains that can.
std::optional<PriorReplay> replay_correction(const UnseenRows& rows, PriorMethod method, const Context& context);

/// Fewest source domains that a bootstrap draws from; with fewer it draws rows, and how much domains differ is not in
/// the standard errors.
constexpr Index fewest_drawn_domains = 5;

/// A target's shares with all that says how sure they are.
struct TargetShares {
  std::string domain;
  Index rows = 0;
  Vector share;
  Vector weight;
  Vector standard_error;
  std::string error_from;  ///< "target rows", "source domains" or "source rows", whichever says more; or both
  bool converged = true;
  std::optional<double> x2, p_value, rank_p;  ///< do classes look as in the sources? rank_p: among the sources
  int freedom = 0;
};
/// `rows` are the sources, `probability` (clipped) and `predicted` the target.
TargetShares target_shares(const UnseenRows& rows, const ShareEstimator& estimator, PriorMethod method,
                           ConstMatrixView probability, std::span<const std::int32_t> predicted,
                           const Context& context);

}  // namespace ecotone
