// Times one Gram matrix and the permutation test of MMD^2 on the same rows and threads.
// Usage: bench_mmd [ROWS] [COLUMNS] [PERMUTATIONS] [THREADS]
#include "ecotone/kernels/mmd.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "bench/support/main.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/kernels/rbf.h"

namespace {

template <class Work>
double best_of(int rounds, Work&& work) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

int run(int argc, char** argv) {
  using namespace ecotone;
  const auto given = [&](int i, Index otherwise) {
    return argc > i ? static_cast<Index>(std::stoll(argv[i])) : otherwise;
  };
  const Index rows = given(1, 5000), cols = given(2, 20), permutations = given(3, 1000);
  const Context context({.threads = static_cast<int>(given(4, 2))});
  Matrix x(rows, cols);
  Random random(1, "bench");
  for (Index i = 0; i < x.size(); ++i) x.data()[i] = random.normal();
  const double sigma = median_bandwidth(x, context).sigma;
  const double gram = best_of(5, [&] { rbf_gram(x, sigma, context); });
  const double test = best_of(5, [&] { mmd_test(x, rows / 2, sigma, permutations, context); });
  fmt::print("{} x {}, {} permutations, {} threads: Gram {:.3f} s, test {:.3f} s, ratio {:.2f}\n", rows, cols,
             permutations, context.threads(), gram, test, test / gram);
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 0, 4, "[ROWS COLS PERMUTATIONS THREADS]", run); }
