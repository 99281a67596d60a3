// The golden cases 12_robust and 13_anchor (probit) on the engine.
#include <cmath>
#include <map>

#include "ecotone/solve/robust/robust.h"
#include "error_code.h"
#include "golden_json.h"

namespace ecotone::test {
namespace robust_golden_test {

class RobustGolden : public testing::Test {
 protected:
  void read(const std::string& name) {
    file_ = golden_file("align", name);
    const Json& inputs = file_.at("inputs");
    x_ = Features::dense(matrix_of(inputs.at("X")));
    value_ = numbers_of(inputs.at("y_regress"));
    cls_.clear();
    for (const double y : numbers_of(inputs.at("y"))) cls_.push_back(y > 0 ? 1 : 0);
    std::map<std::string, std::int32_t> known;
    domain_.clear();
    for (const Json& each : inputs.at("domain"))
      domain_.push_back(
          known.try_emplace(each.get<std::string>(), static_cast<std::int32_t>(known.size())).first->second);
    domains_ = static_cast<Index>(known.size());
  }

  RobustProblem problem(LinearFamily family, double l2) const {
    LinearProblem linear{.x = x_, .cls = cls_, .weight = none_};
    linear.family = family;
    linear.value = value_;
    linear.l2 = l2;
    return {.linear = linear, .domain = domain_, .domains = domains_};
  }

  static void expect(const Json& task, const std::string& field, const Vector& ours) {
    const Json& wanted = task.at("expect").at(field);
    const Vector expected = wanted.is_array() ? vector_of(wanted) : Vector(Vector::Constant(1, wanted.get<double>()));
    EXPECT_LT((ours - expected).cwiseAbs().maxCoeff(), task.at("tol").at(field).get<double>())
        << field << " of " << task.at("op") << task.at("params");
  }
  static void expect_theta(const Json& task, const LinearFit& fit) {
    Vector theta(fit.weights.cols() + 1);
    theta << fit.weights.row(0).transpose(), fit.offset[0];
    expect(task, "theta", theta);
    expect(task, "objective", Vector::Constant(1, fit.risk));
    EXPECT_TRUE(fit.converged) << task.at("op") << task.at("params");
    EXPECT_LT(fit.kkt, 1e-6) << task.at("op") << task.at("params");
  }

