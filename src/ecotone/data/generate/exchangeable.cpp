#include <fmt/format.h>

#include <cmath>

#include "ecotone/data/generate/generators.h"

namespace ecotone {

namespace {

enum class DomainsDiffer { rows, labels, classes };

struct ExchangeableOptions {
  DomainsDiffer differ = DomainsDiffer::rows;
  int domains = 11;
  int rows = 100;
  double spread = 1;
  int features = 4;

  static constexpr auto fields() {
    using O = ExchangeableOptions;
    return std::tuple{
        field("differ", &O::differ,
              "What each domain draws for itself: where its rows lie, its rule of labels, or its shares of classes",
              one_of("rows", "labels", "classes")),
        field("domains", &O::domains, "Number of domains", between(1, 100'000)),
        field("rows", &O::rows, "Rows per domain", at_least(1)),
        field("spread", &O::spread, "How far domains differ", at_least(0.0)),
        field("features", &O::features, "Number of features; only the first three have to do with the label",
              between(3, 1e6))};
  }
};

/// What one domain draws.
struct OwnLaw {
  double moved[3] = {};  ///< of the first features
  double share = 0.5;    ///< of class 1
};

template <class Row>
int draw_exchangeable_class(Row&& h, const ExchangeableOptions& options, const OwnLaw& law, Random& random) {
  if (options.differ == DomainsDiffer::classes) {
    const int cls = random.uniform() < law.share ? 1 : 0;
    h[0] += 0.9 * cls;
    h[1] += 0.9 * cls;
    return cls;
  }
  if (options.differ == DomainsDiffer::rows)
    for (int j = 0; j < 3; ++j) h[j] += law.moved[j];
  // A rule that bends, so that a line is more or less right from place to place.
  double logit = 1.5 * h[0] - h[1] + 0.5 * h[0] * h[1];
  if (options.differ == DomainsDiffer::labels) logit += law.moved[0] + law.moved[1] * h[1];
  return draw_logit(logit, random) ? 1 : 0;
}

Dataset draw_exchangeable(const ExchangeableOptions& options, const Context& context) {
  std::vector<std::string> names;
  for (int d = 0; d < options.domains; ++d) names.push_back(fmt::format("domain{}", d + 1));
  Draft draft("exchangeable", std::move(names),
              std::vector<Index>(static_cast<std::size_t>(options.domains), options.rows), options.features,
              {"0", "1"});
  context.parallel(draft.domains(), [&](Index d) {
    Random random = context.random("exchangeable", static_cast<std::uint64_t>(d));
    OwnLaw law;
    for (double& moved : law.moved) moved = options.spread * random.normal();
    law.share = 1 / (1 + std::exp(-2 * options.spread * random.normal()));
    auto x = draft.x(d);
    fill_normal(x, random);
    for (Index i = 0; i < x.rows(); ++i) draft.set_class(d, i, draw_exchangeable_class(x.row(i), options, law, random));
  });
  return std::move(draft).finish();
}

}  // namespace

Generator exchangeable_generator() {
  return make_generator<ExchangeableOptions, draw_exchangeable>(
      "exchangeable", "Domains drawn from one law of domains, as intervals for the next domain assume", "");
}

}  // namespace ecotone
