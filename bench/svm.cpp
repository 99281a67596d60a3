// Fits an RBF support vector machine on arrays written by bench/svm.py, by ecotone and by LIBSVM in turn, and times
// both; loading is not timed. LIBSVM uses one thread. Two classes, from features or a Gram matrix, are fitted by the
// engine; `classes` has labels 0, 1, .. and fits the method `svm` with its default strategy beside one versus one.
// Usage: bench_svm FOLDER ROWS COLS SIGMA C THREADS features|gram|classes ROUNDS
#include "ecotone/solve/svm/svm.h"

#include <fmt/format.h>
#include <libsvm/svm.h>

#include <algorithm>
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
#include "ecotone/methods/model.h"

namespace {

using namespace ecotone;

void read(const std::filesystem::path& path, double* into, Index count) {
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(into), count * static_cast<std::streamsize>(sizeof(double)));
  if (!file) file_error("cannot_read", "{}: cannot be read", path.string());
}

/// Rows as LIBSVM nodes: nonzero values, or all values of a Gram matrix after the row number.
class Rival {
 public:
  Rival(const Matrix& x, const Vector& y, bool gram) : y_(y) {
    for (Index i = 0; i < x.rows(); ++i) {
      starts_.push_back(nodes_.size());
      if (gram) nodes_.push_back({0, static_cast<double>(i + 1)});
      for (Index j = 0; j < x.cols(); ++j)
        if (gram || x(i, j) != 0) nodes_.push_back({static_cast<int>(j + 1), x(i, j)});
      nodes_.push_back({-1, 0});
    }
    for (const std::size_t start : starts_) rows_.push_back(nodes_.data() + start);
    problem_ = {static_cast<int>(y_.size()), y_.data(), rows_.data()};
  }

  /// Fits and returns the number of support vectors.
  int fit(double sigma, double cost, bool gram) {
    svm_set_print_string_function([](const char*) {});
    svm_parameter parameter{};
    parameter.svm_type = C_SVC;
    parameter.kernel_type = gram ? PRECOMPUTED : RBF;
    parameter.gamma = 0.5 / sigma / sigma;
    parameter.C = cost;
    parameter.eps = 1e-3;
    parameter.cache_size = 4000;
    parameter.shrinking = 1;
    svm_model* model = svm_train(&problem_, &parameter);
    const int support = model->l;
    svm_free_and_destroy_model(&model);
    return support;
  }

 private:
  Vector y_;
  std::vector<svm_node> nodes_;
  std::vector<std::size_t> starts_;
  std::vector<svm_node*> rows_;
  svm_problem problem_{};
};

/// The method on rows of one domain.
class Classes {
 public:
  Classes(const Matrix& x, const Vector& y, double sigma, double cost)
      : pipeline_(Pipeline::parse(fmt::format("svm kernel=rbf sigma={} C={}", sigma, cost))) {
    view_.x = Features::dense(x);
    view_.y.task = Task::classify;
    for (const double label : y) view_.y.index.push_back(static_cast<std::int32_t>(label));
    for (int k = 0; k <= static_cast<int>(y.maxCoeff()); ++k) view_.y.classes.push_back(std::to_string(k));
    view_.domain.names = {"all"};
    view_.domain.index.assign(static_cast<std::size_t>(y.size()), 0);
    view_.role = {Role::source};
  }
  Model fit(const Context& context) const { return Model::fit(pipeline_, view_, Schema{}, context); }

 private:
  Pipeline pipeline_;
  TrainView view_;
};

/// The seconds of the best round of each.
struct Best {
  double ours = 1e300;
  double theirs = 1e300;
};
template <class Ours, class Theirs>
Best best_of(int rounds, const Ours& ours, const Theirs& theirs) {
  Best best;
  for (int i = 0; i < rounds; ++i) {
    best.ours = std::min(best.ours, seconds(ours));
    best.theirs = std::min(best.theirs, seconds(theirs));
  }
  return best;
}

int run(int, char** argv) {
  const std::filesystem::path folder = argv[1];
  Matrix x(std::stol(argv[2]), std::stol(argv[3]));
  Vector y(x.rows());
  read(folder / "x.bin", x.data(), x.size());
  read(folder / "y.bin", y.data(), y.size());
  const Context context(Context::Settings{.threads = std::stoi(argv[6])});
  const Kernel kernel{.kind = KernelKind::rbf, .sigma = std::stod(argv[4])};
  const std::string kind = argv[7];
  const bool gram = kind == "gram";
  if (gram) x = kernel_gram(kernel, x, context);
  const SvmProblem problem{.y = {y.data(), static_cast<std::size_t>(y.size())}, .cost = std::stod(argv[5])};
  Rival rival(x, y, gram);
  SvmFit fit;
  int support = 0;
  const auto theirs = [&] { support = rival.fit(kernel.sigma, problem.cost, gram); };
  if (kind == "classes") {
    const Classes classes(x, y, kernel.sigma, problem.cost);
    const Best best = best_of(
        std::stoi(argv[8]), [&] { classes.fit(context); }, theirs);
    fmt::print("{}\n", Json{{"ecotone", best.ours}, {"libsvm", best.theirs}, {"libsvm_support", support}}.dump());
    return 0;
  }
  const auto ours = [&] { fit = gram ? fit_svm(problem, x, context) : fit_svm(problem, kernel, x, context); };
  const Best best = best_of(std::stoi(argv[8]), ours, theirs);
  const Json result = {{"ecotone", best.ours},         {"libsvm", best.theirs},      {"support", fit.support},
                       {"libsvm_support", support},    {"objective", fit.objective}, {"gap", fit.gap},
                       {"iterations", fit.iterations}, {"rounds", fit.rounds},       {"kernel_rows", fit.kernel_rows}};
  fmt::print("{}\n", result.dump());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  return bench_main(argc, argv, 8, 8, "FOLDER ROWS COLS SIGMA C THREADS features|gram|classes ROUNDS", run);
}
