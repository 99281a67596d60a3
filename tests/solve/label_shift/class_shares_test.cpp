#include "ecotone/solve/label_shift/class_shares.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ecotone/base/random.h"
#include "ecotone/solve/label_shift/bcts.h"
#include "error_code.h"
#include "golden_json.h"

namespace ecotone::test::class_shares_test {

std::vector<double> weights_of(const Json& task) {
  return task.contains("weights") ? numbers_of(task["weights"]) : std::vector<double>{};
}

std::vector<std::int32_t> first_largest(const Matrix& probability) {
  std::vector<std::int32_t> predicted;
  for (Index i = 0; i < probability.rows(); ++i) {
    Index best = 0;
    probability.row(i).maxCoeff(&best);
    predicted.push_back(static_cast<std::int32_t>(best));
  }
  return predicted;
}

TEST(Bcts, GoldenCases) {
  const GoldenTasks golden("trust", "05_bcts");
  for (const std::string op : {"bcts", "temperature"}) {
    for (const Json& task : golden.of(op)) {
      const Matrix p = matrix_of(task["probability"]);
      const Bcts fit = fit_bcts(p, indices_of(task["label"]), weights_of(task),
                                {.ridge = task["ridge"].get<double>(), .bias = op == "bcts"});
      EXPECT_TRUE(fit.converged);
      golden.expect(task, "inverse_temperature", fit.a);
      golden.expect(task, "temperature", 1 / fit.a);
      golden.expect(task, "bias", fit.bias);
      golden.expect(task, "loss", fit.loss);
      const Matrix calibrated = fit.calibrated(p);
      if (task["expect"].contains("first_rows"))
        golden.expect(task, "first_rows", Matrix(calibrated.topRows(std::ssize(task["expect"]["first_rows"]))));
      EXPECT_NEAR(fit.bias.sum(), 0, 1e-10);
    }
  }
}

TEST(Bcts, GoldenErrors) {
  const GoldenTasks golden("trust", "10_errors");
  for (const Json& task : golden.of("bcts"))
    EXPECT_EQ(code_of([&] {
                fit_bcts(matrix_of(task["probability"]), indices_of(task["label"]), {},
                         {.ridge = task["ridge"].get<double>()});
              }),
              task["expect"]["error"].get<std::string>());
}

TEST(Bcts, SeparableRowsHaveAnAnswerWithARidge) {
  Matrix p(4, 2);
  p << .9, .1, .8, .2, .2, .8, .1, .9;
  const std::vector<std::int32_t> y = {0, 0, 1, 1};
  const Bcts fit = fit_bcts(p, y, {});
  EXPECT_TRUE(fit.converged);
  EXPECT_GT(fit.a, 1);
  EXPECT_TRUE(fit_bcts(p, std::vector<std::int32_t>{1, 1, 0, 0}, {}).reversed());
}

TEST(Bcts, LeavesCalibratedProbabilitiesAlone) {
  Random random(7, "bcts", 0);
  Matrix p(20'000, 3);
  std::vector<std::int32_t> y;
  for (Index i = 0; i < p.rows(); ++i) {
    Vector e{{random.normal(), random.normal(), random.normal()}};
    e = e.array().exp();
    p.row(i) = (e / e.sum()).transpose();
    const double u = random.uniform();
    y.push_back(u < p(i, 0) ? 0 : u < p(i, 0) + p(i, 1) ? 1 : 2);
  }
  const Bcts fit = fit_bcts(p, y, {});
  EXPECT_NEAR(fit.a, 1, 0.05);
  EXPECT_LT(fit.bias.cwiseAbs().maxCoeff(), 0.05);
}

TEST(ClassShares, GoldenEm) {
  const GoldenTasks golden("trust", "06_label_shift");
  for (const Json& task : golden.of("em")) {
    const Matrix p = matrix_of(task["target_probability"]);
    const Vector prior = vector_of(task["source_prior"]);
    for (const int step : {1, 2, 3})
      golden.expect(task, "step" + std::to_string(step), em_shares(p, prior, {.most_steps = step}).share);
    const ClassShares fit = em_shares(p, prior);
    EXPECT_TRUE(fit.converged);
    golden.expect(task, "prior", fit.share);
    golden.expect(task, "weights", fit.weight);
    golden.expect(task, "standard_error", fit.standard_error);
    if (task["expect"].contains("first_posteriors"))
      golden.expect(task, "first_posteriors",
                    Matrix(reweighted(p, fit.weight).topRows(std::ssize(task["expect"]["first_posteriors"]))));
  }
}

TEST(ClassShares, EqualSamplesHaveNoShift) {
  Matrix p(4, 2);
  p << .9, .1, .6, .4, .3, .7, .5, .5;
  const Vector prior = p.colwise().mean();
  const ClassShares fit = em_shares(p, prior);
  EXPECT_LT((fit.share - prior).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ClassShares, GoldenBbseAndRlls) {
  const GoldenTasks golden("trust", "06_label_shift");
  for (const Json& task : golden.of("bbse")) {
    const Matrix source = matrix_of(task["probability"]), target = matrix_of(task["target_probability"]);
    const bool soft = task["soft"].get<bool>();
    const auto label = indices_of(task["label"]);
    const Matrix confusion = confusion_shares(source, first_largest(source), label, {}, soft);
    const Vector mu = predicted_shares(target, first_largest(target), soft);
    golden.expect(task, "confusion", confusion);
    golden.expect(task, "mu", mu);
    const ShareWeights found = bbse(confusion, mu);
    golden.expect(task, "raw_weights", found.raw);
    golden.expect(task, "weights", found.weight);
    golden.expect(task, "prior", found.shares(confusion.colwise().sum()));
  }
  for (const Json& task : golden.of("bbse_matrix")) {
    const ShareWeights found = bbse(matrix_of(task["confusion"]), vector_of(task["mu"]));
    golden.expect(task, "raw_weights", found.raw);
    golden.expect(task, "weights", found.weight);
  }
  for (const Json& task : golden.of("rlls")) {
    const PenalisedWeights found =
        rlls(matrix_of(task["confusion"]), vector_of(task["mu_target"]), vector_of(task["mu_source"]),
             task["rows"].get<Index>(), task["alpha"].get<double>());
    golden.expect(task, "rho", found.rho);
    golden.expect(task, "weights", found.weight);
    golden.expect(task, "objective", found.objective);
  }
}

TEST(ClassShares, GoldenTest) {
  const GoldenTasks golden("trust", "06_label_shift");
  for (const Json& task : golden.of("label_shift_test")) {
    const LabelShiftTest test = label_shift_test(matrix_of(task["counts"]), vector_of(task["target_counts"]));
    golden.expect(task, "q_em", test.share);
    golden.expect(task, "q_gls", test.fitted);
    golden.expect(task, "se", test.standard_error);
    golden.expect(task, "x2", test.x2);
    golden.expect(task, "df", test.freedom);
    golden.expect(task, "p_value", test.p_value);
  }
}

TEST(ClassShares, GoldenErrors) {
  const GoldenTasks golden("trust", "10_errors");
  for (const Json& task : golden.of("em"))
    EXPECT_EQ(code_of([&] { em_shares(matrix_of(task["target_probability"]), vector_of(task["source_prior"])); }),
              task["expect"]["error"].get<std::string>());
  for (const Json& task : golden.of("bbse_matrix"))
    EXPECT_EQ(code_of([&] { bbse(matrix_of(task["confusion"]), vector_of(task["mu"])); }),
              task["expect"]["error"].get<std::string>());
  for (const Json& task : golden.of("label_shift_test"))
    EXPECT_EQ(code_of([&] { label_shift_test(matrix_of(task["counts"]), vector_of(task["target_counts"])); }),
              task["expect"]["error"].get<std::string>());
}

TEST(PredictionBins, AreClassesTimesTerciles) {
  Matrix p(7, 3);
  p << .9, .1, 0, .8, .2, 0, .7, .3, 0, .4, .6, 0, .3, .7, 0, .2, .8, 0, .55, .45, 0;
  const auto predicted = first_largest(p);
  const PredictionBins bins(p, predicted);
  EXPECT_EQ(bins.count(), 6);  // no source row is predicted to be of the third class
  std::vector<Index> rows(at(bins.count()), 0);
  for (Index i = 0; i < 7; ++i) ++rows[at(bins.bin(predicted[at(i)], p(i, predicted[at(i)])))];
  for (const Index count : rows) EXPECT_GE(count, 1);
  EXPECT_EQ(bins.bin(2, 0.9), -1);
}

}  // namespace ecotone::test::class_shares_test
