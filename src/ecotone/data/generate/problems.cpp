#include <fmt/format.h>

#include <array>
#include <cmath>

#include "ecotone/data/generate/generators.h"

namespace ecotone {

namespace {

/// Rows of standard normal numbers in these domains, and in a domain `test` unless it would be empty.
/// `draw_row(row, domain, random)` may change a row and gives its class.
template <class DrawRow>
Dataset draw_rows(const char* name, std::vector<std::string> domains, std::vector<Index> rows, Index test,
                  Index features, std::vector<std::string> classes, const Context& context, DrawRow&& draw_row) {
  if (test > 0) {
    domains.emplace_back("test");
    rows.push_back(test);
  }
  Draft draft(name, std::move(domains), std::move(rows), features, std::move(classes));
  context.parallel(draft.domains(), [&](Index d) {
    Random random = context.random(name, static_cast<std::uint64_t>(d));
    auto x = draft.x(d);
    for (Index i = 0; i < x.rows(); ++i) {
      auto row = x.row(i);
      for (double& value : row) value = random.normal();
      draft.set_class(d, i, draw_row(row, d, random));
    }
  });
  return std::move(draft).finish();
}

// ---- covariate shift: source, target and further rows of the target distribution for testing

struct ShiftOptions {
  int source = 300;
  int target = 300;
  int test = 4000;

  static constexpr auto fields() {
    return std::tuple{
        field("source", &ShiftOptions::source, "Rows of the source domain", at_least(1)),
        field("target", &ShiftOptions::target, "Rows of the target domain", at_least(1)),
        field("test", &ShiftOptions::test, "Rows of the test domain, drawn from the target distribution", at_least(0))};
  }
};

struct WideShiftOptions : ShiftOptions {
  int features = 10;

  static constexpr auto fields() {
    return std::tuple_cat(ShiftOptions::fields(), std::tuple{field("features", &WideShiftOptions::features,
                                                                   "Number of features", between(3, 1e6))});
  }
};

/// Moves standard normal rows by `move(row, shifted)`, then labels them by the logit of the result.
template <class Move, class Logit>
Dataset draw_shift(const char* name, const ShiftOptions& options, Index features, const Context& context, Move&& move,
                   Logit&& logit) {
  return draw_rows(name, {"source", "target"}, {options.source, options.target}, options.test, features, {"0", "1"},
                   context, [&](auto& row, Index d, Random& random) {
                     move(row, d > 0);
                     return draw_logit(logit(row), random) ? 1 : 0;
                   });
}

Dataset draw_misspecified(const ShiftOptions& options, const Context& context) {
  return draw_shift(
      "misspecified", options, 2, context,
      [](auto& h, bool shifted) {
        // N((-0.5, 0), I) becomes N((1, 0.3), diag(0.5, 1)^2)
        h[0] = shifted ? 1.0 + 0.5 * h[0] : h[0] - 0.5;
        h[1] = shifted ? 0.3 + h[1] : h[1];
      },
      [](const auto& h) { return 3 * (h[1] - 0.7 * h[0] * h[0] + 0.5); });
}

Dataset draw_strong(const WideShiftOptions& options, const Context& context) {
  const double step = 3 / std::sqrt(static_cast<double>(options.features));  // 3 standard deviations along the diagonal
  return draw_shift(
      "strong", options, options.features, context,
      [step](auto& h, bool shifted) {
        if (shifted) h.array() += step;
      },
      [](const auto& h) { return 1.5 * h[0] - 1.5 * h[1] + 0.4 * (h[2] * h[2] - 1); });
}

Dataset draw_noshift(const WideShiftOptions& options, const Context& context) {
  return draw_shift(
      "noshift", options, options.features, context, [](auto&, bool) {},
      [](const auto& h) { return 1.5 * h[0] - 1.5 * h[1] + 0.5 * h[2]; });
}

// ---- active learning: a pool and test rows of the same distribution

struct ActiveOptions {
  int pool = 1500;
  int test = 3000;

  static constexpr auto fields() {
    return std::tuple{field("pool", &ActiveOptions::pool, "Rows of the pool of unlabelled rows to query", at_least(1)),
                      field("test", &ActiveOptions::test, "Rows of the test domain", at_least(0))};
  }
};

/// `draw_row(row, random)` fills a row and returns its class.
template <class DrawRow>
Dataset draw_active(const char* name, const ActiveOptions& options, Index features, std::vector<std::string> classes,
                    const Context& context, DrawRow&& draw_row) {
  return draw_rows(name, {"pool"}, {options.pool}, options.test, features, std::move(classes), context,
                   [&](auto& row, Index, Random& random) { return draw_row(row, random); });
}

/// h'w with w = (1, 1, 1, 1, 1, -1, -1, -1, -1, -1) / sqrt(10)
template <class Row>
double contrast(const Row& h) {
  double sum = 0;
  for (Index j = 0; j < 10; ++j) sum += j < 5 ? h[j] : -h[j];
  return sum / std::sqrt(10.0);
}

Dataset draw_separable10(const ActiveOptions& options, const Context& context) {
  return draw_active("separable10", options, 10, {"0", "1"}, context,
                     [](auto& h, Random&) { return contrast(h) >= 0 ? 1 : 0; });
}

Dataset draw_noisy10(const ActiveOptions& options, const Context& context) {
  return draw_active("noisy10", options, 10, {"0", "1"}, context,
                     [](auto& h, Random& random) { return draw_logit(2 * contrast(h), random) ? 1 : 0; });
}

Dataset draw_hidden_blob(const ActiveOptions& options, const Context& context) {
  return draw_active("hidden_blob", options, 2, {"0", "1"}, context, [](auto& h, Random& random) {
    const double u = random.uniform();
    const std::size_t blob = u < 0.48 ? 0 : u < 0.88 ? 1 : 2;
    constexpr std::array<std::array<double, 2>, 3> centre{{{-2, 0}, {2, 0}, {5, 5}}};
    for (Index j = 0; j < 2; ++j) h[j] = centre[blob][at(j)] + 0.6 * h[j];
    return blob == 1 ? 1 : 0;
  });
}

Dataset draw_three_classes(const ActiveOptions& options, const Context& context) {
  return draw_active("three_classes", options, 5, {"0", "1", "2"}, context, [](auto& h, Random& random) {
    const int k = static_cast<int>(random.below(3));
    if (k > 0) h[k - 1] += 2.5;
    return k;
  });
}

}  // namespace

std::vector<Generator> shift_generators() {
  return {make_generator<ShiftOptions, draw_misspecified>(
              "misspecified",
              "Covariate shift under a misspecified model, whose best line depends on where the rows are: weights help",
              ""),
          make_generator<WideShiftOptions, draw_strong>(
              "strong", "Target 3 standard deviations away along the diagonal: even the true weights hurt", ""),
          make_generator<WideShiftOptions, draw_noshift>(
              "noshift", "Source and target from the same distribution: all weights are 1", "")};
}

std::vector<Generator> active_generators() {
  return {
      make_generator<ActiveOptions, draw_separable10>(
          "separable10", "Two linearly separable classes in 10 dimensions: uncertainty sampling helps", ""),
      make_generator<ActiveOptions, draw_noisy10>(
          "noisy10", "Labels drawn from a logistic model in 10 dimensions: uncertainty sampling does not help", ""),
      make_generator<ActiveOptions, draw_hidden_blob>(
          "hidden_blob", "A distant cluster with 12% of the rows that a confident linear model misclassifies", ""),
      make_generator<ActiveOptions, draw_three_classes>("three_classes", "Three Gaussian classes in 5 dimensions", "")};
}

}  // namespace ecotone
