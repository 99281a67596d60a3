// Finds nearest neighbours of all rows of an array written by bench/neighbours.py, and times it; loading is not timed.
// Usage: bench_neighbours FOLDER ROWS COLS K THREADS REPEATS
#include "ecotone/solve/neighbours/neighbours.h"

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

namespace {

using namespace ecotone;

int run(int, char** argv) {
  const std::filesystem::path folder = argv[1];
  Matrix x(std::stol(argv[2]), std::stol(argv[3]));
  std::ifstream file(folder / "x.bin", std::ios::binary);
  file.read(reinterpret_cast<char*>(x.data()),
            static_cast<std::streamsize>(static_cast<std::size_t>(x.size()) * sizeof(double)));
  if (!file) file_error("cannot_read", "{}: cannot be read", (folder / "x.bin").string());
  const Context context(Context::Settings{.threads = std::stoi(argv[5])});
  Json seconds = Json::array();
  Neighbours found;
  for (int i = 0; i < std::stoi(argv[6]); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    found = nearest_neighbours(x, x, std::stol(argv[4]), Self::keep, context);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ofstream(folder / "index.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(found.index.data()),
             static_cast<std::streamsize>(static_cast<std::size_t>(found.index.size()) * sizeof(Index)));
  fmt::print("{}\n", seconds.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 6, 6, "FOLDER ROWS COLS K THREADS REPEATS", run); }
