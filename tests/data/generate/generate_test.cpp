#include "ecotone/data/generate/generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "ecotone/base/error.h"

namespace ecotone {
namespace generate_test {

Context with(std::uint64_t seed, int threads = 2) {
  return Context(Context::Settings{.threads = threads, .seed = seed});
}

/// The features of one domain.
Matrix domain_x(const Dataset& data, Index domain) { return data.x.take(data.domain.rows_of(domain)).to_matrix(); }

double share_of_class(const Dataset& data, Index domain, int index) {
  double count = 0;
  const auto rows = data.domain.rows_of(domain);
  for (const Index row : rows) count += data.y->index[static_cast<std::size_t>(row)] == index;
  return count / static_cast<double>(rows.size());
}

double sd(const Vector& v) { return std::sqrt((v.array() - v.mean()).square().mean()); }

class EveryGeneratorTest : public testing::TestWithParam<std::string> {};

TEST_P(EveryGeneratorTest, IsADataSetInGoodOrder) {
  const Dataset data = ecotone::generate(GetParam(), {}, with(1));
  ASSERT_TRUE(data.y.has_value());
  EXPECT_EQ(data.y->size(), data.rows());
  EXPECT_EQ(static_cast<Index>(data.domain.index.size()), data.rows());
  EXPECT_EQ(data.role, Roles(data.domain.names.size(), Role::source));
  EXPECT_EQ(data.schema.feature_names(), data.x.names());
  EXPECT_FALSE(data.schema.label.empty());
  EXPECT_FALSE(data.schema.domain.empty());
  EXPECT_EQ(Schema::from_json(data.schema.to_json(), "test"), data.schema);
  // Domains are numbered by first appearance, and each has rows; classes are sorted and each occurs.
  std::int32_t next = 0;
  for (const std::int32_t d : data.domain.index) {
    ASSERT_LE(d, next);
    if (d == next) ++next;
  }
  EXPECT_EQ(next, data.domain.count());
  if (data.y->task == Task::classify) {
    auto sorted = data.y->classes;
    sort_classes(sorted);
    EXPECT_EQ(sorted, data.y->classes);
    EXPECT_EQ(std::set(data.y->index.begin(), data.y->index.end()).size(), sorted.size());
  } else {
    EXPECT_TRUE(data.y->value.allFinite());
  }
}

TEST_P(EveryGeneratorTest, DependsOnTheSeedAloneNotOnThreads) {
  auto bytes = [](const Dataset& data) {
    const Matrix x = data.x.to_matrix();
    std::string text(reinterpret_cast<const char*>(x.data()), static_cast<std::size_t>(x.size()) * sizeof(double));
    for (const std::int32_t c : data.y->index) text += static_cast<char>('0' + c);
    text.append(reinterpret_cast<const char*>(data.y->value.data()),
                static_cast<std::size_t>(data.y->value.size()) * sizeof(double));
    return text;
  };
  const std::string one = bytes(ecotone::generate(GetParam(), {}, with(3, 1)));
  EXPECT_EQ(one, bytes(ecotone::generate(GetParam(), {}, with(3, 7))));
  EXPECT_NE(one, bytes(ecotone::generate(GetParam(), {}, with(4, 1))));
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const Generator& g : generators()) names.push_back(g.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(All, EveryGeneratorTest, testing::ValuesIn(all_names()),
                         [](const auto& test) { return test.param; });

TEST(Generators, AreTheOnesPromised) {
  EXPECT_EQ(all_names(), (std::vector<std::string>{"moons", "wishart", "logistic", "clinics", "misspecified", "strong",
                                                   "noshift", "separable10", "noisy10", "hidden_blob", "three_classes",
                                                   "synthetic_domains", "target_shift", "exchangeable"}));
  for (const Generator& g : generators()) EXPECT_FALSE(g.summary.empty());
}

TEST(Generators, AnswerMistakesByName) {
  auto error_of = [](std::string_view name, const OptionTexts& options) {
    try {
      generate(name, options, Context());
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::option);
      return error.code() + ": " + error.what();
    }
    return std::string();
  };
  EXPECT_EQ(error_of("moon", {}), "unknown_generator: no generator 'moon'; did you mean 'moons'?");
  EXPECT_EQ(error_of("moons", {{"angel", "3"}}).substr(0, 14), "unknown_option");
  EXPECT_EQ(error_of("moons", {{"rows", "1"}}).substr(0, 10), "bad_option");
  EXPECT_EQ(error_of("logistic", {{"features", "1"}, {"target", "5"}, {"angle", "30"}}).substr(0, 10), "bad_option");
}

TEST(Moons, LieOnTheirHalfAnnuli) {
  const Dataset data = generate("moons", {{"rows", "4000"}, {"test", "10"}, {"angle", "0"}}, with(2));
  EXPECT_EQ(data.domain.names, (std::vector<std::string>{"source", "target", "test"}));
  EXPECT_EQ(data.y->classes, (std::vector<std::string>{"-1", "1"}));
  EXPECT_EQ(share_of_class(data, 0, 1), 0.5);
  const Matrix x = data.x.to_matrix();
  double mean_square = 0;
  for (Index i = 0; i < 4000; ++i) {
    const bool positive = data.y->index[static_cast<std::size_t>(i)] == 1;
    const double u = positive ? x(i, 0) : 1.25 - x(i, 0), v = positive ? x(i, 1) : 0.70 - x(i, 1);
    const double r = std::hypot(u, v);
    EXPECT_GE(v, 0.0);
    EXPECT_GE(r, 0.95 - 1e-12);
    EXPECT_LE(r, 1.05 + 1e-12);
    mean_square += r * r / 4000;
  }
  // Uniform by area: r^2 is uniform in [0.95^2, 1.05^2], sd 0.0577.
  EXPECT_NEAR(mean_square, 1.0025, 4 * 0.0577 / std::sqrt(4000));
}

TEST(Moons, TargetIsTurnedAnticlockwiseAboutTheMiddle) {
  const Dataset straight = generate("moons", {{"angle", "0"}}, with(2));
  const Dataset turned = generate("moons", {{"angle", "40"}}, with(2));
  EXPECT_EQ(domain_x(straight, 0), domain_x(turned, 0));
  const Matrix a = domain_x(straight, 1), b = domain_x(turned, 1);
  EXPECT_EQ(a.rows(), 300);
  for (Index i = 0; i < a.rows(); ++i) {
    const double ux = a(i, 0) - 0.625, uy = a(i, 1) - 0.35, vx = b(i, 0) - 0.625, vy = b(i, 1) - 0.35;
    double angle = (std::atan2(vy, vx) - std::atan2(uy, ux)) * 180 / std::numbers::pi;
    if (angle < 0) angle += 360;
    EXPECT_NEAR(angle, 40, 1e-9);
    EXPECT_NEAR(std::hypot(ux, uy), std::hypot(vx, vy), 1e-12);
  }
}

TEST(Wishart, CovariancesAverageToTwiceTheIdentity) {
  const Dataset data = generate("wishart", {{"domains", "300"}, {"rows", "100"}}, with(6));
  EXPECT_EQ(data.y->task, Task::regress);
  EXPECT_EQ(data.schema.label, "y");
  Matrix mean = Matrix::Zero(5, 5);
  Vector first(300), rows(300);
  for (Index d = 0; d < 300; ++d) {
    const Matrix x = domain_x(data, d);
    const Matrix s = x.transpose() * x / static_cast<double>(x.rows());
    mean += s / 300;
    first[d] = s(0, 0);
    rows[d] = static_cast<double>(x.rows());
  }
  // E Sigma = 0.2 * 10 I = 2 I; Sigma_11 has variance 2 * 10 * 0.2^2 = 0.8, its estimate from 100 rows a little more.
  EXPECT_LT((mean - 2 * Matrix::Identity(5, 5)).cwiseAbs().maxCoeff(), 0.25);
  EXPECT_NEAR(sd(first), std::sqrt(0.8 + 2 * (4 + 0.8) / 100), 0.15);
  EXPECT_NEAR(rows.mean(), 100, 4 * 10 / std::sqrt(300.0));
  EXPECT_NEAR(sd(rows), 10, 2);
}

TEST(Wishart, OutputsFollowOneRuleInAllDomains) {
  const Dataset data = generate("wishart", {}, with(6));
  EXPECT_EQ(data.domain.count(), 10);
  // The magnitude exp|y| and the sign vary with x by the same two directions everywhere; here only that both signs
  // and magnitudes below and above 1 occur in every domain.
  for (Index d = 0; d < 10; ++d) {
    const Vector y = data.y->take(data.domain.rows_of(d)).value;
    EXPECT_GT((y.array() > 0).count(), 20);
    EXPECT_GT((y.array() < 0).count(), 20);
  }
}

/// Direction of the class means' difference, for standard normal features proportional to the weights.
Vector direction(const Dataset& data, Index domain) {
  const auto rows = data.domain.rows_of(domain);
  const Matrix x = domain_x(data, domain);
  Vector sum = Vector::Zero(x.cols());
  for (std::size_t i = 0; i < rows.size(); ++i)
    sum += (data.y->index[static_cast<std::size_t>(rows[i])] == 1 ? 1 : -1) * x.row(static_cast<Index>(i)).transpose();
  return sum.normalized();
}

TEST(Logistic, AngleBetweenTheRulesIsAsAsked) {
  for (const auto& [noise, tolerance] : {std::pair{"false", 4.0}, std::pair{"true", 6.0}}) {
    const Dataset data = generate(
        "logistic", {{"rows", "20000"}, {"target", "20000"}, {"features", "4"}, {"angle", "60"}, {"noise", noise}},
        with(9));
    const double cosine = direction(data, 0).dot(direction(data, 1));
    EXPECT_NEAR(std::acos(cosine) * 180 / std::numbers::pi, 60, tolerance);
    EXPECT_NEAR(domain_x(data, 0).mean(), 0, 0.02);
    EXPECT_NEAR(domain_x(data, 1).array().square().mean(), 1, 0.03);
  }
}

TEST(Logistic, LabelsAreSignsUnlessNoisy) {
  // Without noise the classes are separated by the estimated direction up to estimation error; with it they are not.
  auto errors = [](const char* noise) {
    const Dataset data = generate("logistic", {{"noise", noise}, {"rows", "8000"}}, with(9));
    EXPECT_EQ(data.domain.count(), 1);
    EXPECT_EQ(data.x.cols(), 10);
    const Vector score = data.x.to_matrix() * direction(data, 0);
    double wrong = 0;
    for (Index i = 0; i < data.rows(); ++i)
      wrong += (score[i] >= 0) != (data.y->index[static_cast<std::size_t>(i)] == 1);
    return wrong / 8000;
  };
  EXPECT_LT(errors("false"), 0.03);
  EXPECT_GT(errors("true"), 0.08);
}

TEST(Shift, MomentsAreThoseOfTheProblems) {
  const OptionTexts many{{"source", "20000"}, {"target", "20000"}, {"test", "20000"}};
  const Dataset misspecified = generate("misspecified", many, with(4));
  EXPECT_EQ(misspecified.domain.names, (std::vector<std::string>{"source", "target", "test"}));
  const Matrix s = domain_x(misspecified, 0), t = domain_x(misspecified, 1), u = domain_x(misspecified, 2);
  EXPECT_NEAR(s.col(0).mean(), -0.5, 0.03);
  EXPECT_NEAR(s.col(1).mean(), 0, 0.03);
  EXPECT_NEAR(sd(s.col(0)), 1, 0.02);
  for (const Matrix* x : {&t, &u}) {
    EXPECT_NEAR(x->col(0).mean(), 1, 0.02);
    EXPECT_NEAR(x->col(1).mean(), 0.3, 0.03);
    EXPECT_NEAR(sd(x->col(0)), 0.5, 0.01);
    EXPECT_NEAR(sd(x->col(1)), 1, 0.02);
  }
  const Dataset strong = generate("strong", many, with(4));
  EXPECT_NEAR(domain_x(strong, 0).mean(), 0, 0.01);
  EXPECT_NEAR(domain_x(strong, 1).mean(), 3 / std::sqrt(10), 0.01);
  const Dataset noshift = generate("noshift", many, with(4));
  EXPECT_NEAR(domain_x(noshift, 1).mean(), 0, 0.01);
  EXPECT_NEAR(share_of_class(noshift, 0, 1), 0.5, 0.015);
}

/// Mean of 1 / (1 + exp(-f)) minus the labels, over rows where `where` holds: zero when labels follow the logit f.
double excess(const Dataset& data, const auto& f, const auto& where) {
  const Matrix x = data.x.to_matrix();
  double sum = 0, count = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    if (!where(x.row(i))) continue;
    sum += 1 / (1 + std::exp(-f(x.row(i)))) - data.y->index[static_cast<std::size_t>(i)];
    ++count;
  }
  return sum / count;
}

TEST(Shift, LabelsFollowTheLogits) {
  const OptionTexts many{{"source", "10000"}, {"target", "10000"}, {"test", "0"}};
  auto check = [](const char* name, const OptionTexts& options, const auto& f) {
    const Dataset data = generate(name, options, with(8));
    EXPECT_EQ(data.rows(), 20000);
    for (Index j = 0; j < std::min<Index>(3, data.x.cols()); ++j) {
      EXPECT_NEAR(excess(data, f, [j](const auto& h) { return h[j] > 0.5; }), 0, 0.025) << name << " " << j;
      EXPECT_NEAR(excess(data, f, [j](const auto& h) { return h[j] < 0; }), 0, 0.025) << name << " " << j;
    }
  };
  check("misspecified", many, [](const auto& h) { return 3 * (h[1] - 0.7 * h[0] * h[0] + 0.5); });
  check("strong", many, [](const auto& h) { return 1.5 * h[0] - 1.5 * h[1] + 0.4 * (h[2] * h[2] - 1); });
  check("noshift", many, [](const auto& h) { return 1.5 * h[0] - 1.5 * h[1] + 0.5 * h[2]; });
  check("noisy10", {{"pool", "20000"}, {"test", "0"}},
        [](const auto& h) { return 2 * (2 * h.head(5).sum() - h.sum()) / std::sqrt(10.0); });
}

TEST(Active, SeparableIsSeparatedByItsPlane) {
  const Dataset data = generate("separable10", {}, with(8));
  EXPECT_EQ(data.domain.names, (std::vector<std::string>{"pool", "test"}));
  EXPECT_EQ(data.domain.rows_of(0).size(), 1500U);
  EXPECT_EQ(data.domain.rows_of(1).size(), 3000U);
  const Matrix x = data.x.to_matrix();
  for (Index i = 0; i < x.rows(); ++i)
    EXPECT_EQ(data.y->index[static_cast<std::size_t>(i)], x.row(i).head(5).sum() >= x.row(i).tail(5).sum() ? 1 : 0);
}

TEST(Active, BlobsAndClassesHaveTheirSharesAndCentres) {
  const Dataset blobs = generate("hidden_blob", {{"pool", "20000"}, {"test", "0"}}, with(8));
  const Matrix x = blobs.x.to_matrix();
  double far = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const bool blob = x(i, 0) + x(i, 1) > 6;  // 6 sd from the centres on either side
    far += blob;
    EXPECT_TRUE(!blob || blobs.y->index[static_cast<std::size_t>(i)] == 0);
  }
  EXPECT_NEAR(far / 20000, 0.12, 0.01);
  EXPECT_NEAR(share_of_class(blobs, 0, 1), 0.40, 0.015);

