// Finds width, amplitude and noise of a Gaussian process by marginal likelihood on arrays written by bench/gp.py, and
// times it; loading is not timed.
// Usage: bench_gp FOLDER ROWS COLS SIGMA THREADS
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/support/main.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/base/memory.h"
#include "ecotone/solve/gp/likelihood.h"

namespace {

using namespace ecotone;

Matrix read(const std::filesystem::path& path, Index rows, Index cols) {
  Matrix values(rows, cols);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), rows * cols * static_cast<std::streamsize>(sizeof(double)));
  if (!file) file_error("cannot_read", "{}: cannot be read", path.string());
  return values;
}

int run(int, char** argv) {
  const std::filesystem::path folder = argv[1];
  const Index rows = std::stol(argv[2]), cols = std::stol(argv[3]);
  const Matrix x = read(folder / "x.bin", rows, cols), y = read(folder / "y.bin", rows, 1), none;
  const Context context({.threads = std::stoi(argv[5])});
  const GpProblem problem{GpRows({.sigma = std::stod(argv[4])}, x), y, none};
  const auto begin = std::chrono::steady_clock::now();
  const GpSearch found = maximise_likelihood(problem, {}, context);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Json result = {{"seconds", seconds},
                       {"log_likelihood", found.log_likelihood},
                       {"evaluations", found.evaluations},
                       {"subset_evaluations", found.subset_evaluations},
                       {"converged", found.converged},
                       {"sigma", found.parameters.sigma},
                       {"amplitude", found.parameters.amplitude},
                       {"noise", found.parameters.noise}};
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 5, 5, "FOLDER ROWS COLS SIGMA THREADS", run); }
