#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "ecotone/data/features.h"
#include "ecotone/linalg/matrix.h"

namespace ecotone::python {

/// Arrays of NumPy that are read and never written; strides are those of C, types are exact.
template <class T>
using Line = nanobind::ndarray<const T, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Table = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
std::span<const T> span_of(const Line<T>& line) {
  return {line.data(), line.shape(0)};
}

/// An array of NumPy that owns what `values` held.
template <class T, class Values>
nanobind::object numpy_array(Values values, std::initializer_list<std::size_t> shape) {
  auto owner = std::make_unique<Values>(std::move(values));
  auto* data = const_cast<T*>(static_cast<const T*>(owner->data()));
  const nanobind::capsule capsule(owner.release(), [](void* kept) noexcept { delete static_cast<Values*>(kept); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(data, shape, capsule));
}
inline nanobind::object numpy_array(Matrix matrix) {
  const auto rows = static_cast<std::size_t>(matrix.rows());
  const auto cols = static_cast<std::size_t>(matrix.cols());
  return numpy_array<double>(std::move(matrix), {rows, cols});
}
inline nanobind::object numpy_array(Vector vector) {
  const auto size = static_cast<std::size_t>(vector.size());
  return numpy_array<double>(std::move(vector), {size});
}
template <class T>
nanobind::object numpy_array(std::vector<T> values) {
  const auto size = values.size();
  return numpy_array<T>(std::move(values), {size});
}

/// Features in an array of NumPy, which is kept alive and not copied.
class ArrayStorage final : public FeatureStorage {
 public:
  explicit ArrayStorage(Table array) : array_(std::move(array)) {}

  Index rows() const override { return static_cast<Index>(array_.shape(0)); }
  Index cols() const override { return static_cast<Index>(array_.shape(1)); }
  RowBlock block(Index b, Scratch& scratch) const override;
  bool resident() const override { return true; }

 private:
  Table array_;
};

}  // namespace ecotone::python
