// Adapts a support vector machine by dasvm on arrays written by bench/dasvm.py, and times it; loading is not timed.
// Without circular validation, which the rival does not do.
// Usage: bench_dasvm FOLDER SOURCES TARGETS SIGMA C RHO MAX_ROUNDS THREADS REPEATS
#include "ecotone/solve/svm/dasvm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/support/main.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/base/memory.h"

namespace {

using namespace ecotone;

void read(const std::filesystem::path& path, double* into, Index count) {
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(into), count * static_cast<std::streamsize>(sizeof(double)));
  if (!file) file_error("cannot_read", "{}: cannot be read", path.string());
}

int run(int, char** argv) {
  const std::filesystem::path folder = argv[1];
  const Index sources = std::stol(argv[2]), targets = std::stol(argv[3]);
  Matrix x(sources + targets, 2);
  Vector y(sources + targets);
  read(folder / "x.bin", x.data(), x.size());
  read(folder / "y.bin", y.data(), y.size());
  const Context context(Context::Settings{.threads = std::stoi(argv[8])});
  const DasvmProblem problem{.x = x,
                             .y = {y.data(), static_cast<std::size_t>(sources)},
                             .kernel = {.kind = KernelKind::rbf, .sigma = std::stod(argv[4])},
                             .cost = std::stod(argv[5]),
                             .rho = std::stol(argv[6]),
                             .max_rounds = std::stol(argv[7]),
                             .circular = false};
  DasvmFit fit;
  double best = 1e300;
  for (int i = 0; i < std::stoi(argv[9]); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    fit = fit_dasvm(problem, context);
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  Index wrong = 0;
  for (Index i = 0; i < targets; ++i) wrong += fit.labels[at(i)] != y[sources + i];
  const Json result = {{"seconds", best},
                       {"rounds", fit.history.size()},
                       {"stop", dasvm_stop_name(fit.stop)},
                       {"error", static_cast<double>(wrong) / static_cast<double>(targets)}};
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bench_main(argc, argv, 9, 9, "FOLDER SOURCES TARGETS SIGMA C RHO MAX_ROUNDS THREADS REPEATS", run);
}
