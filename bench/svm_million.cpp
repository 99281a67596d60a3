// Fits a distributional support vector machine in low rank on rows made here: the map of (domain, row), then a linear
// support vector machine on it. Keys: rows, cols, domains, rank, threads, C, distributional (0 or 1), test (rows),
// tolerance. Prints one JSON object: seconds and processor seconds of the parts, memory, and the accuracy on rows of
// unseen domains.
// Usage: bench_svm_million KEY=VALUE...
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "bench/support/keys.h"
#include "bench/support/main.h"
#include "bench/support/usage.h"
#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/base/memory.h"
#include "ecotone/kernels/bandwidth.h"
#include "ecotone/kernels/distribution_map.h"
#include "ecotone/solve/svm/linear_svm.h"

namespace {

using namespace ecotone;

/// Seconds and processor seconds since the last lap.
class Timer {
 public:
  void lap(const std::string& name, Json& out) {
    const auto now = std::chrono::steady_clock::now();
    const double used = usage_now().seconds;
    out[name] = std::chrono::duration<double>(now - begin_).count();
    out[name + "_processor"] = used - used_;
    begin_ = now;
    used_ = used;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  double used_ = usage_now().seconds;
};

struct Data {
  Matrix x;
  std::vector<double> y;
  std::vector<std::int32_t> domain;
  Index domains = 0;

  DomainFeatures rows() const { return {Features::dense(x), domain, domains}; }
};

/// Normal rows; the first two columns are shifted from domain to domain, and the class boundary moves with them; 10% of
/// the labels are wrong.
Data make_data(Index rows, Index cols, Index domains, const char* key, const Context& context) {
  Data data{Matrix(rows, cols), std::vector<double>(static_cast<std::size_t>(rows)),
            std::vector<std::int32_t>(static_cast<std::size_t>(rows)), domains};
  prefer_large_pages(data.x.data(), static_cast<std::size_t>(data.x.size()) * sizeof(double));
  Matrix move(domains, 2);
  Random places(2, key);
  for (double& v : move.reshaped()) v = 1.5 * places.normal();
  constexpr Index part = 1000;
  context.parallel((rows + part - 1) / part, [&](Index p) {
    Random random(1, key, static_cast<std::uint64_t>(p));
    for (Index i = p * part; i < std::min(rows, (p + 1) * part); ++i) {
      const auto d = static_cast<Index>(random.below(static_cast<std::uint64_t>(domains)));
      for (Index j = 0; j < cols; ++j) data.x(i, j) = random.normal();
      const double score = data.x(i, 0) * data.x(i, 1) + std::sin(2 * data.x(i, 2)) + 0.5 * data.x(i, 3);
      data.x.row(i).head(2) += move.row(d);
      const double label = random.uniform() < 0.1 ? -score : score;
      data.y[at(i)] = label > 0 ? 1 : -1;
      data.domain[at(i)] = static_cast<std::int32_t>(d);
    }
  });
  return data;
}

double accuracy(const Vector& score, const std::vector<double>& y) {
  Index right = 0;
  for (Index i = 0; i < score.size(); ++i) right += (score[i] >= 0) == (y[at(i)] > 0) ? 1 : 0;
  return static_cast<double>(right) / static_cast<double>(score.size());
}

/// Pooled rows form a single domain.
Data pooled(Data data) {
  std::fill(data.domain.begin(), data.domain.end(), 0);
  data.domains = 1;
  return data;
}

int run(int argc, char** argv) {
  std::map<std::string, std::string> keys{{"rows", "1e6"},         {"cols", "20"},   {"domains", "10"},
                                          {"rank", "500"},         {"threads", "2"}, {"C", "1"},
                                          {"distributional", "1"}, {"test", "1e5"},  {"tolerance", "1e-3"}};
  read_keys(argc, argv, 1, keys);
  const auto number = [&](const char* key) { return static_cast<Index>(std::stod(keys[key])); };
  const Context context(Context::Settings{.threads = static_cast<int>(number("threads"))});
  Data data = make_data(number("rows"), number("cols"), number("domains"), "train", context);
  Data test = make_data(number("test"), number("cols"), number("domains"), "test", context);
  if (keys["distributional"] == "0") {
    data = pooled(std::move(data));
    test = pooled(std::move(test));
  }
  Json out;
  out["before_mb"] = usage_now().peak_mb;
  const DomainFeatures rows = data.rows();
  Timer timer;
  const double sigma = median_bandwidth(rows.x, context).sigma;
  const DistributionMapFit fit =
      fit_distribution_map({.kind = KernelKind::rbf, .sigma = sigma}, rows, 0, {.rank = number("rank")}, context);
  timer.lap("map", out);
  const LinearSvmFit machine =
      fit_linear_svm({.y = data.y, .cost = std::stod(keys["C"]), .tolerance = std::stod(keys["tolerance"])},
                     fit.map.map(rows, fit.places), context);
  timer.lap("machine", out);
  out["peak_mb"] = usage_now().peak_mb;
  const DomainFeatures fresh = test.rows();
  const Features phi = fit.map.map(fresh, fit.map.place(fresh, context));
  const Vector score = linear_svm_scores(phi, machine.weights, machine.offset, context);
  timer.lap("predict", out);
  out["accuracy"] = accuracy(score, test.y);
  out["residual"] = fit.residual;
  out["sigma"] = sigma;
  out["sigma1"] = fit.width.sigma;
  out["rank"] = fit.map.rank();
  out["gap"] = machine.gap;
  out["primal"] = machine.gap - machine.objective;
  out["iterations"] = machine.iterations;
  out["support"] = machine.support;
  out["kept"] = machine.kept;
  out["converged"] = machine.converged;
  fmt::print("{}\n", out.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return bench_main(argc, argv, 0, 1000, "KEY=VALUE...", run); }
