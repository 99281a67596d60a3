#include "ecotone/solve/gp/mean.h"

#include <cmath>
#include <utility>

#include "ecotone/base/error.h"

namespace ecotone {

GpBasis::GpBasis(GpMean mean, ConstMatrixView inputs) : mean_(mean) {
  if (mean != GpMean::linear) return;
  centre_ = inputs.colwise().mean().transpose();
  scale_ = ((inputs.rowwise() - centre_.transpose()).colwise().squaredNorm() / static_cast<double>(inputs.rows()))
               .cwiseSqrt()
               .transpose();
  // Columns that differ from their centre only by rounding are constant.
  for (Index j = 0; j < scale_.size(); ++j)
    if (scale_[j] <= 1e-14 * std::abs(centre_[j])) scale_[j] = 0;
}

GpBasis::GpBasis(GpMean mean, Vector centre, Vector scale)
    : mean_(mean), centre_(std::move(centre)), scale_(std::move(scale)) {
  const bool fits = centre_.size() == scale_.size() && (mean == GpMean::linear || centre_.size() == 0);
  if (!fits || !centre_.allFinite() || !scale_.allFinite() || (scale_.array() < 0).any())
    data_error("bad_mean", "gp: {} centres and {} scales do not define a mean", centre_.size(), scale_.size());
}

Index GpBasis::size() const {
  if (mean_ == GpMean::linear) return 1 + centre_.size();
  return mean_ == GpMean::constant ? 1 : 0;
}

Matrix GpBasis::of(ConstMatrixView inputs, Index rows) const {
  Matrix h(rows, size());
  if (h.cols() == 0) return h;
  h.col(0).setOnes();
  if (mean_ != GpMean::linear) return h;
  if (inputs.rows() != rows || inputs.cols() != centre_.size())
    data_error("shape_mismatch", "gp: inputs of {} x {} for {} rows and a linear mean of {} columns", inputs.rows(),
               inputs.cols(), rows, centre_.size());
  for (Index j = 0; j < centre_.size(); ++j) {
    if (scale_[j] > 0) {
      h.col(1 + j) = (inputs.col(j).array() - centre_[j]) / scale_[j];
    } else {
      h.col(1 + j).setZero();
    }
  }
  return h;
}

}  // namespace ecotone
