#include "ecotone/solve/moments/anchor.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "ecotone/base/error.h"
#include "ecotone/methods/method.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/methods/select/selection_view.h"
#include "ecotone/methods/sums/sums_route.h"
#include "ecotone/methods/weighted_sum.h"

namespace ecotone {
namespace {

const std::vector<double> anchor_gammas = {0, 0.5, 1, 2, 5, 20};

struct AnchorOptions {
  AutoNumber gamma{1.0};
  double l2 = 1e-3;

  static constexpr auto fields() {
    return std::tuple{
        field("gamma", &AnchorOptions::gamma,
              "How often errors that all rows of a domain share are counted. 1: ridge regression; 0: only differences "
              "within domains are learned; above 1: guards against shifts like those between the training domains. "
              "auto: of 0, 0.5, 1, 2, 5 and 20 the one with the least squared error in left-out training domains "
              "(stages before it are not refitted)",
              at_least(0.0)),
        field("l2", &AnchorOptions::l2,
              "Penalty l2 ||w||^2 added to the mean squared error, as strong as l2 / 2 of least_squares",
              at_least(0.0))};
  }
};

constexpr double clearly_better = 1e-9;  // relative to the loss

/// What each gamma costs in left-out domains, for those whose fits exist; empty: gamma was given.
struct LeftOutGammas {
  std::vector<double> gamma;
  std::vector<double> loss;

  /// gamma = 1 unless another one is clearly better.
  double best() const {
    const auto start = std::ranges::find(gamma, 1.0);
    double least = start == gamma.end() ? std::numeric_limits<double>::infinity() : loss[at(start - gamma.begin())];
    double result = 1;
    for (std::size_t k = 0; k < gamma.size(); ++k) {
      if (!(loss[k] < least * (1 - clearly_better))) continue;
      least = loss[k];
      result = gamma[k];
    }
    return result;
  }
};

/// Anchor regression: a weighted sum of the features.
class AnchorRegression : public Fitted {
 public:
  AnchorRegression(AnchorFit fit, double gamma, LeftOutGammas left_out)
      : fit_(std::move(fit)), gamma_(gamma), left_out_(std::move(left_out)) {}

  Prediction predict(const Batch& batch, const Context& context) const override {
    return weighted_sum(batch.x, fit_.weights, fit_.offset, Task::regress, context);
  }

  StageState save() const override {
    StageState state;
    state.set("weights", fit_.weights);
    state.info["offset"] = fit_.offset;
    state.info["gamma"] = gamma_;
    if (!left_out_.gamma.empty()) {
      state.set("left_out_gamma", left_out_.gamma);
      state.set("left_out_loss", left_out_.loss);
    }
    return state;
  }

 private:
  AnchorFit fit_;
  double gamma_;
  LeftOutGammas left_out_;
};

/// A gamma whose fit without some domain is singular is left out.
LeftOutGammas left_out_gammas(const Moments& moments, double l2, const Context& context) {
  LeftOutGammas result;
  for (const double gamma : anchor_gammas) {
    try {
      const double loss = anchor_left_out_errors(moments, {gamma}, l2, "anchor", context)[0];
      result.gamma.push_back(gamma);
      result.loss.push_back(loss);
    } catch (const Error& error) {
      if (error.code() != "singular") throw;
    }
  }
  return result;
}

/// The fit on moments of labelled rows; `near`: how these were shifted, null: not at all.
StageResult anchor_fit(const Moments& moments, const SelectionView* near, const AnchorOptions& options,
                       const Context& context) {
  const Index domains = (moments.weight.array() > 0).count();
  if (domains == 0) data_error("zero_weights", "anchor: all rows have weight 0");
  double gamma = options.gamma.value.value_or(1.0);
  LeftOutGammas left_out;
  Status status;
  if (domains < 2) {
    status.text = "one_domain: ridge regression, because there are no domains to compare";
  } else if (options.gamma.is_auto() && domains < 3) {
    // Without one of two domains there is one, and gamma makes no difference there.
    status.text = "gamma=1: auto needs three domains";
  } else if (options.gamma.is_auto()) {
    left_out = left_out_gammas(moments, options.l2, context);
    gamma = left_out.best();
  }
  AnchorFit fit = anchor_regression(moments, gamma, options.l2, "anchor", context);
  if (near != nullptr) fit.offset = near->moved_back(fit.offset, fit.weights);
  return {std::make_shared<AnchorRegression>(std::move(fit), gamma, std::move(left_out)), {}, std::move(status)};
}

StageResult fit_anchor(const TrainView& view, const AnchorOptions& options, const Context& context, FitCache&) {
  require_finite_labels("anchor", view.y);
  const SelectionView near = selection_view("anchor", view, {.x = true, .y = true}, context);
  const Features x = near.view.labelled_x();
  const std::span<const std::int32_t> domain = std::span(near.view.domain.index).first(at(x.rows()));
  const Moments moments = gather_moments(
      MomentRows{x, domain, near.view.domain.names, near.view.y.value, near.view.weight, near.view.origin},
      GramKind::double_precision, context);
  StageResult result = anchor_fit(moments, &near, options, context);
  result.next = view;
  return result;
}

SumsResult fit_anchor_on_sums(const RowSums& sums, const AnchorOptions& options, const Context& context) {
  if (sums.task != Task::regress)
    data_error("needs_numbers", "anchor: the label is a class, not a number to predict; --task regress changes that");
  warn_lost_digits("anchor", sums.moments, {.x = true, .y = true}, context);
  StageResult result = anchor_fit(sums.moments, nullptr, options, context);
  return {std::move(result.fitted), sums, std::move(result.status)};
}

std::shared_ptr<const Fitted> load_anchor(const StageState& state, const AnchorOptions&, const StageInput& input) {
  AnchorFit fit{state.vector("weights", input.cols), state.number("offset")};
  LeftOutGammas left_out;
  if (state.has("left_out_loss")) {
    const Vector loss = state.vector("left_out_loss", -1);
    const Vector gamma = state.vector("left_out_gamma", loss.size());
    left_out = {{gamma.begin(), gamma.end()}, {loss.begin(), loss.end()}};
  }
  return std::make_shared<AnchorRegression>(std::move(fit), state.number("gamma"), std::move(left_out));
}

}  // namespace

Method anchor_method() {
  Method method = make_method<AnchorOptions, fit_anchor, load_anchor>(
      {.name = "anchor",
       .family = Family::learn,
       .summary = "Anchor regression: ridge regression in which errors that a domain shares count gamma times.",
       .when =
           "for numbers, when the next domain may be shifted as the training domains are, only further. Assumes a "
           "linear rule and shifts along the same directions; harms elsewhere: in our study gamma=3 was better than "
           "nothing in 20 and worse in 22 of 42 new domains, with errors many times as large in the worst of them. "
           "gamma = 1, the default, is ridge regression.",
       .example = "impute | scale | anchor gamma=2",
       .citation = "rothenhaeusler2021",
       .routes = {{Route::streamed}, {Route::ranks}},
       .learns = Learns::numbers,
       .penalties = {{"l2"}}});
  method.sums = beside_targets(sums_route<AnchorOptions, fit_anchor_on_sums>());
  return method;
}

}  // namespace ecotone
