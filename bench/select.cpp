// Times moments, paths and leave-one-domain-out; bench/selection.py runs it next to its rival.
// Usage: bench_select FOLDER KEY=VALUE...   FOLDER: shape.json, x.bin, y.bin, domain.bin (int32)
//        bench_select wide|sparse KEY=VALUE...   data made here; wide: p = 20,000; sparse: 100,000 x 100,000
// Keys: rule (tgreedy, greedy), steps, threads, repeats. Prints one JSON object: seconds, the smallest of the repeats.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bench/support/keys.h"
#include "bench/support/main.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/base/memory.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/paths/stopping.h"

namespace {

using namespace ecotone;

struct Data {
  Features x;
  std::vector<std::int32_t> domain;
  Vector y;
  Vector none;
  std::vector<std::string> names;

  MomentRows rows() const { return {x, domain, names, y, none}; }
};

template <class T>
void read_into(const std::filesystem::path& path, T* out, Index count) {
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(out),
            static_cast<std::streamsize>(count) * static_cast<std::streamsize>(sizeof(T)));
  if (!file) file_error("cannot_read", "{}: cannot be read", path.string());
}

Data read_data(const std::filesystem::path& folder) {
  std::ifstream file(folder / "shape.json");
  const Json shape = Json::parse(file);
  const auto rows = shape.at("rows").get<Index>();
  Data data;
  Matrix x(rows, shape.at("cols").get<Index>());
  prefer_large_pages(x.data(), static_cast<std::size_t>(x.size()) * sizeof(double));
  read_into(folder / "x.bin", x.data(), x.size());
  data.x = Features::dense(std::move(x));
  data.y.resize(rows);
  read_into(folder / "y.bin", data.y.data(), rows);
  data.domain.resize(static_cast<std::size_t>(rows));
  read_into(folder / "domain.bin", data.domain.data(), rows);
  for (Index d = 0; d < shape.at("domains").get<Index>(); ++d) data.names.push_back(fmt::format("d{}", d));
  return data;
}

/// Eight domains; y depends on the first columns, with effects that differ between domains.
void label(Data& data, const Matrix& first) {
  Random random(1, "bench labels");
  data.y.resize(first.rows());
  for (Index d = 0; d < 8; ++d) data.names.push_back(fmt::format("d{}", d));
  for (Index i = 0; i < first.rows(); ++i) {
    data.domain.push_back(static_cast<std::int32_t>(i * 8 / first.rows()));
    double score = 0.5 * random.normal();
    for (Index j = 0; j < first.cols(); ++j)
      score += first(i, j) * (0.3 + 0.1 * static_cast<double>((j * 7 + data.domain.back() * 3) % 5));
    data.y[i] = score > 0 ? 1 : -1;
  }
}

Data wide_data(const Context& context) {
  constexpr Index rows = 8000, cols = 20000;
  Data data;
  Matrix x(rows, cols);
  context.parallel(rows, [&](Index i) {
    Random random(2, "wide", static_cast<std::uint64_t>(i));
    for (Index j = 0; j < cols; ++j) x(i, j) = random.uniform() - 0.5;
  });
  label(data, x.leftCols(100));
  data.x = Features::dense(std::move(x));
  return data;
}

Data sparse_data() {
  constexpr Index size = 100000, per_row = 100;  // density 1e-3
  Random random(3, "sparse");
  Csr csr{size, size, {0}, {}, {}};
  Matrix first = Matrix::Zero(size, 100);
  for (Index i = 0; i < size; ++i) {
    std::vector<std::int32_t> columns;
    for (Index k = 0; k < per_row; ++k) columns.push_back(static_cast<std::int32_t>(random.below(size)));
    columns.push_back(static_cast<std::int32_t>(random.below(100)));
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const std::int32_t c : columns) {
      csr.column.push_back(c);
      csr.value.push_back(random.normal());
      if (c < 100) first(i, c) = csr.value.back();
    }
    csr.row_start.push_back(static_cast<Index>(csr.value.size()));
  }
  Data data;
  label(data, first);
  data.x = Features::sparse(std::move(csr));
  return data;
}

