// Times boosted trees on arrays written by bench/trees.py: binning and growing, and the probabilities of the same rows.
// Usage: bench_trees FOLDER ROWS COLS THREADS ROUNDS
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "bench/support/main.h"
#include "bench/support/seconds.h"
#include "bench/support/usage.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/solve/trees/boosted.h"

namespace {

using namespace ecotone;

/// A line of /proc/self/status, "VmRSS" or "VmHWM", in bytes.
double memory_of(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(name)) return 1024 * std::stod(line.substr(name.size() + 1));
  return 0;
}
/// Forgets the peak that reading the rows had, and returns what is in use.
double start_peak() {
  std::ofstream("/proc/self/clear_refs") << "5";
  return memory_of("VmRSS");
}

void read(const std::filesystem::path& path, double* into, Index count) {
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(into), count * static_cast<std::streamsize>(sizeof(double)));
  if (!file) file_error("cannot_read", "{}: cannot be read", path.string());
}

int run(int, char** argv) {
  Matrix x(std::stol(argv[2]), std::stol(argv[3]));
  TreeLabels labels{.loss = TreeLoss::logistic, .y = Vector(x.rows())};
  read(std::filesystem::path(argv[1]) / "x.bin", x.data(), x.size());
  read(std::filesystem::path(argv[1]) / "y.bin", labels.y.data(), x.rows());
  const Features features = Features::dense(std::move(x));
  const Context context(Context::Settings{.threads = std::stoi(argv[4])});
  const TreeOptions options{.rate = 0.1, .leaves = 31, .lam = 0, .min_rows = 20};  // as the peers have it
  double fit = HUGE_VAL, processor = HUGE_VAL, predict = HUGE_VAL, loss = 0;
  const double before = start_peak();
  double memory = 0;
  for (int round = 0; round < std::stoi(argv[5]); ++round) {
    std::vector<TreeColumn> columns;
    BoostedTrees model;
    const double begin = usage_now().seconds;
    fit = std::min(fit, seconds([&] {
                     TreeRows data = bin_rows(features, Vector(), {}, 255, context);
                     model = boost_trees(data, labels, {}, 100, options, context);
                     columns = std::move(data.column);
                   }));
    processor = std::min(processor, usage_now().seconds - begin);
    memory = memory_of("VmHWM") - before;
    Matrix scores;
    Vector probability;
    predict = std::min(predict, seconds([&] {
                         scores = tree_scores(model, columns, features, context);
                         probability = 1 / (1 + (-scores.col(0).array()).exp());
                       }));
    loss = mean_tree_loss(labels, scores);
  }
  const Json result = {
      {"fit_s", fit}, {"fit_cpu_s", processor}, {"predict_s", predict}, {"log_loss", loss}, {"memory", memory}};
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 5, 5, "FOLDER ROWS COLS THREADS ROUNDS", run); }
