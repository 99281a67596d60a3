// Measures the rates of a matrix product on one thread and of the tiled Cholesky factorisation, with the kernels of
// this process; best of three.
// Usage: bench_kernels THREADS
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "bench/support/main.h"
#include "ecotone/base/json.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/blas.h"
#include "ecotone/linalg/cholesky.h"
#include "ecotone/linalg/products.h"

namespace {

using namespace ecotone;

template <class Run>
double best_gflops(double operations, const Run& run) {
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    run();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, operations / seconds / 1e9);
  }
  return best;
}

int run(int, char** argv) {
  const Context context({.threads = std::stoi(argv[1])});
  constexpr Index n = 1536, rows = 4096;
  const Matrix a = Matrix::Constant(n, n, 1.5);
  Matrix c(n, n), spd = Matrix::Constant(rows, rows, 0.5);
  spd.diagonal().array() += static_cast<double>(rows);
  const double product = best_gflops(2.0 * n * n * n, [&] { multiply(a, a, c); });
  const double cholesky =
      best_gflops(static_cast<double>(rows) * rows * rows / 3, [&] { Cholesky::factor(spd, context); });
  fmt::print("{}\n", Json{{"kernels", blas_state().kernels}, {"product", product}, {"cholesky", cholesky}}.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 1, 1, "THREADS", run); }
