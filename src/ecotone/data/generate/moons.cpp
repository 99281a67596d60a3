#include <cmath>
#include <numbers>

#include "ecotone/data/generate/generators.h"

namespace ecotone {

namespace {

struct MoonsOptions {
  double angle = 30;
  int rows = 300;
  int test = 0;
  double thickness = 0.1;

  static constexpr auto fields() {
    return std::tuple{
        field("angle", &MoonsOptions::angle, "Anticlockwise rotation of the target domain, in degrees",
              between(-360, 360)),
        field("rows", &MoonsOptions::rows, "Rows per domain, half of them in each class", at_least(2)),
        field("test", &MoonsOptions::test, "Rows of a third domain, test, drawn from the target distribution",
              at_least(0)),
        field("thickness", &MoonsOptions::thickness, "Thickness of the half annuli of radius 1", between(0, 1))};
  }
};

constexpr double centre_x = 1.25, centre_y = 0.70;  // centre of the second moon

/// A point of the upper half annulus around 0, uniform by area, or of its mirror image around the other centre.
void draw_point(bool mirrored, double thickness, Random& random, double& x, double& y) {
  const double inner = 1 - thickness / 2, outer = 1 + thickness / 2;
  const double t = random.uniform(0, std::numbers::pi);
  // P(radius <= r) is proportional to r^2 - inner^2.
  const double r = std::sqrt(random.uniform(inner * inner, outer * outer));
  x = r * std::cos(t);
  y = r * std::sin(t);
  if (mirrored) {
    x = centre_x - x;
    y = centre_y - y;
  }
}

Dataset draw_moons(const MoonsOptions& options, const Context& context) {
  std::vector<std::string> domains{"source", "target"};
  std::vector<Index> rows{options.rows, options.rows};
  if (options.test > 0) {
    domains.emplace_back("test");
    rows.push_back(options.test);
  }
  Draft draft("moons", std::move(domains), std::move(rows), 2, {"-1", "1"});
  context.parallel(draft.domains(), [&](Index d) {
    Random random = context.random("moons", static_cast<std::uint64_t>(d));
    const double angle = d == 0 ? 0.0 : options.angle * std::numbers::pi / 180;
    const double cosine = std::cos(angle), sine = std::sin(angle);
    auto x = draft.x(d);
    for (Index i = 0; i < x.rows(); ++i) {
      const int positive = i % 2 == 0;
      draw_point(!positive, options.thickness, random, x(i, 0), x(i, 1));
      // Rotation about the point half way between the centres.
      const double dx = x(i, 0) - centre_x / 2, dy = x(i, 1) - centre_y / 2;
      x(i, 0) = centre_x / 2 + cosine * dx - sine * dy;
      x(i, 1) = centre_y / 2 + sine * dx + cosine * dy;
      draft.set_class(d, i, positive);
    }
  });
  return std::move(draft).finish();
}

}  // namespace

Generator moons_generator() {
  return make_generator<MoonsOptions, draw_moons>(
      "moons", "Two interleaved half moons; the target domain is the source rotated by an angle", "habrard2012");
}

}  // namespace ecotone
