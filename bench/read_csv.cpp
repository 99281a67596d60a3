// Reads a CSV file and prints the seconds it took, and a sum so that nothing can be optimised away.
// Usage: bench_read_csv FILE THREADS [ROUNDS]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>

#include "bench/support/main.h"
#include "ecotone/data/read.h"

namespace {

int run(int argc, char** argv) {
  ecotone::Context::Settings settings;
  settings.threads = std::atoi(argv[2]);
  const ecotone::Context context(settings);
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 1;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    const ecotone::Dataset data = ecotone::read_dataset({argv[1]}, {}, context);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ecotone::Scratch scratch;
    fmt::print("{:.4f} {} {} {}\n", seconds.count(), data.rows(), data.x.cols(),
               data.x.block(data.x.blocks() - 1, scratch).x.sum());
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 2, 3, "FILE THREADS [ROUNDS]", run); }