  const Dataset three = generate("three_classes", {{"pool", "20000"}, {"test", "0"}}, with(8));
  EXPECT_EQ(three.x.cols(), 5);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(share_of_class(three, 0, k), 1 / 3.0, 0.015);
    std::vector<Index> rows;
    for (Index i = 0; i < three.rows(); ++i)
      if (three.y->index[static_cast<std::size_t>(i)] == k) rows.push_back(i);
    const Matrix h = three.x.take(rows).to_matrix();
    for (Index j = 0; j < 5; ++j) EXPECT_NEAR(h.col(j).mean(), k > 0 && j == k - 1 ? 2.5 : 0, 0.06);
  }
}

/// Half the difference of the class means, column by column: estimates a_i and g_dj.
Vector effects(const Dataset& data, Index domain) {
  const Matrix x = domain_x(data, domain);
  Vector sum = Vector::Zero(x.cols());
  for (Index i = 0; i < x.rows(); ++i) sum += (i % 2 == 0 ? 1 : -1) * x.row(i).transpose();
  return sum / static_cast<double>(x.rows());
}

TEST(SyntheticDomains, InvariantColumnsAgreeAndSpuriousOnesDoNot) {
  for (const auto& [mode, spread] : {std::pair{"iid", 0.5}, std::pair{"hard", 1.0}, std::pair{"common", 0.5}}) {
    const Dataset data = generate("synthetic_domains", {{"mode", mode}, {"rows", "1000"}, {"features", "90"}}, with(5));
    EXPECT_EQ(data.domain.count(), 18);
    EXPECT_EQ(data.domain.names.back(), "d18");
    Matrix effect(18, 90);
    for (Index d = 0; d < 18; ++d) effect.row(d) = effects(data, d).transpose();
    const Eigen::RowVectorXd mean = effect.colwise().mean();
    const Matrix centred = effect.rowwise() - mean;
    const Eigen::RowVectorXd variance = centred.array().square().colwise().sum() / 17;
    // An effect's estimation error has variance (1 + 10 * 0.25) / 1000 on average.
    for (Index j = 0; j < 15; ++j) {
      EXPECT_GT(std::abs(mean[j]), 0.04);
      EXPECT_LT(std::abs(mean[j]), 0.41);
    }
    EXPECT_LT(variance.head(15).mean(), 0.006);
    EXPECT_NEAR(std::sqrt(variance.segment(15, 60).mean()), spread, 0.35 * spread) << mode;
    EXPECT_LT(variance.tail(15).mean(), 0.006);
    EXPECT_LT(mean.tail(15).cwiseAbs().maxCoeff(), 0.08);
  }
}

