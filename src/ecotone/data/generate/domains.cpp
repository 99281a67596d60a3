#include <fmt/format.h>

#include <cmath>

#include "ecotone/data/generate/generators.h"

namespace ecotone {

namespace {

enum class SpuriousLaw { iid, hard, common };

struct SyntheticDomainsOptions {
  SpuriousLaw mode = SpuriousLaw::iid;
  int sources = 8;
  int tests = 10;
  int rows = 200;
  int features = 300;
  int relu = 0;

  static constexpr auto fields() {
    using O = SyntheticDomainsOptions;
    return std::tuple{
        field("mode", &O::mode, "How the effects of the spurious features vary across domains",
              one_of("iid", "hard", "common")),
        field("sources", &O::sources, "Number of source domains", between(1, 1e5)),
        field("tests", &O::tests, "Number of test domains", between(0, 1e5)),
        field("rows", &O::rows, "Rows per domain", at_least(2)),
        field("features", &O::features, "Number of features: 15 invariant, 60 spurious, the rest noise",
              between(75, 1e6)),
        field("relu", &O::relu, "Replace the features by this many random ReLU features of them; 0 keeps them",
              between(0, 1e6))};
  }
};

constexpr Index invariant = 15, spurious = 60, factors = 10;

Vector normals(Index size, double scale, Random& random) {
  Vector draw(size);
  for (double& value : draw) value = scale * random.normal();
  return draw;
}

/// Parameters shared by all domains.
struct World {
  Vector a;      // effects of the invariant columns
  Vector m;      // mean effects of the spurious ones
  Vector kappa;  // their loadings on the common domain factor
  Matrix load;   // loadings of the noise on its factors
  Matrix A;      // ReLU features max(0, x A + b)
  Vector b;
};

World draw_world(const SyntheticDomainsOptions& options, const Context& context) {
  Random random = context.random("synthetic_domains world");
  World world;
  world.a.resize(invariant);
  for (double& value : world.a) value = random.uniform(0.1, 0.35) * (random.below(2) == 0 ? -1 : 1);
  world.m = normals(spurious, 0.1, random);
  world.kappa = normals(spurious, 0.5, random);
  world.load.resize(factors, options.features);
  fill_normal(world.load, random);
  world.load *= 0.5;
  if (options.relu > 0) {
    world.A = generated_matrix("synthetic_domains", options.features, options.relu);
    fill_normal(world.A, random);
    world.A /= std::sqrt(static_cast<double>(options.features));
    world.b = normals(options.relu, 1.0, random);
  }
  return world;
}

/// The effects of the spurious columns in this domain.
Vector spurious_effects(const World& world, SpuriousLaw mode, Random& random) {
  if (mode == SpuriousLaw::common) return world.kappa * (0.3 + random.normal());
  return world.m + normals(spurious, mode == SpuriousLaw::hard ? 1.0 : 0.5, random);
}

/// Fills `x` with the rows of one domain; labels alternate, +1 first.
void draw_domain(const World& world, SpuriousLaw mode, MatrixView x, Random& random) {
  const Vector g = spurious_effects(world, mode, random);
  const Vector offset = normals(x.cols(), 0.3, random);
  for (Index i = 0; i < x.rows(); ++i) {
    const double y = i % 2 == 0 ? 1 : -1;
    auto row = x.row(i);
    for (double& value : row) value = random.normal();
    row += offset.transpose();
    for (Index k = 0; k < factors; ++k) row += random.normal() * world.load.row(k);
    row.head(invariant) += y * world.a.transpose();
    row.segment(invariant, spurious) += y * g.transpose();
  }
}

Dataset draw_synthetic_domains(const SyntheticDomainsOptions& options, const Context& context) {
  std::vector<std::string> domains;
  for (int d = 1; d <= options.sources + options.tests; ++d) domains.push_back(fmt::format("d{}", d));
  const std::vector<Index> rows(domains.size(), options.rows);
  const Index cols = options.relu > 0 ? options.relu : options.features;
  // First, because it knows at once whether the memory suffices, and the world may take long to draw.
  Draft draft("synthetic_domains", std::move(domains), rows, cols, {"-1", "1"});
  const World world = draw_world(options, context);
  context.parallel(draft.domains(), [&](Index d) {
    Random random = context.random("synthetic_domains", static_cast<std::uint64_t>(d));
    auto x = draft.x(d);
    if (options.relu > 0) {
      Matrix raw(x.rows(), options.features);
      draw_domain(world, options.mode, raw, random);
      x = ((raw.lazyProduct(world.A)).rowwise() + world.b.transpose()).cwiseMax(0.0);
    } else {
      draw_domain(world, options.mode, x, random);
    }
    for (Index i = 0; i < x.rows(); ++i) draft.set_class(d, i, i % 2 == 0 ? 1 : 0);
  });
  return std::move(draft).finish();
}

}  // namespace

Generator synthetic_domains_generator() {
  return make_generator<SyntheticDomainsOptions, draw_synthetic_domains>(
      "synthetic_domains", "Domains with invariant, spurious and noise features, for feature selection across domains",
      "");
}

}  // namespace ecotone
