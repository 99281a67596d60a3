// Trains the three machines of a deep belief net on random pixels and times it, with plain products of single precision
// on as many threads beside it.
// Usage: bench_dbn ROWS EPOCHS THREADS
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "bench/support/main.h"
#include "ecotone/base/json.h"
#include "ecotone/base/random.h"
#include "ecotone/solve/rbm/rbm.h"

namespace {

using namespace ecotone;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Operations per second of products of square matrices, one on every thread; the best of some.
double product_rate(const Context& context) {
  constexpr Index size = 1500;
  const Index threads = context.threads();
  const SingleMatrix a = SingleMatrix::Random(size, size), b = SingleMatrix::Random(size, size);
  std::vector<SingleMatrix> c(static_cast<std::size_t>(threads), SingleMatrix(size, size));
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const double seconds = seconds_of(
        [&] { context.parallel(threads, [&](Index t) { multiply(a, b, c[static_cast<std::size_t>(t)]); }); });
    best = std::max(best, 2.0 * static_cast<double>(threads * size * size * size) / seconds);
  }
  return best;
}

int run(int, char** argv) {
  const Index rows = std::stol(argv[1]);
  const int epochs = std::stoi(argv[2]);
  const Context context({.threads = std::stoi(argv[3])});
  const std::vector<Index> layers{784, 500, 500, 2000};
  SingleMatrix v(rows, layers.front());
  Random random(0, "bench-dbn");
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < v.cols(); ++j) v(i, j) = static_cast<float>(random.uniform());
  const double before = product_rate(context);
  double work = 0, seconds = 0;
  for (std::size_t layer = 1; layer < layers.size(); ++layer) {
    RbmOptions options;
    options.hidden = layers[layer];
    options.epochs = epochs;
    RbmFit fit;
    seconds += seconds_of([&] { fit = fit_rbm(v, VisibleUnits::binary, options, context); });
    // two passes up, one down and two products of the update
    work += 10.0 * static_cast<double>(rows * layers[layer - 1] * layers[layer]) * epochs;
    SingleMatrix h(rows, layers[layer]);
    hidden_means(fit.rbm, v, h);
    v = std::move(h);
  }
  const double rate = std::max(before, product_rate(context));
  const Json result = {{"seconds", seconds},
                       {"gflops", work / seconds / 1e9},
                       {"product_gflops", rate / 1e9},
                       {"share", work / seconds / rate}};
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 3, 3, "ROWS EPOCHS THREADS", run); }