TEST(SyntheticDomains, OffsetsAndCorrelatedNoise) {
  const Dataset data = generate("synthetic_domains", {{"features", "200"}, {"rows", "400"}}, with(5));
  Matrix means(18, 200);
  for (Index d = 0; d < 18; ++d) means.row(d) = domain_x(data, d).colwise().mean();
  // Noise columns: offsets of sd 0.3 per domain; variance 1 + sum of squared loadings, 3.5 on average.
  const Matrix noise = means.rightCols(125);
  EXPECT_NEAR(std::sqrt(noise.array().square().mean()), 0.3, 0.05);
  const Matrix x = domain_x(data, 0).rightCols(125);
  double variance = 0;
  for (Index j = 0; j < x.cols(); ++j) variance += sd(x.col(j)) * sd(x.col(j)) / 125;
  EXPECT_NEAR(variance, 3.5, 0.5);
}

TEST(SyntheticDomains, ReluFeaturesReplaceTheRawOnes) {
  const Dataset data = generate("synthetic_domains", {{"relu", "40"}, {"features", "80"}}, with(5));
  EXPECT_EQ(data.x.cols(), 40);
  const Matrix x = data.x.to_matrix();
  EXPECT_EQ(x.minCoeff(), 0.0);
  const double zeros = static_cast<double>((x.array() == 0).count()) / static_cast<double>(x.size());
  EXPECT_GT(zeros, 0.3);
  EXPECT_LT(zeros, 0.7);
}

}  // namespace generate_test
}  // namespace ecotone
