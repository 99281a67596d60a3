#include <fmt/format.h>

#include <cmath>

#include "ecotone/data/generate/generators.h"

namespace ecotone {

namespace {

enum class ShiftKind { covariate, label, concept_shift };

struct TargetShiftOptions {
  ShiftKind shift = ShiftKind::covariate;
  bool overlap = true;
  int sources = 1;
  int rows = 600;
  int target = 300;
  int test = 3000;
  int features = 4;

  static constexpr auto fields() {
    using O = TargetShiftOptions;
    return std::tuple{
        field("shift", &O::shift,
              "What differs between sources and target: the features, the classes or the label rule",
              one_of("covariate", "label", "concept")),
        field("overlap", &O::overlap, "false: also displace the target to where only two stray source rows lie"),
        field("sources", &O::sources, "Number of source domains", between(1, 1000)),
        field("rows", &O::rows, "Rows of all source domains together", at_least(2)),
        field("target", &O::target, "Rows of the target domain", at_least(1)),
        field("test", &O::test, "Rows of the test domain, drawn from the target distribution", at_least(0)),
        field("features", &O::features, "Number of features; only the first two have to do with the label",
              between(4, 1e6))};
  }
};

constexpr double distance = 12;  // of a displaced target, in standard deviations
constexpr Index strays = 2;      // source rows at the displaced target

/// The law of one domain.
struct DomainLaw {
  double position = -0.5;  ///< mean of the first feature
  double width = 1;        ///< its standard deviation
  double prior = 0.3;      ///< probability of class 1, if classes shift
  double turn = 0;         ///< slope of the first feature in the label rule, if the rule shifts
};

/// The sources differ from each other if there are several.
DomainLaw source_law(const TargetShiftOptions& options, Random& random) {
  DomainLaw law;
  if (options.sources == 1) return law;
  law.position += 0.5 * random.normal();
  law.prior += random.uniform(-0.15, 0.15);
  law.turn = random.normal();
  return law;
}

/// Draws a row's class and moves the row, which comes as standard normal numbers.
template <class Row>
int draw_class(Row&& h, ShiftKind kind, const DomainLaw& law, Random& random) {
  if (kind == ShiftKind::label) {
    const int cls = random.uniform() < law.prior ? 1 : 0;
    h[0] += 2 * cls - 1;
    h[1] += cls - 0.5;
    return cls;
  }
  h[0] = law.position + law.width * h[0];
  // A parabola: the best line depends on where the rows are.
  const double turn = kind == ShiftKind::concept_shift ? law.turn * h[0] : 0;
  return draw_logit(3 * (h[1] - 0.7 * h[0] * h[0] + 0.5) + turn, random) ? 1 : 0;
}

/// Away from the sources, in columns that have nothing to do with the label.
template <class Row>
void displace(Row&& h) {
  h[2] += distance / std::sqrt(2.0);
  h[3] += distance / std::sqrt(2.0);
}

Dataset draw_target_shift(const TargetShiftOptions& options, const Context& context) {
  std::vector<std::string> names;
  std::vector<Index> rows;
  for (int k = 0; k < options.sources; ++k) {
    names.push_back(options.sources == 1 ? "source" : fmt::format("source{}", k + 1));
    rows.push_back(options.rows / options.sources + (k < options.rows % options.sources ? 1 : 0));
  }
  names.emplace_back("target");
  rows.push_back(options.target);
  if (options.test > 0) {
    names.emplace_back("test");
    rows.push_back(options.test);
  }
  Draft draft("target_shift", std::move(names), std::move(rows), options.features, {"0", "1"});
  const DomainLaw target{.position = 1, .width = 0.5, .prior = 0.8, .turn = 1};
  context.parallel(draft.domains(), [&](Index d) {
    Random random = context.random("target_shift", static_cast<std::uint64_t>(d));
    const bool source = d < options.sources;
    const DomainLaw law = source ? source_law(options, random) : target;
    auto x = draft.x(d);
    fill_normal(x, random);
    for (Index i = 0; i < x.rows(); ++i) {
      draft.set_class(d, i, draw_class(x.row(i), options.shift, law, random));
      if (!options.overlap && (!source || (d == 0 && i < strays))) displace(x.row(i));
    }
  });
  return std::move(draft).finish();
}

}  // namespace

Generator target_shift_generator() {
  return make_generator<TargetShiftOptions, draw_target_shift>(
      "target_shift",
      "A target that differs from one or several sources in features, classes or label rule, within their reach or out "
      "of it",
      "");
}

}  // namespace ecotone
