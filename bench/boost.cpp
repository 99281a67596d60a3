// Times boosting: the moons protocol of the first table of habrard2012, AdaBoost on arrays written by bench/boost.py,
// and two large domains. Making or loading the data is not timed.
// Usage: bench_boost moons THREADS | ada FOLDER ROWS COLS STUMPS THREADS ROUNDS | large ROWS COLS ROUNDS THREADS
#include "ecotone/solve/boost/boost.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "bench/support/main.h"
#include "bench/support/seconds.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/dataset.h"
#include "ecotone/data/generate/generate.h"

namespace {

using namespace ecotone;

std::vector<double> signs(const Labels& y, Index count) {
  std::vector<double> result;
  for (Index i = 0; i < count; ++i) result.push_back(y.index[at(i)] == 1 ? 1 : -1);
  return result;
}

/// One repetition at one angle: both samples, and the labels of the target, used only for the error.
struct Moons {
  Features source, target;
  std::vector<double> y, truth;
};

Moons draw_moons(int angle, int repetition) {
  const Context context(Context::Settings{.threads = 1, .seed = static_cast<std::uint64_t>(repetition)});
  const Dataset data = generate("moons", {{"angle", std::to_string(angle)}}, context);
  Moons moons;
  const std::vector<Index> source = data.domain.rows_of(0), target = data.domain.rows_of(1);
  moons.source = data.x.take(source);
  moons.target = data.x.take(target);
  moons.y = signs(data.y->take(source), std::ssize(source));
  moons.truth = signs(data.y->take(target), std::ssize(target));
  return moons;
}

int moons(char** argv) {
  const Context context(Context::Settings{.threads = std::stoi(argv[2])});
  constexpr int repetitions = 10;
  const std::vector<int> angles = {20, 30, 40, 50};
  std::vector<Moons> data;
  for (const int angle : angles)
    for (int r = 0; r < repetitions; ++r) data.push_back(draw_moons(angle, r));
  std::vector<BoostFit> fits(data.size());
  const double time = seconds([&] {
    context.parallel(static_cast<Index>(data.size()), [&](Index k) {
      const Moons& m = data[at(k)];
      BoostOptions options;
      options.seed = static_cast<std::uint64_t>(k % repetitions);
      fits[at(k)] = fit_boost({.source = m.source, .y = m.y, .target = m.target}, options, context);
    });
  });
  Json errors = Json::array();
  Index rounds = 0;
  for (std::size_t a = 0; a < angles.size(); ++a) {
    double wrong = 0, rows = 0;
    for (std::size_t k = a * repetitions; k < (a + 1) * repetitions; ++k) {
      const auto count = static_cast<Index>(fits[k].rounds.size());
      rounds += count;
      const Vector f = StumpVote(fits[k].stumps(count), fits[k].betas(count)).values(data[k].target, context);
      for (Index i = 0; i < f.size(); ++i) wrong += f[i] * data[k].truth[at(i)] <= 0 ? 1 : 0;
      rows += static_cast<double>(f.size());
    }
    errors.push_back(100 * wrong / rows);
  }
  const Json result = {{"seconds", time}, {"rounds", rounds}, {"error_percent", errors}};
  fmt::print("{}\n", result.dump());
  return 0;
}

void read(const std::filesystem::path& path, double* into, Index count) {
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(into), count * static_cast<std::streamsize>(sizeof(double)));
  if (!file) file_error("cannot_read", "{}: cannot be read", path.string());
}

int ada(char** argv) {
  Matrix x(std::stol(argv[3]), std::stol(argv[4]));
  std::vector<double> y(static_cast<std::size_t>(x.rows()));
  read(std::filesystem::path(argv[2]) / "x.bin", x.data(), x.size());
  read(std::filesystem::path(argv[2]) / "y.bin", y.data(), x.rows());
  const Features features = Features::dense(x);
  const Context context(Context::Settings{.threads = std::stoi(argv[6])});
  Json result;
  for (const BoostRowsKind kind : {BoostRowsKind::exact, BoostRowsKind::binned}) {
    BoostOptions options;
    options.rounds = std::stoi(argv[5]);
    options.search = BoostSearch::all;
    options.rows = kind;
    options.bins = BoostBins::quantile;
    BoostFit fit;
    double best = 1e300;
    for (int k = 0; k < std::stoi(argv[7]); ++k)
      best = std::min(best, seconds([&] { fit = fit_boost({.source = features, .y = y}, options, context); }));
    result[kind == BoostRowsKind::exact ? "exact" : "binned"] = {
        {"seconds", best}, {"stumps", fit.rounds.size()}, {"error", fit.rounds.back().err_source}};
  }
  fmt::print("{}\n", result.dump());
  return 0;
}

/// Two domains of normal rows, with the target shifted; the label depends on the first columns.
int large(char** argv) {
  const Index rows = std::stol(argv[2]), cols = std::stol(argv[3]);
  const int rounds = std::stoi(argv[4]);
  const Context context(Context::Settings{.threads = std::stoi(argv[5])});
  const auto draw = [&](std::uint64_t domain) {
    Matrix x(rows, cols);
    context.parallel((rows + 4095) / 4096, [&](Index b) {
      Random random(domain, "bench.boost", static_cast<std::uint64_t>(b));
      for (Index i = 4096 * b; i < std::min(rows, 4096 * (b + 1)); ++i)
        for (Index j = 0; j < cols; ++j) x(i, j) = random.normal() + 0.3 * static_cast<double>(domain);
    });
    return Features::dense(std::move(x));
  };
  const Features source = draw(0), target = draw(1);
  std::vector<double> y(static_cast<std::size_t>(rows));
  Scratch scratch;
  for (Index b = 0; b < source.blocks(); ++b) {
    const RowBlock block = source.block(b, scratch);
    for (Index i = 0; i < block.x.rows(); ++i)
      y[at(block.first + i)] = block.x.row(i).head(std::min<Index>(4, cols)).sum() > 0 ? 1 : -1;
  }
  const auto peak = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) * 1024;
  };
  const double before = peak();
  const auto time = [&](int count) {
    BoostOptions options;
    options.rounds = count;
    options.rows = BoostRowsKind::binned;
    return seconds([&] { fit_boost({.source = source, .y = y, .target = target}, options, context); });
  };
  const double first = time(1);
  const double all = time(rounds + 1);
  const double bytes = (peak() - before) / (2.0 * static_cast<double>(rows));
  const Json result = {
      {"preparing_seconds", first}, {"round_milliseconds", 1000 * (all - first) / rounds}, {"bytes_per_row", bytes}};
  fmt::print("{}\n", result.dump());
  return 0;
}

int run(int argc, char** argv) {
  const std::string kind = argc > 1 ? argv[1] : "";
  if (kind == "moons" && argc == 3) return moons(argv);
  if (kind == "ada" && argc == 8) return ada(argv);
  if (kind == "large" && argc == 6) return large(argv);
  option_error("bad_usage",
               "usage: bench_boost moons THREADS | ada FOLDER ROWS COLS STUMPS THREADS ROUNDS | large ROWS COLS ROUNDS "
               "THREADS");
}

}  // namespace

int main(int argc, char** argv) {
  return bench_main(argc, argv, 1, 1000,
                    "moons THREADS | ada FOLDER ROWS COLS STUMPS THREADS ROUNDS | large ROWS COLS ROUNDS THREADS", run);
}