double seconds(int repeats, const std::function<void()>& work) {
  double best = 1e300;
  for (int k = 0; k < repeats; ++k) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

double peak_gb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1048576.0;
}

/// One dsyrk for the rows of each domain, on all threads: the rate that moments are compared with.
double syrk_seconds(const Data& data, int repeats, const Context& context) {
  const Matrix x = data.x.to_matrix();
  std::vector<Matrix> sums(data.names.size(), Matrix::Zero(x.cols(), x.cols()));
  return seconds(repeats, [&] {
    context.parallel(static_cast<Index>(sums.size()), [&](Index d) {
      const auto first = std::find(data.domain.begin(), data.domain.end(), static_cast<std::int32_t>(d));
      const auto count = std::count(data.domain.begin(), data.domain.end(), static_cast<std::int32_t>(d));
      add_gram(x.middleRows(first - data.domain.begin(), count), sums[at(d)]);
    });
  });
}

Selection end_to_end(const Data& data, GramKind kind, const PathOptions& options, PathStop stop,
                     const Context& context) {
  const Moments moments = gather_moments(data.rows(), kind, context);
  const auto columns = kind == GramKind::none ? columns_of_rows(data.rows(), moments) : columns_of_grams(moments);
  return select_features(moments, *columns, options, {.stop = stop}, context);
}

Json run_folder(const Data& data, PathOptions options, int repeats, const Context& context) {
  Json out;
  Moments moments;
  out["dsyrk"] = syrk_seconds(data, repeats, context);
  out["moments"] =
      seconds(repeats, [&] { moments = gather_moments(data.rows(), GramKind::double_precision, context); });
  const auto path = [&](PathStop stop) {
    return seconds(repeats, [&] {
      const auto columns = columns_of_grams(moments);
      select_features(moments, *columns, options, {.stop = stop}, context);
    });
  };
  out["path"] = path(PathStop::steps);
  out["lodo_path"] = path(PathStop::lodo);
  moments = {};
  const auto whole = [&](GramKind kind, PathStop stop) {
    return seconds(repeats, [&] { end_to_end(data, kind, options, stop, context); });
  };
  out["lazy"] = whole(GramKind::none, PathStop::steps);
  out["lazy_lodo"] = whole(GramKind::none, PathStop::lodo);
  out["single_lodo"] = whole(GramKind::single_precision, PathStop::lodo);
  const Selection found = end_to_end(data, GramKind::none, options, PathStop::steps, context);
  out["first"] = std::vector<Index>(found.path.indices.begin(), found.path.indices.begin() + 8);
  out["distinct"] = found.path.support.size();
  return out;
}

int run(int argc, char** argv) {
  std::map<std::string, std::string> keys{{"rule", "tgreedy"}, {"steps", "300"}, {"threads", "2"}, {"repeats", "3"}};
  read_keys(argc, argv, 2, keys);
  const Context context(Context::Settings{.threads = std::stoi(keys["threads"])});
  PathOptions options;
  options.rule = keys["rule"] == "greedy" ? PathRule::greedy : PathRule::tgreedy;
  options.steps = std::stoll(keys["steps"]);
  const int repeats = std::stoi(keys["repeats"]);
  const std::string what = argv[1];
  Json out;
  if (what == "wide" || what == "sparse") {
    const Data data = what == "wide" ? wide_data(context) : sparse_data();
    out["lazy"] = seconds(repeats, [&] { end_to_end(data, GramKind::none, options, PathStop::steps, context); });
    out["peak_gb"] = peak_gb();
  } else {
    out = run_folder(read_data(what), options, repeats, context);
  }
  fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 1, 1000, "FOLDER|wide|sparse KEY=VALUE...", run); }
