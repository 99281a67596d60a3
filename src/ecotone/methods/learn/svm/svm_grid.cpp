#include "ecotone/methods/learn/svm/svm_grid.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ecotone/base/file.h"
#include "ecotone/base/random.h"

namespace ecotone {
namespace {

constexpr std::size_t most_gram_bytes = std::size_t{1} << 30U;

/// A number of many values, so that equal data are known again; goes on from `start`.
template <class T>
std::uint64_t fingerprint(std::span<const T> values, std::uint64_t start) {
  return hash_text({reinterpret_cast<const char*>(values.data()), values.size_bytes()}, start);
}

std::uint64_t fingerprint(ConstMatrixView matrix, std::uint64_t start) {
  const std::array shape{matrix.rows(), matrix.cols()};
  start = fingerprint(std::span<const Index>(shape), start);
  for (Index i = 0; i < matrix.rows(); ++i)
    start = fingerprint(std::span(matrix.data() + i * matrix.outerStride(), static_cast<std::size_t>(matrix.cols())),
                        start);
  return start;
}

std::uint64_t rows_print(const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups) {
  const std::uint64_t start = hash_text(
      fmt::format("{} {} {} {} {}", kernel_name(kernel.kind), kernel.sigma, kernel.degree, kernel.coef0, kernel.scale));
  const std::uint64_t rows = fingerprint(x, start);
  return groups == nullptr ? rows : fingerprint(groups->x, fingerprint(groups->factor, rows));
}

struct SharedGram {
  std::uint64_t print = 0;
  Matrix k;
};

/// Where a fit stopped.
struct LastFit {
  std::uint64_t print = 0;
  double cost = 0;
  std::vector<double> beta;
};

Matrix gram_of(const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups, const Context& context) {
  Matrix k = kernel_gram(kernel, x, context);
  if (groups == nullptr) return k;
  context.parallel(k.rows(), [&](Index i) {
    const auto factor = groups->factor.row(groups->x[static_cast<std::size_t>(i)]);
    for (Index j = 0; j < k.cols(); ++j) k(i, j) *= factor[groups->x[static_cast<std::size_t>(j)]];
  });
  return k;
}

SvmFit fit_alone(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups,
                 const Context& context) {
  return groups == nullptr ? fit_svm(problem, kernel, x, context) : fit_svm(problem, kernel, x, *groups, context);
}

}  // namespace

SvmFit fit_svm_in_grid(const SvmProblem& problem, const Kernel& kernel, ConstMatrixView x, const SvmGroups* groups,
                       FitCache& cache, const Context& context) {
  if (!cache.in_order()) return fit_alone(problem, kernel, x, groups, context);
  const std::uint64_t rows = rows_print(kernel, x, groups);
  const std::uint64_t labels = fingerprint(problem.weight, fingerprint(problem.y, hash_text("labels")));
  const std::string start_key = fmt::format("svm/start/{:x}", labels);

  SvmProblem warm = problem;
  std::vector<double> start;
  if (const auto last = cache.last<LastFit>(start_key); last && last->print == rows) {
    start = last->beta;
    for (double& b : start) b *= problem.cost / last->cost;
    warm.start = start;
  }
  const auto n = static_cast<std::size_t>(x.rows());
  const bool fits = n * n * sizeof(double) <= std::min(most_gram_bytes, available_memory() / 4);
  auto gram = cache.last<SharedGram>("svm/gram");
  if (fits && (!gram || gram->print != rows)) {
    cache.leave("svm/gram", SharedGram{rows, gram_of(kernel, x, groups, context)});
    gram = cache.last<SharedGram>("svm/gram");
  }
  SvmFit fit = fits ? fit_svm(warm, gram->k, context) : fit_alone(warm, kernel, x, groups, context);
  cache.leave(start_key, LastFit{rows, problem.cost, {fit.beta.begin(), fit.beta.end()}});
  return fit;
}

}  // namespace ecotone
