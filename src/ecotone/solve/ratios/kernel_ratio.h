#pragma once

#include <optional>
#include <vector>

#include "ecotone/base/context.h"
#include "ecotone/data/features.h"
#include "ecotone/kernels/landmark_kernel.h"
#include "ecotone/linalg/matrix.h"

/// Ratios of densities as sums of Gaussian bumps: ratio(x) = sum_l alpha_l exp(-|x - c_l|^2 / (2 sigma^2)) with centres
/// c_l among the target rows. kliep.h and least_squares_ratio.h fit alpha; here is what they share. Rows are read in
/// blocks, so that memory does not grow with them.
namespace ecotone {

/// The first `sources` rows of x are the source, the others the target, as in density_ratio.h.
struct RatioRows {
  Features x;
  Index sources = 0;
  Vector mass = {};  ///< what each source row counts, of mean 1; empty: all 1

  Index targets() const { return x.rows() - sources; }
  double mass_of(Index source) const { return mass.size() == 0 ? 1 : mass[source]; }
};

/// Values of the bumps at the rows of both samples, block by block. Few are kept; many are computed whenever they are
/// asked for.
class RatioBumps {
 public:
  /// Memory that one thread reuses.
  struct Workspace {
    Scratch scratch;
    Matrix centred;
    Matrix phi;
  };
  /// Values at successive rows of the source and of the target, either of which may have none here.
  struct Block {
    Index first_source = 0;  ///< counted in the source
    Index first_target = 0;  ///< counted in the target
    ConstMatrixMap source{nullptr, 0, 0, Eigen::OuterStride<>(0)};
    ConstMatrixMap target{nullptr, 0, 0, Eigen::OuterStride<>(0)};
  };

  RatioBumps(RatioRows rows, ConstMatrixView centres, double sigma, const Context& context);

  Index count() const { return kernel_.size(); }
  const RatioRows& rows() const { return rows_; }
  Index sources() const { return rows_.sources; }
  Index targets() const { return rows_.targets(); }
  Index blocks() const { return rows_.x.blocks(); }
  /// Valid until the workspace is used again.
  Block block(Index b, Workspace& workspace) const;

 private:
  RatioRows rows_;
  LandmarkKernel kernel_;
  Matrix kept_;  ///< all values, if they are few

  void fill(Index b, MatrixView phi, Workspace& workspace) const;
};

/// The sum of alpha_l phi_l at each source row.
Vector source_ratio_of(const RatioBumps& bumps, const Vector& alpha, const Context& context);

/// Centres by greedy pivots of the Gaussian kernel on the target rows, or on 20,000 of them: each time the row that the
/// others explain least. At most `most`; deterministic.
Matrix ratio_centres(const RatioRows& rows, double sigma, Index most, const Context& context);

struct KernelRatioOptions {
  std::optional<double> sigma = {};  ///< none: chosen among {0.5, 0.7, 1, 1.4, 2} times the median distance
  std::optional<double> lam = {};    ///< least squares; none: chosen among {1e-3, 0.01, 0.1, 1}
  double alpha = 0;                  ///< least squares
  Index centres = 100;
  const char* who = "weight.kliep";
};

/// Widths to try: the given one, or multiples of the median distance, the largest first. Data errors `empty_data` if a
/// sample has no rows, `non_finite`.
std::vector<double> ratio_widths(const RatioRows& rows, const KernelRatioOptions& options, const Context& context);

/// The ratio at the source rows, and what was chosen.
struct KernelRatio {
  Vector ratio;
  double sigma = 0;
  double lam = 0;
  double score = 0;  ///< of the choice: held-out mean ln ratio (KLIEP), J (least squares; NaN if no row is left out)
  bool converged = true;
};

}  // namespace ecotone
