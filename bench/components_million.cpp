// Times invariant components by a low-rank kernel map: from memory, or from a mapped file.
// Usage: bench_components_million memory KEY=VALUE...
//        bench_components_million write FILE KEY=VALUE...   makes FILE (.eco)
//        bench_components_million file FILE KEY=VALUE...    from FILE, mapped
// Keys: rows, cols, domains, rank, threads, map. Prints one JSON object: seconds of each part, the rate of
// products measured in the same run, and the share of it that the whole fit reaches.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "bench/support/keys.h"
#include "bench/support/main.h"
#include "bench/support/usage.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/base/memory.h"
#include "ecotone/data/read.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/linalg/products.h"
#include "ecotone/solve/components/low_rank.h"

namespace {

using namespace ecotone;

std::atomic<long> anonymous_now{0};   // kB
std::atomic<long> anonymous_peak{0};  // kB

/// Reads the anonymous memory of this process, using only calls that are allowed in a signal handler.
void look(int) {
  static char text[8192];
  const int file = open("/proc/self/status", O_RDONLY);
  if (file < 0) return;
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  if (size <= 0) return;
  text[size] = 0;
  const char* found = std::strstr(text, "RssAnon:");
  if (!found) return;
  long value = 0;
  for (found += 8; *found == ' ' || *found == '\t';) ++found;
  for (; *found >= '0' && *found <= '9'; ++found) value = 10 * value + (*found - '0');
  anonymous_now = value;
  if (value > anonymous_peak) anonymous_peak = value;
}

/// Checks every 20 ms from now on.
void watch_memory() {
  struct sigaction action = {};
  action.sa_handler = look;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every{{0, 20000}, {0, 20000}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

class Timer {
 public:
  /// Seconds since construction or the last lap.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    begin_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// GFLOP per second and per processor second for products of 1,500 x 1,500 matrices, one per thread at a time; the best
/// of 5. The second value is not affected by other programs.
struct ProductRate {
  double by_second = 0;
  double by_processor_second = 0;
};
ProductRate product_rate(const Context& context) {
  constexpr Index side = 1500;
  const Matrix a = Matrix::Constant(side, side, 0.5);
  std::vector<Matrix> c(static_cast<std::size_t>(context.threads()), Matrix(side, side));
  ProductRate best;
  for (int round = 0; round < 5; ++round) {
    const double begin = usage_now().seconds;
    Timer timer;
    context.parallel(context.threads(), [&](Index t) { multiply(a, a, c[at(t)]); });
    const double flops = 2e-9 * side * side * side * static_cast<double>(context.threads());
    best.by_second = std::max(best.by_second, flops / timer.lap());
    best.by_processor_second = std::max(best.by_processor_second, flops / (usage_now().seconds - begin));
  }
  return best;
}

/// Normal rows; the first columns are shifted from domain to domain; three classes determined by two of the columns.
Dataset make_data(Index rows, Index cols, Index domains, const Context& context) {
  Dataset data;
  Matrix x(rows, cols);
  prefer_large_pages(x.data(), static_cast<std::size_t>(x.size()) * sizeof(double));
  data.y = Labels{Task::classify, {"a", "b", "c"}, std::vector<std::int32_t>(static_cast<std::size_t>(rows)), {}};
  data.domain.index.resize(static_cast<std::size_t>(rows));
  constexpr Index part = 1000;
  context.parallel((rows + part - 1) / part, [&](Index p) {
    Random random(1, "million", static_cast<std::uint64_t>(p));
    for (Index i = p * part; i < std::min(rows, (p + 1) * part); ++i) {
      const auto d = static_cast<Index>(random.below(static_cast<std::uint64_t>(domains)));
      for (Index j = 0; j < cols; ++j) x(i, j) = random.normal();
      const double score = x(i, 0) + x(i, cols > 1 ? 1 : 0) + 0.5 * random.normal();
      for (Index j = 0; j < std::min<Index>(3, cols); ++j) x(i, j) += 0.1 * static_cast<double>(d);
      data.y->index[at(i)] = score < -0.5 ? 0 : score < 0.5 ? 1 : 2;
      data.domain.index[at(i)] = static_cast<std::int32_t>(d);
    }
  });
  for (Index d = 0; d < domains; ++d) data.domain.names.push_back(fmt::format("d{}", d));
  data.role.assign(static_cast<std::size_t>(domains), Role::source);
  data.x = Features::dense(std::move(x));
  for (Index j = 0; j < cols; ++j) data.schema.columns.push_back({data.x.name(j), ColumnKind::numeric, {}});
  return data;
}

LowRankKind kind_of(const std::string& name) {
  for (const auto& [text, kind] : {std::pair{"pivoted", LowRankKind::pivoted},
                                   {"uniform", LowRankKind::uniform},
                                   {"greedy", LowRankKind::greedy},
                                   {"fourier", LowRankKind::fourier}})
    if (name == text) return kind;
  option_error("bad_option", "bench: unknown map '{}'", name);
}

Json run_fit(const Dataset& data, LowRankOptions options, const Context& context) {
  Json out;
  const Features& x = data.x;
  look(0);
  const double before = static_cast<double>(anonymous_now) / 1024.0;
  anonymous_peak = 0;
  watch_memory();
  const Usage begin = usage_now();
  Timer timer;
  const double sigma = median_bandwidth(x, context).sigma;
  const LowRankFit fit = fit_low_rank(x, {.kind = KernelKind::rbf, .sigma = sigma}, options, context);
  const double landmarks = timer.lap();
  const LowRankOutputs outputs = LowRankOutputs::of_classes(data.y->index, static_cast<Index>(data.y->classes.size()));
  const LowRankSums sums = gather_low_rank_sums({x, fit.map, data.domain.index, data.domain.count(), outputs}, context);
  const double summing = timer.lap();
  const LowRankComponents found =
      low_rank_components(sums, {.supervised = true, .weight = 100, .lam = 0.1, .components = 2}, 1e-4, context);
  const double reduced = timer.lap();
  const Usage end = usage_now();
  const LowRankProjection projection(fit.map, found.theta, found.mean, direct_is_safe(fit.map, found));
  Matrix z(x.rows(), projection.components());
  context.parallel(x.blocks(), [&](Index b) {
    Scratch scratch;
    const RowBlock block = x.block(b, scratch);
    projection.project(block.x, z.middleRows(block.first, block.x.rows()));
  });
  out["project"] = timer.lap();
  out["landmarks"] = landmarks;
  out["sums"] = summing;
  out["reduced"] = reduced;
  out["fit"] = landmarks + summing + reduced;
  out["fit_processor"] = end.seconds - begin.seconds;
  out["resident_peak_mb"] = end.peak_mb;
  const auto n = static_cast<double>(x.rows()), r = static_cast<double>(fit.map.rank());
  // features 2nrd + nr^2 (triangular), sums nr^2
  out["gflop"] = 1e-9 * (2 * n * r * static_cast<double>(x.cols()) + 2 * n * r * r);
  out["rank"] = fit.map.rank();
  out["residual"] = fit.residual;
  out["direct"] = projection.direct();
  out["gamma"] = std::vector<double>(found.spectrum.gamma.data(), found.spectrum.gamma.data() + found.spectrum.size());
  out["anonymous_before_mb"] = before;
  out["anonymous_peak_mb"] = static_cast<double>(anonymous_peak) / 1024.0;
  return out;
}

int run(int argc, char** argv) {
  const std::string mode = argv[1];
  const int keys_at = mode == "memory" ? 2 : 3;
  if (argc < keys_at) option_error("usage", "bench_components_million {} FILE", mode);
  std::map<std::string, std::string> keys{{"rows", "1000000"}, {"cols", "20"},   {"domains", "20"},
                                          {"rank", "500"},     {"threads", "2"}, {"map", "pivoted"}};
  read_keys(argc, argv, keys_at, keys);
  keep_freed_memory();  // as in the program
  const auto number = [&](const char* key) { return static_cast<Index>(std::stoll(keys[key])); };
  const Context context(Context::Settings{.threads = static_cast<int>(number("threads"))});
  if (mode == "write") {
    write_eco(make_data(number("rows"), number("cols"), number("domains"), context), argv[2], context);
    return 0;
  }
  const Dataset data = mode == "memory" ? make_data(number("rows"), number("cols"), number("domains"), context)
                                        : read_dataset({argv[2]}, {}, context);
  const ProductRate rate = product_rate(context);
  Json out = run_fit(data, {.kind = kind_of(keys["map"]), .rank = number("rank")}, context);
  out["threads"] = context.threads();
  const double gflop = out["gflop"];
  out["product_gflops"] = rate.by_second;
  out["share_of_product_rate"] = gflop / out["fit"].get<double>() / rate.by_second;
  out["processor_share_of_product_rate"] = gflop / out["fit_processor"].get<double>() / rate.by_processor_second;
  fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bench_main(argc, argv, 1, 1000, "memory|write|file [FILE] KEY=VALUE...", run);
}
