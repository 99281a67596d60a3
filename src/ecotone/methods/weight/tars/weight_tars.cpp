#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ecotone/methods/requirements.h"
#include "ecotone/methods/weight/weighting.h"
#include "ecotone/solve/ratios/class_shift.h"

namespace ecotone {
namespace {

struct WeightTarsOptions : WeightOptions {
  AutoNumber sigma;

  static constexpr auto fields() {
    return std::tuple_cat(
        std::tuple{field("sigma", &WeightTarsOptions::sigma,
                         "Width of the Gaussian kernel; auto: the median distance of rows", above(0.0))},
        WeightOptions::fields());
  }
};

/// Classes of these rows, counted from 0 among those that occur.
struct OccurringClasses {
  std::vector<std::int32_t> index;
  std::vector<std::size_t> of;  ///< the class of the view
  Vector rows;
};

OccurringClasses occurring(const Labels& y, const std::vector<Index>& rows) {
  std::vector<std::int32_t> number(y.classes.size(), -1);
  OccurringClasses found;
  for (const Index row : rows) number[at(y.index[at(row)])] = 0;
  for (std::size_t c = 0; c < number.size(); ++c) {
    if (number[c] < 0) continue;
    number[c] = static_cast<std::int32_t>(found.of.size());
    found.of.push_back(c);
  }
  found.rows = Vector::Zero(std::ssize(found.of));
  for (const Index row : rows) {
    found.index.push_back(number[at(y.index[at(row)])]);
    found.rows[found.index.back()] += 1;
  }
  return found;
}

void tell_shares(const ClassShift& shift, const OccurringClasses& classes, const Labels& y, const Context& context) {
  std::vector<std::string> shares;
  for (std::size_t c = 0; c < classes.of.size(); ++c)
    shares.push_back(fmt::format("'{}' {:.3g}", y.classes[classes.of[c]], shift.shares[static_cast<Index>(c)]));
  context.note("weight.tars: shares of classes in the target {}; squared distance of means that is left {:.3g}",
               fmt::join(shares, ", "), shift.mmd2);
}

/// Empty if the shares are identified; otherwise warns, too.
std::string unidentified(const ClassShift& shift, const Context& context) {
  if (shift.identified()) return {};
  const std::string text = fmt::format(
      "the kernel means of the classes are dependent (condition {:.2g}), so shares of classes in the target are not "
      "identified",
      shift.condition);
  context.warn("not_identified", "weight.tars: {}", text);
  return "not_identified: " + text;
}

/// Learners must see every class, so one that the target seems not to have keeps the share of half a row.
Vector kept_shares(const Vector& shares, double least, const OccurringClasses& classes, const Labels& y,
                   const Context& context) {
  std::vector<std::string> gone;
  for (Index c = 0; c < shares.size(); ++c)
    if (shares[c] < least) gone.push_back(y.classes[classes.of[at(c)]]);
  if (gone.empty()) return shares;
  context.warn("zero_share", "weight.tars: the target seems to have no rows of {} '{}', which count{} for half a row",
               gone.size() == 1 ? "class" : "the classes", fmt::join(gone, "', '"), gone.size() == 1 ? "s" : "");
  const Vector kept = shares.cwiseMax(least);
  return kept / kept.sum();
}

StageResult fit_weight_tars(const TrainView& view, const WeightTarsOptions& options, const Context& context,
                            FitCache&) {
  require_classes("weight.tars", view);
  Json chosen = Json::object();
  Status status;
  const auto log_ratio = [&](const Features& x, const std::vector<Index>& rows) {
    const OccurringClasses classes = occurring(view.y, rows);
    const ClassShift shift =
        class_shift(x, classes.index, std::ssize(classes.of), options.sigma.value, "weight.tars", context);
    tell_shares(shift, classes, view.y, context);
    if (std::string text = unidentified(shift, context); !text.empty()) status.text = std::move(text);
    const Json condition = std::isfinite(shift.condition) ? Json(shift.condition) : Json(nullptr);
    chosen = {{"shares", Json::object()}, {"mmd2", shift.mmd2}, {"condition", condition}};
    for (std::size_t c = 0; c < classes.of.size(); ++c)
      chosen["shares"][view.y.classes[classes.of[c]]] = shift.shares[static_cast<Index>(c)];
    Vector log_weight = Vector::Zero(std::ssize(rows));
    if (std::ssize(classes.of) > 1 && (shift.shares.array() > 0).count() == 1) {
      context.warn("one_class",
                   "weight.tars: the target looks like rows of one class alone, from which nothing could be learned; "
                   "the rows stay as they are");
      return log_weight;
    }
    const auto n = static_cast<double>(rows.size());
    const Vector shares = kept_shares(shift.shares, 0.5 / n, classes, view.y, context);
    // p_c / (n_c / n_s)
    for (Index i = 0; i < log_weight.size(); ++i) {
      const std::int32_t c = classes.index[at(i)];
      log_weight[i] = std::log(shares[c] * n / classes.rows[c]);
    }
    return log_weight;
  };
  StageResult result =
      weigh(view, {.who = "weight.tars", .log_ratio_of_rows = log_ratio, .chosen = &chosen}, options, context);
  result.status = std::move(status);
  return result;
}

std::shared_ptr<const Fitted> load_weight_tars(const StageState& state, const WeightTarsOptions&, const StageInput&) {
  return Weighting::load(state);
}

}  // namespace

Method weight_tars_method() {
  return make_method<WeightTarsOptions, fit_weight_tars, load_weight_tars>(
      {.name = "weight.tars",
       .family = Family::weight,
       .summary = "Weights classes so that the kernel mean of the source rows is nearest to that of the target.",
       .when = "when the target has other shares of classes and rows of a class are alike everywhere; where rows of a "
               "class differ between domains, the shares it finds are wrong: in our study it was better than nothing "
               "in 5 and "
               "worse in 12 of 24 new domains. Behind a learner with good probabilities "
               "adapt.prior does the same with less noise.",
       .example = "impute | scale | weight.tars | logistic",
       .citation = "zhang2013",
       .learns = Learns::labels,
       .needs_target = true});
}

}  // namespace ecotone
