#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "ecotone/base/context.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/linalg/matrix.h"
#include "ecotone/solve/components/component_map.h"
#include "ecotone/solve/components/components.h"

namespace ecotone {

/// cholesky: one factorisation of K + lam I, lam > 0; matvec: only products with K, for lam = 0 (unsupervised and
/// symmetric form), and for unsupervised components without an invariance term for any lam.
enum class ExactRoute { cholesky, matvec };

/// The rows, their groups and outputs.
struct ComponentProblem {
  std::string_view who = "components";  ///< the name that starts messages
  ConstMatrixMap x{nullptr, 0, 0, Eigen::OuterStride<>(0)};
  Kernel kernel;
  std::span<const std::int32_t> group;  ///< 0 .. groups - 1 for each row; every group has at least one row
  Index groups = 1;
  const OutputFactor* output = nullptr;  ///< used by supervised components
  double epsilon = 1e-4;
};

struct ExactComponents {
  ComponentSpectrum spectrum;
  ComponentMap map;       ///< for new rows, relative to the training mean
  Matrix projections;     ///< K B for the training rows, n x components
  bool converged = true;  ///< of the iterative eigensolver
};

/// Whether a route solves these options.
bool route_applies(const ComponentOptions& options, ExactRoute route);
/// The sizes that determine the memory of a route.
struct RouteSize {
  Index rows = 0;
  Index cols = 0;  ///< of the rows
  Index groups = 1;
  Index outputs = 0;  ///< columns of G; 0 without outputs
  int threads = 1;
};
/// Estimated peak memory of a route in addition to the given rows. For the route matvec without the Gram matrix, which
/// is kept if there is memory for it.
std::size_t route_bytes(const ComponentOptions& options, ExactRoute route, const RouteSize& size);

/// Solves the problem of components.h. Never forms KQK or M^-1 P K^2. Option error `bad_option` if the route does not
/// apply; data errors `singular` if K + lam I is numerically not positive definite, `non_finite`, `not_enough_memory`.
ExactComponents exact_components(const ComponentProblem& problem, const ComponentOptions& options, ExactRoute route,
                                 const Context& context);

}  // namespace ecotone
