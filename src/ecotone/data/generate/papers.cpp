#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "ecotone/base/error.h"
#include "ecotone/data/generate/generators.h"

namespace ecotone {

namespace {

struct WishartOptions {
  int domains = 10;
  double rows = 200;

  static constexpr auto fields() {
    return std::tuple{
        field("domains", &WishartOptions::domains, "Number of domains, each with its own covariance",
              between(1, 100000)),
        field("rows", &WishartOptions::rows, "Mean number of rows per domain (Poisson distributed)", between(1, 1e8))};
  }
};

Dataset draw_wishart(const WishartOptions& options, const Context& context) {
  constexpr Index features = 5, degrees = 10;
  constexpr double scale = 0.2;
  Random shared = context.random("wishart");
  std::vector<std::string> domains;
  std::vector<Index> rows;
  for (int d = 1; d <= options.domains; ++d) {
    domains.push_back(fmt::format("d{}", d));
    rows.push_back(std::max<Index>(1, static_cast<Index>(shared.poisson(options.rows))));
  }
  Vector b1(features), b2(features);
  for (Index j = 0; j < features; ++j) b1[j] = shared.normal();
  for (Index j = 0; j < features; ++j) b2[j] = shared.normal();
  const double c = shared.normal();

  Draft draft("wishart", std::move(domains), std::move(rows), features, {});
  context.parallel(draft.domains(), [&](Index d) {
    Random random = context.random("wishart rows", static_cast<std::uint64_t>(d));
    // Sigma = G'G with rows of G from N(0, 0.2 I) is Wishart(0.2 I, 10); x = G'z with z standard normal has covariance
    // Sigma.
    Matrix g(degrees, features);
    fill_normal(g, random);
    g *= std::sqrt(scale);
    Vector z(degrees);
    auto x = draft.x(d);
    for (Index i = 0; i < x.rows(); ++i) {
      for (Index k = 0; k < degrees; ++k) z[k] = random.normal();
      double first = random.normal();       // b1'x + e1
      double second = c + random.normal();  // b2'x + c + e2
      for (Index j = 0; j < features; ++j) {
        x(i, j) = g.col(j).dot(z);
        first += b1[j] * x(i, j);
        second += b2[j] * x(i, j);
      }
      draft.set_value(d, i, (first >= 0 ? 1 : -1) * std::log(std::abs(second)));
    }
  });
  return std::move(draft).finish();
}

struct LogisticOptions {
  int rows = 2000;
  int target = 0;
  int features = 10;
  bool noise = false;
  AutoNumber angle;

  static constexpr auto fields() {
    return std::tuple{
        field("rows", &LogisticOptions::rows, "Rows of the source domain", at_least(1)),
        field("target", &LogisticOptions::target, "Rows of a target domain labelled by a different model", at_least(0)),
        field("features", &LogisticOptions::features, "Number of features", between(1, 1e6)),
        field("noise", &LogisticOptions::noise,
              "Draw labels from the model's probabilities instead of taking the more likely class"),
        field("angle", &LogisticOptions::angle,
              "Angle between the weight vectors of the two domains, in degrees; auto draws them independently",
              between(0, 180))};
  }
};

/// The weights of the target: independent of those of the source, or of the same length at the given angle to them.
Vector target_weights(const Vector& source, const LogisticOptions& options, Random& random) {
  Vector draw(source.size());
  for (double& value : draw) value = random.normal();
  if (options.angle.is_auto()) return draw;
  const double angle = *options.angle.value * std::numbers::pi / 180;
  // w_T = cos(a) w_S + sin(a) |w_S| v with v a unit vector orthogonal to w_S
  Vector v = draw - source * (source.dot(draw) / source.squaredNorm());
  return std::cos(angle) * source + std::sin(angle) * source.norm() / v.norm() * v;
}

Dataset draw_logistic(const LogisticOptions& options, const Context& context) {
  if (options.target > 0 && !options.angle.is_auto() && options.features < 2)
    option_error("bad_option", "logistic: angle needs features >= 2, got {}", options.features);
  Random shared = context.random("logistic weights");
  Vector source(options.features);
  for (double& value : source) value = shared.normal();
  std::vector<Vector> weights{source};
  std::vector<std::string> domains{"source"};
  std::vector<Index> rows{options.rows};
  if (options.target > 0) {
    weights.push_back(target_weights(source, options, shared));
    domains.emplace_back("target");
    rows.push_back(options.target);
  }
  Draft draft("logistic", std::move(domains), std::move(rows), options.features, {"-1", "1"});
  context.parallel(draft.domains(), [&](Index d) {
    Random random = context.random("logistic", static_cast<std::uint64_t>(d));
    const Vector& w = weights[at(d)];
    auto x = draft.x(d);
    for (Index i = 0; i < x.rows(); ++i) {
      double logit = 0;
      for (Index j = 0; j < x.cols(); ++j) {
        x(i, j) = random.normal();
        logit += w[j] * x(i, j);
      }
      draft.set_class(d, i, options.noise ? draw_logit(logit, random) : logit >= 0);
    }
  });
  return std::move(draft).finish();
}

}  // namespace

Generator wishart_generator() {
  return make_generator<WishartOptions, draw_wishart>(
      "wishart", "Regression on Gaussian domains with Wishart covariances and one shared labelling rule",
      "muandet2013");
}

Generator logistic_generator() {
  return make_generator<LogisticOptions, draw_logistic>(
      "logistic",
      "Normal features labelled by a random logistic model; optionally a target domain with a different model",
      "sayed2022");
}

}  // namespace ecotone
