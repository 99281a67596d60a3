#pragma once

#include <memory>
#include <span>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone {

/// The outcome of one fit of a DasvmMachine.
struct DasvmStep {
  Index iterations = 0;  ///< steps of two coefficients
  double kkt = 0;        ///< largest violation of the optimality conditions
  bool converged = false;
};

/// Support vector machines over one set of rows, fitted one after the other with different labels and costs: each
/// starts from the coefficients of the previous one, kernel rows are computed once, and the sums K beta of all rows,
/// including those without a cost, are updated at every step. The bytes of the result do not depend on the number of
/// threads.
class DasvmMachine {
 public:
  /// Copies the rows. Data error `non_finite`, option errors of check_kernel.
  DasvmMachine(const Kernel& kernel, ConstMatrixView x, double tolerance, const char* who, const Context& context);
  ~DasvmMachine();

  /// min 1/2 ||f||^2 + sum_i cost_i max(0, 1 - y_i f(x_i)). Labels are -1 or +1; rows of cost 0 are left out and their
  /// labels ignored. Both labels must occur among the others.
  DasvmStep fit(const Vector& y, const Vector& cost);

  /// f of row i.
  double score(Index i) const { return offset_ - minus_sum_[i]; }
  const Vector& beta() const { return beta_; }
  /// The offset to add to sum_i beta_i k(x_i, x) for new rows x.
  double offset() const;

 private:
  class Rows;

  void start();
  void move_to(const Vector& beta);
  void find_ends();
  void choose();
  Index solve_working_set();
  void set_offset();
  double slope(Index i) const { return y_[i] + minus_sum_[i]; }

  Context context_;
  double tolerance_;
  std::unique_ptr<Rows> rows_;  ///< kernel rows, in single precision if they are long
  Vector y_;
  Vector low_, high_;
  Vector beta_;
  Vector minus_sum_;            ///< -K beta
  std::vector<Index> open_;     ///< rows with a cost
  std::vector<Index> working_;  ///< the latest working set
  std::vector<char> taken_;
  double top_ = 0;
  double bottom_ = 0;
  double offset_ = 0;
};

}  // namespace ecotone
