#include "ecotone/evaluate/threshold.h"

#include <charconv>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/measure/confusion.h"
#include "ecotone/methods/cross_fit.h"

namespace ecotone {

namespace {

constexpr double rounding = 1e-12;  // of sums of weights

/// A number strictly between 0 and 1; empty if the text is anything else.
std::optional<double> share_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0 && value < 1)) return {};
  return value;
}

/// What the rule maximises; empty for a cut that it does not allow.
std::optional<double> gain(const ThresholdRule& rule, const Confusion& c) {
  const auto found = sensitivity(c);
  const auto spared = specificity(c);
  switch (rule.kind) {
    case ThresholdRule::Kind::youden:
      return found && spared ? std::optional(*found + *spared - 1) : std::nullopt;
    case ThresholdRule::Kind::f1:
      return f1(c);
    case ThresholdRule::Kind::sensitivity:
      return found && *found >= rule.value - rounding ? spared : std::nullopt;
    case ThresholdRule::Kind::specificity:
      return spared && *spared >= rule.value - rounding ? found : std::nullopt;
    case ThresholdRule::Kind::fixed:
      return {};
  }
  return {};
}

/// Out-of-fold probabilities of the second class with truth and weight, row by row.
struct Evidence {
  Vector probability;
  Vector positive;
  Vector weight;
};

Evidence evidence_of(const CrossFit& cross, const TrainView& view) {
  const auto rows = static_cast<Index>(cross.rows.size());
  Evidence evidence{cross.probability.col(1), Vector(rows), Vector(rows)};
  for (Index i = 0; i < rows; ++i) {
    const Index row = cross.rows[at(i)];
    evidence.positive[i] = view.y.index[at(row)];
    // A probability that is not a number cannot be cut.
    const bool usable = cross.known.row(i).all() && std::isfinite(evidence.probability[i]);
    evidence.weight[i] = usable ? view.weight_of(row) : 0;
    if (!usable) evidence.probability[i] = 0;
  }
  return evidence;
}

}  // namespace

ThresholdRule ThresholdRule::parse(std::string_view text) {
  if (text == "youden") return {Kind::youden, 0};
  if (text == "f1") return {Kind::f1, 0};
  for (const auto& [name, kind] : {std::pair<std::string_view, Kind>{"sensitivity=", Kind::sensitivity},
                                   {"specificity=", Kind::specificity},
                                   {"", Kind::fixed}}) {
    if (!text.starts_with(name)) continue;
    if (const auto value = share_of(text.substr(name.size()))) return {kind, *value};
    break;
  }
  option_error("bad_option",
               "threshold must be youden, f1, sensitivity=S, specificity=S or a number, with S and the number "
               "strictly between 0 and 1; got '{}'",
               text);
}

void require_two_classes_for_threshold(const Labels& y) {
  if (y.task == Task::regress)
    option_error("needs_two_classes", "evaluate: a threshold needs a label with two classes, and this one is a number");
  if (y.classes.size() != 2)
    option_error("needs_two_classes", "evaluate: a threshold needs a label with two classes, and this one has {} ({})",
                 y.classes.size(), fmt::join(y.classes, ", "));
}

std::optional<double> chosen_threshold(const ThresholdRule& rule, const Pipeline& pipeline, const TrainView& view,
                                       const Schema& schema, const Context& context) {
  if (rule.kind == ThresholdRule::Kind::fixed) return rule.value;
  std::optional<double> threshold;
  if (view.y.classes.size() == 2) {
    try {
      const Evidence rows = evidence_of(cross_fit({pipeline, view, schema, view.weight}, "threshold", context), view);
      threshold =
          best_cut(rows.probability, rows.positive, rows.weight, [&](const Confusion& c) { return gain(rule, c); });
    } catch (const Error& error) {
      if (error.code() != "no_cross_fit") throw;
    }
  }
  if (!threshold)
    context.warn("no_threshold",
                 "threshold: the training rows that the refits hold out do not settle it, so the metrics at the "
                 "threshold are undefined");
  return threshold;
}

}  // namespace ecotone