  Json file_;
  Features x_;
  std::vector<std::int32_t> cls_;
  std::vector<double> value_;
  std::vector<std::int32_t> domain_;
  Index domains_ = 0;
  Vector none_;
};

TEST_F(RobustGolden, Risks) {
  read("12_robust");
  for (const Json& task : file_.at("tasks")) {
    const std::string op = task.at("op");
    if (op == "domain_weights") continue;
    const Json& params = task.at("params");
    const bool squared = op.ends_with("_squared");
    RobustProblem own =
        problem(squared ? LinearFamily::least_squares : LinearFamily::logistic, params.at("l2").get<double>());
    own.lam = params.value("lam", 0.0);
    own.share = params.value("a", 0.5);
    own.risk = op == "groupdro"                                     ? RobustRisk::worst
               : op.starts_with("vrex")                             ? RobustRisk::vrex
               : op.starts_with("irm")                              ? RobustRisk::irm
               : params.value("level", std::string("row")) == "row" ? RobustRisk::cvar_rows
                                                                    : RobustRisk::cvar_domains;
    // Of irm's local optima the reference has the one near 0; along the path we find one that is lower.
    own.from_zero = op == "irm_squared";
    const RobustFit fit = fit_robust(own, Context({.threads = 2}));
    expect_theta(task, fit.fit);
    if (op == "irm_squared") {
      own.from_zero = false;
      const RobustFit best = fit_robust(own, Context({.threads = 2}));
      EXPECT_LT(best.fit.risk, fit.fit.risk);
      EXPECT_LT(best.fit.kkt, 1e-6);
    }
    if (op != "groupdro") continue;
    expect(task, "losses", fit.losses);
    expect(task, "q", fit.mixture);
    EXPECT_LE(*fit.lower, fit.fit.risk);
    EXPECT_LT(fit.fit.risk - *fit.lower, 1e-7);
  }
}

TEST_F(RobustGolden, AnchorProbit) {
  read("13_anchor");
  for (const Json& task : file_.at("tasks")) {
    if (task.at("op") != "anchor_probit") continue;
    RobustProblem own = problem(LinearFamily::probit, task.at("params").at("l2").get<double>());
    own.risk = RobustRisk::anchor;
    own.gamma = task.at("params").at("gamma").get<double>();
    expect_theta(task, fit_robust(own, Context({.threads = 2})).fit);
  }
}

TEST_F(RobustGolden, RowsOfWeightZeroAndTwoDoNotDifferFromRowsLeftOutAndTwice) {
  read("12_robust");
  Vector weight = Vector::Ones(40);
  weight[3] = 0;
  weight[20] = 2;
  std::vector<Index> rows;
  for (Index i = 0; i < 40; ++i)
    if (i != 3) rows.push_back(i);
  rows.push_back(20);
  for (const RobustRisk risk : {RobustRisk::vrex, RobustRisk::irm, RobustRisk::cvar_domains, RobustRisk::cvar_rows}) {
    LinearProblem linear{.x = x_, .cls = cls_, .weight = weight};
    linear.l2 = 0.01;
    const RobustProblem weighted{.linear = linear, .domain = domain_, .domains = domains_, .risk = risk, .share = 0.7};
    std::vector<std::int32_t> cls;
    std::vector<std::int32_t> domain;
    for (const Index i : rows) {
      cls.push_back(cls_[at(i)]);
      domain.push_back(domain_[at(i)]);
    }
    LinearProblem other{.x = x_.take(rows), .cls = cls, .weight = none_};
    other.l2 = 0.01;
    const RobustProblem repeated{.linear = other, .domain = domain, .domains = domains_, .risk = risk, .share = 0.7};
    const Context context({.threads = 2});
    const RobustFit a = fit_robust(weighted, context);
    const RobustFit b = fit_robust(repeated, context);
    EXPECT_LT((a.fit.weights - b.fit.weights).cwiseAbs().maxCoeff(), 1e-5) << static_cast<int>(risk);
  }
}

/// Domains of equal size: without strength, and with all domains in the worst share, every risk is plain least squares.
TEST_F(RobustGolden, TheUnitOfLabelsDoesNotChangeTheFit) {
  read("12_robust");
  const Context context({.threads = 2});
  for (std::size_t i = 0; i < domain_.size(); ++i) domain_[i] = static_cast<std::int32_t>(i % 2);
  domains_ = 2;
  ASSERT_EQ(domain_.size() % 2, 0U);
  const std::vector<double> given = value_;
  const LinearFit plain = fit_linear(problem(LinearFamily::least_squares, 0).linear, context);
  for (const RobustRisk risk : {RobustRisk::vrex, RobustRisk::irm, RobustRisk::anchor, RobustRisk::cvar_domains,
                                RobustRisk::cvar_rows, RobustRisk::worst}) {
    const auto fit_of = [&](double unit) {
      for (std::size_t i = 0; i < given.size(); ++i) value_[i] = unit * given[i];
      RobustProblem own = problem(LinearFamily::least_squares, 0);
      own.risk = risk;
      own.lam = 0;
      own.share = 1;
      return fit_robust(own, context);
    };
    const RobustFit one = fit_of(1);
    const double size = one.fit.weights.cwiseAbs().maxCoeff();
    // The mixture of worst is found to a bound of the risk, which says less of the weights.
    const double tolerance = risk == RobustRisk::worst ? 1e-3 : 1e-6;
    for (const double unit : {1e-6, 1e6}) {
      const RobustFit small = fit_of(unit);
      EXPECT_TRUE(small.fit.converged) << static_cast<int>(risk) << " " << unit;
      EXPECT_LT((small.fit.weights / unit - one.fit.weights).cwiseAbs().maxCoeff(), tolerance * size)
          << static_cast<int>(risk) << " " << unit;
    }
    if (risk == RobustRisk::worst) continue;
    EXPECT_LT((one.fit.weights - plain.weights).cwiseAbs().maxCoeff(), 1e-6 * size) << static_cast<int>(risk);
    EXPECT_NEAR(one.fit.offset[0], plain.offset[0], 1e-6 * size) << static_cast<int>(risk);
  }
}

TEST_F(RobustGolden, ADomainWithoutLabelsBeyondZeroDoesNotSetTheUnit) {
  read("12_robust");
  const Context context({.threads = 2});
  const auto fit_of = [&](double unit) {
    std::vector<double> value = value_;
    for (std::size_t i = 0; i < value.size(); ++i) value[i] = domain_[i] == 0 ? 0 : unit * value[i];
    RobustProblem own = problem(LinearFamily::least_squares, 0);
    own.linear.value = value;
    own.lam = 0;
    return fit_robust(own, context).fit.weights;
  };
  const Matrix one = fit_of(1);
  EXPECT_LT((fit_of(1e-9) * 1e9 - one).cwiseAbs().maxCoeff(), 1e-6 * one.cwiseAbs().maxCoeff());
}

TEST_F(RobustGolden, ColumnsWhoseSquaresOverflow) {
  read("12_robust");
  const Context context({.threads = 2});
  const Matrix given = x_.to_matrix();
  for (const RobustRisk risk : {RobustRisk::vrex, RobustRisk::irm, RobustRisk::worst, RobustRisk::cvar_rows}) {
    const auto fit_of = [&](double unit) {
      Matrix x = given;
      x.col(0) *= unit;
      x_ = Features::dense(x);
      RobustProblem own = problem(LinearFamily::least_squares, 0);
      own.risk = risk;
      own.lam = 0.1;
      return fit_robust(own, context).fit;
    };
    const LinearFit one = fit_of(1), large = fit_of(1e200);
    EXPECT_TRUE(std::isfinite(large.kkt)) << static_cast<int>(risk);
    EXPECT_NEAR(large.weights(0, 0) * 1e200, one.weights(0, 0), 1e-3) << static_cast<int>(risk);
    EXPECT_NEAR(large.weights(0, 1), one.weights(0, 1), 1e-3) << static_cast<int>(risk);
  }
}

TEST_F(RobustGolden, LossesThatOverflowAreRefused) {
  read("12_robust");
  for (double& y : value_) y *= 1e200;
  for (const RobustRisk risk : {RobustRisk::vrex, RobustRisk::irm, RobustRisk::anchor, RobustRisk::cvar_domains,
                                RobustRisk::cvar_rows, RobustRisk::worst}) {
    RobustProblem own = problem(LinearFamily::least_squares, 0.1);
    own.risk = risk;
    EXPECT_EQ(code_of([&] { fit_robust(own, Context({.threads = 2})); }), "non_finite") << static_cast<int>(risk);
  }
}

TEST_F(RobustGolden, EqualBytesForAnyNumberOfThreads) {
  read("12_robust");
  for (const RobustRisk risk : {RobustRisk::vrex, RobustRisk::irm, RobustRisk::worst, RobustRisk::cvar_rows}) {
    RobustProblem own = problem(LinearFamily::logistic, 0.01);
    own.risk = risk;
    const Matrix one = fit_robust(own, Context({.threads = 1})).fit.weights;
    EXPECT_TRUE(one == fit_robust(own, Context({.threads = 7})).fit.weights) << static_cast<int>(risk);
  }
}

}  // namespace robust_golden_test
}  // namespace ecotone::test
