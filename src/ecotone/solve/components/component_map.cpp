#include "ecotone/solve/components/component_map.h"

#include <algorithm>

#include "ecotone/linalg/distances.h"
#include "ecotone/linalg/row_product.h"

namespace ecotone {

ComponentMap::Prepared& ComponentMap::Prepared::operator=(const Prepared& other) {
  if (this != &other) once_ = std::make_unique<Once>();
  return *this;
}

ComponentMap::Prepared& ComponentMap::Prepared::operator=(Prepared&&) {
  once_ = std::make_unique<Once>();
  return *this;
}

const LandmarkKernel& ComponentMap::Prepared::of(const ComponentMap& map) const {
  std::call_once(once_->flag, [&] {
    // The origin comes from the saved rows, never from a batch, so that a far new row does not affect the others.
    // Absolute differences and products of the given values need no origin.
    const bool rbf = map.kernel.kind == KernelKind::rbf;
    once_->kernel =
        LandmarkKernel(map.kernel, rbf ? typical_row(map.rows) : Vector(Vector::Zero(map.rows.cols())), map.rows);
  });
  return once_->kernel;
}

void ComponentMap::project(ConstMatrixView x, MatrixView z) const {
  if (size() == 0) return;
  constexpr Index side = KernelTiles::side;
  const LandmarkKernel& landmarks = prepared_.of(*this);
  Matrix k, centred;
  for (Index i = 0; i < x.rows(); i += side) {
    const Index down = std::min(side, x.rows() - i);
    auto part = z.middleRows(i, down);
    part = (-bias.transpose()).replicate(down, 1);
    for (Index j = 0; j < rows.rows(); j += side) {
      const Index across = std::min(side, rows.rows() - j);
      k.resize(down, across);
      landmarks.block(x.middleRows(i, down), j, k, centred);
      add_row_products(k, coefficients.middleRows(j, across), part);
    }
  }
}

}  // namespace ecotone
