#include "ecotone/solve/svm/dasvm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/base/json.h"
#include "ecotone/solve/svm/dasvm_machine.h"
#include "ecotone/solve/svm/svm.h"
#include "source_dir.h"

namespace ecotone {
namespace dasvm_test {

Context with_threads(int threads) { return Context(Context::Settings{.threads = threads}); }

Json golden(const std::string& name) {
  const auto path = source_dir() / "tests/golden/dasvm" / (name + ".json");
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  return Json::parse(file);
}

Matrix rows_of(const Json& first, const Json& second) {
  Matrix x(static_cast<Index>(first.size() + second.size()), static_cast<Index>(first[0].size()));
  for (Index i = 0; i < x.rows(); ++i) {
    const Json& row = at(i) < first.size() ? first[at(i)] : second[at(i) - first.size()];
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = row[at(j)].get<double>();
  }
  return x;
}

/// Two half moons and the same turned by an angle.
struct Moons {
  Matrix x;
  std::vector<double> y;  ///< of all rows
  Index sources = 0;

  std::span<const double> source_labels() const { return std::span(y).first(at(sources)); }
  Index wrong(const std::vector<double>& labels) const {
    Index count = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) count += labels[i] != y[at(sources) + i];
    return count;
  }
};

Moons moons(Index rows, double degrees, std::uint64_t seed) {
  Random random(seed, "dasvm_test");
  Moons data{Matrix(2 * rows, 2), {}, rows};
  for (Index i = 0; i < 2 * rows; ++i) {
    const double t = random.uniform(0, std::numbers::pi), r = random.uniform(0.95, 1.05);
    const bool first = i % 2 == 0;
    const double a = (i < rows ? 0 : degrees) * std::numbers::pi / 180;
    const double dx = (first ? r * std::cos(t) : 1.25 - r * std::cos(t)) - 0.625;
    const double dy = (first ? r * std::sin(t) : 0.70 - r * std::sin(t)) - 0.35;
    data.x(i, 0) = 0.625 + std::cos(a) * dx - std::sin(a) * dy;
    data.x(i, 1) = 0.35 + std::sin(a) * dx + std::cos(a) * dy;
    data.y.push_back(first ? 1 : -1);
  }
  return data;
}

const Kernel narrow{.kind = KernelKind::rbf, .sigma = std::sqrt(1.0 / 8)};

std::string code_of(const DasvmProblem& problem) {
  try {
    fit_dasvm(problem, Context());
  } catch (const Error& error) {
    return error.code();
  }
  return "none";
}

class DasvmGolden : public ::testing::TestWithParam<std::pair<const char*, DasvmStop>> {};

TEST_P(DasvmGolden, MakesTheSameRoundsAndEndsWithTheSameScores) {
  const Json json = golden(GetParam().first);
  const Matrix x = rows_of(json["xs"], json["xt"]);
  const auto y = json["ys"].get<std::vector<double>>();
  const DasvmProblem problem{.x = x,
                             .y = y,
                             .kernel = {.kind = KernelKind::rbf, .sigma = std::sqrt(0.5 / json["gamma"].get<double>())},
                             .cost = json["C"].get<double>(),
                             .rho = json["rho"].get<Index>(),
                             .max_rounds = json["max_rounds"].get<Index>(),
                             .tolerance = 1e-10};
  const DasvmFit fit = fit_dasvm(problem, Context());
  EXPECT_EQ(fit.stop, GetParam().second) << dasvm_stop_name(fit.stop);
  EXPECT_TRUE(fit.converged);
  ASSERT_EQ(std::ssize(fit.history), json["rounds"].get<Index>());
  // Rows of the machine after each round: those before, plus what was added, less what was dropped or taken back.
  const Json& fits = json["fits"];
  Index rows = std::ssize(y);
  for (std::size_t r = 0; r < fit.history.size(); ++r) {
    EXPECT_EQ(rows, fits[r]["rows"].get<Index>()) << "round " << r;
    rows += fit.history[r].added - fit.history[r].removed - fit.history[r].flipped;
  }
  EXPECT_EQ(fit.on_target, fits.back()["rows"].get<Index>() == x.rows() - std::ssize(y) && fits.size() > 1);
  const Matrix target = x.bottomRows(x.rows() - std::ssize(y));
  const Vector scores = svm_scores(problem.kernel, x, fit.beta, fit.offset, target, Context());
  for (Index i = 0; i < scores.size(); ++i) {
    EXPECT_EQ(fit.labels[at(i)], json["labels"][at(i)].get<double>()) << i;
    EXPECT_NEAR(scores[i], json["scores"][at(i)].get<double>(), 1e-5) << i;
  }
  const Json& circular = json["circular_accuracy"];
  if (circular.is_null()) return;
  ASSERT_TRUE(fit.circular_accuracy.has_value());
  EXPECT_DOUBLE_EQ(*fit.circular_accuracy, circular.get<double>());
}

INSTANTIATE_TEST_SUITE_P(Cases, DasvmGolden,
                         ::testing::Values(std::pair{"moons20", DasvmStop::settled},
                                           std::pair{"moons30", DasvmStop::settled},
                                           std::pair{"moons50_flips", DasvmStop::settled},
                                           std::pair{"moons40_max_rounds", DasvmStop::max_rounds},
                                           std::pair{"moons25_wide", DasvmStop::settled},
                                           std::pair{"moons0_moved", DasvmStop::settled},
                                           std::pair{"far_one_class", DasvmStop::one_class}),
                         [](const auto& one) { return std::string(one.param.first); });

TEST(Dasvm, FollowsASmallTurnWithoutErrorAndFindsTheWayBack) {
  const Moons data = moons(300, 20, 1);
  const DasvmFit fit = fit_dasvm({.x = data.x, .y = data.source_labels(), .kernel = narrow, .cost = 10}, Context());
  EXPECT_EQ(data.wrong(fit.labels), 0);
  EXPECT_EQ(fit.stop, DasvmStop::settled);
  EXPECT_EQ(fit.circular_accuracy, 1.0);
  EXPECT_EQ(fit.circular_balanced, 1.0);
  EXPECT_FALSE(fit.one_label());
  // Every source row was dropped once, and in the end every target row inside the margin has a label.
  Index removed = 0;
  for (const DasvmRound& round : fit.history) removed += round.removed;
  EXPECT_EQ(removed, 300);
}

TEST(Dasvm, DoesNotFindTheWayBackFromATurnThatIsTooFar) {
  const Moons data = moons(300, 75, 1);
  const DasvmFit fit = fit_dasvm({.x = data.x, .y = data.source_labels(), .kernel = narrow, .cost = 10}, Context());
  EXPECT_GT(data.wrong(fit.labels), 60);
  ASSERT_TRUE(fit.circular_accuracy.has_value());
  EXPECT_LT(*fit.circular_accuracy, 0.7);
}

TEST(Dasvm, HasEqualBytesForAnyNumberOfThreads) {
  const Moons data = moons(2500, 25, 3);  // more rows than a piece, and single precision
  const DasvmProblem problem{.x = data.x, .y = data.source_labels(), .kernel = narrow, .cost = 10, .rho = 100};
  const DasvmFit one = fit_dasvm(problem, with_threads(1));
  for (const int threads : {2, 7}) {
    const DasvmFit other = fit_dasvm(problem, with_threads(threads));
    EXPECT_EQ(one.beta, other.beta);
    EXPECT_EQ(one.offset, other.offset);
    EXPECT_EQ(one.labels, other.labels);
    EXPECT_EQ(one.history.size(), other.history.size());
  }
}

TEST(Dasvm, StopsWhereNoTargetRowLiesInsideTheMargin) {
  // The target repeats source rows that lie beyond the margin.
  Matrix x(8, 1);
  x << -3, -2.5, 2.5, 3, -3, -2.8, 2.8, 3;
  const std::vector<double> y{-1, -1, 1, 1};
  const DasvmFit fit =
      fit_dasvm({.x = x, .y = y, .kernel = {.kind = KernelKind::linear}, .cost = 100, .rho = 1}, Context());
  EXPECT_EQ(fit.stop, DasvmStop::no_target_in_margin);
  EXPECT_EQ(fit.labels, (std::vector<double>{-1, -1, 1, 1}));
  EXPECT_TRUE(fit.on_target);
  ASSERT_EQ(fit.history.size(), 1U);
  EXPECT_EQ(fit.history[0].added, 0);
  EXPECT_EQ(fit.history[0].removed, 0);  // the last machine is that of all source rows
}

TEST(Dasvm, AWayBackToOneClassIsWorthHalf) {
  // The target is so far away that its scores are the offset, which has the sign of the larger class.
  Matrix x(20, 1);
  std::vector<double> y;
  for (Index i = 0; i < 20; ++i) x(i, 0) = i < 10 ? static_cast<double>(i) : 1000.0 + static_cast<double>(i);
  for (Index i = 0; i < 10; ++i) y.push_back(i < 8 ? -1 : 1);
  const DasvmFit fit = fit_dasvm({.x = x, .y = y, .kernel = {.kind = KernelKind::rbf, .sigma = 1}}, Context());
  EXPECT_TRUE(fit.one_label());
  EXPECT_EQ(fit.circular_accuracy, 0.8);
  EXPECT_EQ(fit.circular_balanced, 0.5);
}

TEST(Dasvm, EndsAtTheFirstMachineThatDoesNotConverge) {
  const Moons data = moons(60, 30, 1);
  for (const double tolerance : {1e-16, 1e-300}) {
    const DasvmFit fit = fit_dasvm(
        {.x = data.x, .y = data.source_labels(), .kernel = narrow, .cost = 10, .tolerance = tolerance}, Context());
    EXPECT_EQ(fit.stop, DasvmStop::not_converged);
    EXPECT_FALSE(fit.converged);
    EXPECT_LT(fit.kkt, 1e-9);
    EXPECT_FALSE(fit.circular_accuracy.has_value());
    EXPECT_EQ(fit.labels.size(), 60U);
  }
}

TEST(Dasvm, RowsOfWeightZeroDoNotCount) {
  const Moons data = moons(80, 20, 5);
  // Wrong labels without a weight change nothing.
  std::vector<double> y(data.y.begin(), data.y.begin() + 80), weight(80, 1.0);
  for (std::size_t i = 0; i < 20; ++i) weight[i] = 0;
  const DasvmProblem problem{.x = data.x, .y = y, .weight = weight, .kernel = narrow, .cost = 10, .rho = 4};
  const DasvmFit right = fit_dasvm(problem, Context());
  for (std::size_t i = 0; i < 20; ++i) y[i] = -y[i];
  const DasvmFit wrong = fit_dasvm(problem, Context());
  EXPECT_EQ(right.beta, wrong.beta);
  EXPECT_EQ(right.circular_accuracy, wrong.circular_accuracy);
}

TEST(Dasvm, LinearKernelFarFromZeroKeepsItsOffset) {
  Moons data = moons(60, 15, 7);
  const Kernel kernel{.kind = KernelKind::linear};
  const DasvmFit near = fit_dasvm(
      {.x = data.x, .y = data.source_labels(), .kernel = kernel, .cost = 1, .rho = 5, .tolerance = 1e-9}, Context());
  Matrix moved = data.x;
  moved.rowwise() += Eigen::RowVector2d(100, -50);
  const DasvmFit far = fit_dasvm(
      {.x = moved, .y = data.source_labels(), .kernel = kernel, .cost = 1, .rho = 5, .tolerance = 1e-9}, Context());
  EXPECT_EQ(near.labels, far.labels);
  const Vector a = svm_scores(kernel, data.x, near.beta, near.offset, data.x, Context());
  const Vector b = svm_scores(kernel, moved, far.beta, far.offset, moved, Context());
  EXPECT_LT((a - b).cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Dasvm, RefusesWhatCannotBeAdapted) {
  Matrix x(4, 1);
  x << 0, 1, 2, 3;
  const std::vector<double> y{-1, 1}, one{1, 1}, none(4, 1), odd{-1, 2}, zero{0, 0}, negative{1, -1}, five(5, 1);
  EXPECT_EQ(code_of({.x = x, .y = five}), "shape_mismatch");
  EXPECT_EQ(code_of({.x = x, .y = y, .weight = five}), "shape_mismatch");
  EXPECT_EQ(code_of({.x = x}), "empty_data");
  EXPECT_EQ(code_of({.x = x, .y = none}), "no_target");
  EXPECT_EQ(code_of({.x = x, .y = odd}), "bad_label");
  EXPECT_EQ(code_of({.x = x, .y = y, .weight = negative}), "negative_weight");
  EXPECT_EQ(code_of({.x = x, .y = y, .weight = zero}), "zero_weights");
  EXPECT_EQ(code_of({.x = x, .y = one}), "one_class");
  EXPECT_EQ(code_of({.x = x, .y = y, .cost = 0}), "bad_option");
  EXPECT_EQ(code_of({.x = x, .y = y, .rho = 0}), "bad_option");
  EXPECT_EQ(code_of({.x = x, .y = y, .tolerance = 0}), "bad_option");
  EXPECT_EQ(code_of({.x = x, .y = y, .kernel = {.sigma = 0}}), "bad_option");
  x(3, 0) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(code_of({.x = x, .y = y}), "non_finite");
}

TEST(DasvmMachine, RefitsWithOtherCostsAgreeWithMachinesFromScratch) {
  const Moons data = moons(200, 40, 9);
  const Index n = data.x.rows();
  DasvmMachine machine(narrow, data.x, 1e-9, "test", Context());
  Random random(4, "costs");
  for (int fit = 0; fit < 5; ++fit) {
    Vector y(n), cost(n);
    for (Index i = 0; i < n; ++i) {
      y[i] = random.uniform() < 0.1 ? -data.y[at(i)] : data.y[at(i)];
      cost[i] = random.uniform() < 0.3 ? 0 : 5 * random.uniform();
    }
    EXPECT_TRUE(machine.fit(y, cost).converged);
    const SvmFit whole =
        fit_svm({.y = {y.data(), at(n)}, .weight = {cost.data(), at(n)}, .tolerance = 1e-9}, narrow, data.x, Context());
    const Vector scores = svm_scores(narrow, data.x, whole.beta, whole.offset, data.x, Context());
    for (Index i = 0; i < n; ++i) EXPECT_NEAR(machine.score(i), scores[i], 1e-6);
    EXPECT_NEAR(machine.beta().sum(), 0, 1e-9);
  }
}

}  // namespace dasvm_test
}  // namespace ecotone
