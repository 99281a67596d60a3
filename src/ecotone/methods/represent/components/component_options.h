#pragma once

#include <tuple>

#include "ecotone/base/options.h"
#include "ecotone/kernels/kernel.h"
#include "ecotone/kernels/low_rank.h"
#include "ecotone/methods/kernel_fields.h"
#include "ecotone/solve/components/components.h"

namespace ecotone {

enum class ComponentCentre { train, batch };
enum class OutputKernel { automatic, delta, rbf, linear };
enum class ComponentRoute { automatic, cholesky, matvec, low_rank };

/// Options of kpca, udica, coir and dica; each declares those that it uses.
struct ComponentStageOptions {
  KernelKind kernel = KernelKind::rbf;
  AutoNumber sigma;
  int degree = 3;
  double coef0 = 1;
  double scale = 1;
  int components = 2;
  double lam = 0.1;
  double epsilon = 1e-4;
  AutoNumber weight;
  ComponentForm form = ComponentForm::symmetric;
  ComponentScaling scaling = ComponentScaling::variance;
  ComponentCentre centre = ComponentCentre::train;
  OutputKernel output_kernel = OutputKernel::automatic;
  AutoNumber output_sigma;
  ComponentRoute route = ComponentRoute::automatic;
  int rank = 500;
  LowRankKind map = LowRankKind::pivoted;
  double residual = 0;

  static constexpr auto shared_fields() {
    using O = ComponentStageOptions;
    const auto others = std::tuple{
        field("components", &O::components, "Number of components; a message reports if fewer exist", between(1, 1e6)),
        field("lam", &O::lam, "lambda of M = w KQK + K + lambda I; 0 needs no factorisation", at_least(0.0)),
        field("scaling", &O::scaling,
              "variance: training projections have mean square 1; metric: v'Mv = 1; reference: as in the authors' "
              "program",
              one_of("reference", "metric", "variance")),
        field("centre", &O::centre,
              "Centre new rows at the mean of the training rows, or at the mean of their batch; training rows use the "
              "former",
              one_of("train", "batch")),
        field("route", &O::route,
              "cholesky: one factorisation, lam > 0; matvec: products with the Gram matrix alone, lam = 0 (kpca: any); "
              "low_rank: a low-rank kernel map, time linear in the rows; auto: by lam, low_rank beyond 4,000 rows "
              "(20,000 where matvec applies) or where memory is short",
              one_of("auto", "cholesky", "matvec", "low_rank")),
        field("rank", &O::rank, "low_rank: largest number of landmarks or frequencies", between(1, 100000)),
        field("map", &O::map,
              "low_rank: landmarks chosen by random pivots, at random or by greedy pivots, or random Fourier features",
              one_of("pivoted", "uniform", "greedy", "fourier")),
        field("residual", &O::residual,
              "low_rank: stop when the landmarks leave this fraction of the kernel's trace; 0: never",
              between(0.0, 0.999))};
    return std::tuple_cat(kernel_fields<O>(), others);
  }
  static constexpr auto invariance_fields() {
    return std::tuple{field("weight", &ComponentStageOptions::weight,
                            "Weight w of the distributional variance; it has no effect far below 1 / tr(KQ), so try 1, "
                            "10, 100, ... times that. auto: 1 / tr(KQ); the paper has 1",
                            at_least(0.0))};
  }
  static constexpr auto output_fields() {
    using O = ComponentStageOptions;
    return std::tuple{
        field("epsilon", &O::epsilon, "Ridge penalty of the outputs, multiplied by the number of rows", above(0.0)),
        field("form", &O::form,
              "symmetric: K P K v = g M v; paper: P K^2 v = g M v, whose g may be complex or negative",
              one_of("paper", "symmetric")),
        field("output_kernel", &O::output_kernel,
              "Kernel of the labels; auto: delta for classification, rbf for regression",
              one_of("auto", "delta", "rbf", "linear")),
        field("output_sigma", &O::output_sigma,
              "Width of the output kernel rbf; auto: the median distance between labels", above(0.0))};
  }
};

struct KpcaOptions : ComponentStageOptions {
  static constexpr auto fields() { return shared_fields(); }
};
struct UdicaOptions : ComponentStageOptions {
  static constexpr auto fields() { return std::tuple_cat(shared_fields(), invariance_fields()); }
};
struct CoirOptions : ComponentStageOptions {
  static constexpr auto fields() { return std::tuple_cat(shared_fields(), output_fields()); }
};
struct DicaOptions : ComponentStageOptions {
  static constexpr auto fields() { return std::tuple_cat(shared_fields(), invariance_fields(), output_fields()); }
};

}  // namespace ecotone
