// Fits a linear model on raw arrays written by bench/linear.py, and times it; loading is not timed.
// Usage: bench_linear FOLDER KEY=VALUE...   keys: solver tol threads l1 l2 offset repeats
// FOLDER: shape.json, x.bin (dense), or indptr.bin indices.bin data.bin (CSR), y.bin (class indices).
#include "ecotone/solve/linear/linear.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "bench/support/keys.h"
#include "bench/support/main.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/base/memory.h"

namespace {

using namespace ecotone;

template <class T>
std::vector<T> read(const std::filesystem::path& path) {
  const std::size_t size = std::filesystem::file_size(path) / sizeof(T);
  std::vector<T> values;
  values.reserve(size);
  prefer_large_pages(values.data(), size * sizeof(T));  // as ecotone's readers and NumPy do
  values.resize(size);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(T)));
  if (!file) file_error("cannot_read", "{}: cannot be read", path.string());
  return values;
}

Features read_features(const std::filesystem::path& folder, Index rows, Index cols) {
  if (!std::filesystem::exists(folder / "indptr.bin")) {
    Matrix x(rows, cols);
    prefer_large_pages(x.data(), static_cast<std::size_t>(x.size()) * sizeof(double));
    std::ifstream file(folder / "x.bin", std::ios::binary);
    file.read(reinterpret_cast<char*>(x.data()), static_cast<std::streamsize>(x.size() * sizeof(double)));
    if (!file) file_error("cannot_read", "{}: cannot be read", (folder / "x.bin").string());
    return Features::dense(std::move(x));
  }
  return Features::sparse({rows, cols, read<Index>(folder / "indptr.bin"), read<std::int32_t>(folder / "indices.bin"),
                           read<double>(folder / "data.bin")});
}

LinearSolver solver_of(const std::string& name) {
  for (int s = 0; s <= static_cast<int>(LinearSolver::prox_sgd); ++s) {
    if (solver_name(static_cast<LinearSolver>(s)) == name) return static_cast<LinearSolver>(s);
  }
  option_error("bad_option", "bench: no solver '{}'", name);
}

int run(int argc, char** argv) {
  const std::filesystem::path folder = argv[1];
  std::map<std::string, std::string> options{{"solver", "auto"}, {"tol", "1e-6"}, {"threads", "1"}, {"l1", "0"},
                                             {"l2", "0"},        {"offset", "0"}, {"repeats", "3"}};
  read_keys(argc, argv, 2, options);
  std::ifstream shape_file(folder / "shape.json");
  const Json shape = Json::parse(shape_file);
  const auto cls = read<std::int32_t>(folder / "y.bin");
  const Vector no_weight;
  LinearProblem problem{.x = read_features(folder, shape.at("rows"), shape.at("cols")),
                        .cls = cls,
                        .classes = shape.at("classes"),
                        .weight = no_weight,
                        .l2 = std::stod(options["l2"]),
                        .offset = options["offset"] == "1"};
  problem.l1 = std::stod(options["l1"]);
  problem.solver = solver_of(options["solver"]);
  problem.tolerance = std::stod(options["tol"]);
  const Context context(Context::Settings{.threads = std::stoi(options["threads"])});
  Json seconds = Json::array();
  LinearFit fit;
  for (int i = 0; i < std::stoi(options["repeats"]); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    fit = fit_linear(problem, context);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::ofstream(folder / "w.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(fit.weights.data()),
             static_cast<std::streamsize>(fit.weights.size() * sizeof(double)));
  std::ofstream(folder / "offset.bin", std::ios::binary)
      .write(reinterpret_cast<const char*>(fit.offset.data()),
             static_cast<std::streamsize>(fit.offset.size() * sizeof(double)));
  const Json result = {
      {"seconds", seconds},           {"risk", fit.risk},           {"kkt", fit.kkt},
      {"iterations", fit.iterations}, {"converged", fit.converged}, {"solver", solver_name(fit.solver)}};
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 1, 1000, "FOLDER KEY=VALUE...", run); }
