#include "ecotone/kernels/low_rank.h"

#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/linalg/cosine.h"
#include "ecotone/linalg/row_product.h"

namespace ecotone {
namespace {

void require(bool good, const char* what) {
  if (!good) data_error("bad_map", "low-rank map: {}", what);
}

}  // namespace

LowRankMap LowRankMap::of_landmarks(const Kernel& kernel, Vector origin, Matrix landmarks, Matrix lower) {
  require(landmarks.rows() > 0, "there are no landmarks");
  require(landmarks.cols() == origin.size(), "landmarks and origin have different numbers of columns");
  require(lower.rows() == landmarks.rows() && lower.cols() == landmarks.rows(),
          "the factor is not square, or its size is not the number of landmarks");
  require(origin.allFinite() && landmarks.allFinite() && lower.allFinite(), "a value is not finite");
  require((lower.diagonal().array() > 0).all(), "the diagonal of the factor must be positive");
  LowRankMap map;
  map.kernel_ = kernel;
  map.origin_ = std::move(origin);
  map.points_ = std::move(landmarks);
  map.lower_ = std::move(lower);
  map.landmarks_ = LandmarkKernel(kernel, map.origin_, map.points_);
  map.solver_ = RowSolver(map.lower_);
  return map;
}

LowRankMap LowRankMap::of_frequencies(const Kernel& kernel, Vector origin, Matrix frequencies, Vector phases) {
  check_kernel(kernel);
  if (!shift_invariant(kernel))
    option_error("bad_option", "fourier: the kernel must be rbf or laplacian, got {}", kernel_name(kernel.kind));
  require(frequencies.rows() > 0, "there are no frequencies");
  require(frequencies.cols() == origin.size(), "frequencies and origin have different numbers of columns");
  require(phases.size() == frequencies.rows(), "the numbers of phases and frequencies differ");
  require(origin.allFinite() && frequencies.allFinite() && phases.allFinite(), "a value is not finite");
  LowRankMap map;
  map.kernel_ = kernel;
  map.origin_ = std::move(origin);
  map.points_ = std::move(frequencies);
  map.phases_ = std::move(phases);
  return map;
}

void LowRankMap::raw(ConstMatrixView x, MatrixView out, Workspace& workspace) const {
  if (!fourier()) return landmarks_.block(x, out, workspace.x);
  // sqrt(2/r) cos(2 pi (w.(x - o) + b)), with w and b in turns (multiples of 2 pi)
  workspace.x = x.rowwise() - origin_.transpose();
  multiply_rows_by_transpose(1.0, workspace.x, points_, 0.0, out);
  const double scale = std::sqrt(2.0 / static_cast<double>(rank()));
  for (Index i = 0; i < out.rows(); ++i) {
    out.row(i) += phases_.transpose();
    cos_of_turns(scale, out.data() + i * out.outerStride(), out.cols());
  }
}

void LowRankMap::finish(MatrixView rows) const {
  if (!fourier()) solver_.solve(rows);
}

void LowRankMap::features(ConstMatrixView x, MatrixView out, Workspace& workspace) const {
  raw(x, out, workspace);
  finish(out);
}

}  // namespace ecotone
