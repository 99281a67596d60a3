#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/solve/linear/linear.h"
#include "ecotone/solve/linear/loss.h"

namespace ecotone {

/// What is summed over the rows of a domain beside the loss. pull: the derivative of the loss in a factor of all scores
/// (sum of slope times score); drift: the derivative in an offset (sum of slopes), of one score per row only.
enum class DomainExtra { none, pull, drift };

/// The mean loss of a domain, and its extra; gradients are in the coordinates of DomainLosses.
struct DomainPoint {
  double loss = 0;
  Matrix gradient;
  double extra = 0;
  Matrix extra_gradient;
};

/// The rows of a linear problem, domain by domain, in coordinates in which every column has mean 0 and mean square 1
/// (only the second without an offset): a parameter for every column, then the offset. Rows of weight 0 and domains
/// without weight are left out.
class DomainLosses {
 public:
  /// `domain`: of each row of the problem, in [0, domains). Its labels and weights must outlive the object.
  DomainLosses(const LinearProblem& problem, std::span<const std::int32_t> domain, Index domains,
               const Context& context);

  Index count() const { return static_cast<Index>(parts_.size()); }
  /// The number of domain k among all that were given.
  Index domain(Index k) const { return parts_[at(k)].domain; }
  /// The weight of each domain, as a sum over rows.
  const Vector& weight() const { return weight_; }
  Index parameters() const { return scale_.size() + (offset_ ? 1 : 0); }
  Index outputs() const { return parts_.front().loss->outputs(); }
  /// The natural size of the gradient of sum_k mass_k loss_k, of which the labels decide: see Loss::scale.
  double gradient_scale(const Vector& mass) const;

  /// Every domain at theta, parameters x outputs.
  std::vector<DomainPoint> at_point(const Matrix& theta, DomainExtra extra, const Context& context) const;
  /// The loss of every row, in the order of `row_weight`, of one score per row or several.
  Vector row_losses(const Matrix& theta, const Context& context) const;
  /// The weights of these rows.
  Vector row_weight() const;
  /// The gradient of sum_i mass_i loss_i over these rows.
  Matrix row_gradient(const Matrix& theta, const Vector& mass, const Context& context) const;

  /// l2 of every parameter, so that sum_j penalty_j theta_j^2 is l2 ||w||^2.
  Vector penalty(double l2) const;
  /// Weights and offset of the scores, in the units of the features.
  LinearScores scores(const Matrix& theta) const;
  /// The parameters that give these scores.
  Matrix parameters_of(const LinearScores& scores) const;
  /// A gradient in the units of the features.
  Matrix in_units(const Matrix& gradient) const;

 private:
  struct Part {
    Index domain = 0;
    Features x;
    std::vector<std::int32_t> cls;
    std::vector<double> value;
    Vector weight;
    std::unique_ptr<Loss> loss;  ///< mean over the domain
  };

  Matrix in_features(const Matrix& theta, Matrix& offset) const;
  Matrix in_coordinates(const Matrix& of_features, const Matrix& of_offset) const;
  DomainPoint part_point(const Part& part, const Matrix& theta, DomainExtra extra, const Context& context) const;
  LinearProblem problem_of(const Part& part) const;

  LinearProblem problem_;
  std::vector<Part> parts_;
  Vector weight_;
  Vector mean_;
  Vector scale_;
  bool offset_ = true;
};

}  // namespace ecotone
