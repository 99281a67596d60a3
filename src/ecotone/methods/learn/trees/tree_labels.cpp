#include <algorithm>

#include "ecotone/base/error.h"
#include "ecotone/base/options.h"
#include "ecotone/data/formats/number.h"
#include "ecotone/methods/learn/adaboost/boosted.h"
#include "ecotone/methods/learn/trees/trees.h"
#include "ecotone/methods/requirements.h"
#include "ecotone/solve/trees/fixed_point.h"

namespace ecotone {

namespace {

constexpr const char* trees_name = "trees";
constexpr double least_hessian = 1e-12;  // so that lam=0 divides by nothing smaller
constexpr double widest_weights = 1e8;   // beyond it the smallest gradients round to 0
constexpr double largest_sum = 1e150;    // of gradients: gains are squares of such sums
constexpr double coarsest_unit = 1e-3;   // of gradients, beside the middle half of the labels

bool is_for_classes(TreeLoss loss) {
  return loss == TreeLoss::logistic || loss == TreeLoss::softmax || loss == TreeLoss::probit;
}

TreeLoss loss_for(const TrainView& view, const TreesOptions& options) {
  if (options.loss != TreesLoss::automatic) return static_cast<TreeLoss>(static_cast<int>(options.loss) - 1);
  if (view.y.task == Task::regress) return TreeLoss::squared;
  return view.y.classes.size() > 2 ? TreeLoss::softmax : TreeLoss::logistic;
}

/// Refuses a loss that the labels do not have, and an anchor without a loss for it.
void check_loss(const TrainView& view, const TreesOptions& options) {
  const TreeLoss loss = loss_for(view, options);
  const std::string who = fmt::format("{} loss={}", trees_name, tree_loss_name(loss));
  const bool classes = view.y.task == Task::classify;
  const std::size_t count = view.y.classes.size();
  if (classes && !is_for_classes(loss))
    data_error("needs_numbers", "{}: this loss is for numbers, but the label is a class; use loss=auto", who);
  if (!classes && is_for_classes(loss)) require_classes(who, view);
  if (classes && loss != TreeLoss::softmax && count > 2)
    option_error("bad_option", "{}: this loss is for two classes, got {}; use multiclass=ova or loss=auto", who, count);
  if (loss == TreeLoss::softmax && count == 2)
    option_error("bad_option", "{}: this loss is for three classes or more; of two, use loss=logistic", who);
  if (options.gamma != 1 && loss != TreeLoss::probit && loss != TreeLoss::squared)
    option_error("bad_option", "{}: gamma={} needs squared errors (numbers) or loss=probit (two classes), not loss={}",
                 trees_name, options.gamma, tree_loss_name(loss));
}

void check_weights(const TrainView& view, const TreeLabels& labels, const Context& context) {
  if (labels.weight.size() == 0) return;
  double least = 0, most = 0;
  Vector of_class = Vector::Zero(std::max<Index>(1, std::ssize(view.y.classes)));
  for (Index i = 0; i < labels.weight.size(); ++i) {
    const double w = labels.weight[i];
    if (!(w > 0)) continue;
    least = least == 0 ? w : std::min(least, w);
    most = std::max(most, w);
    of_class[view.y.task == Task::classify ? view.y.index[at(i)] : 0] += w;
  }
  if (!(most > 0)) data_error("zero_weights", "{}: all rows have weight 0", trees_name);
  for (Index c = 0; c < std::ssize(view.y.classes); ++c)
    if (!(of_class[c] > 0))
      data_error("zero_weights", "{}: all rows of class '{}' have weight 0", trees_name, view.y.classes[at(c)]);
  if (most > widest_weights * least)
    context.warn("weights_span",
                 "{}: the largest weight is {:.2g} times the smallest, so rows of small weight may "
                 "count as nothing",
                 trees_name, most / least);
}

/// Which way scores must go with each column, from texts such as age:+1.
std::vector<int> directions_of(const std::vector<std::string>& texts, const TrainView& view, bool strict) {
  std::vector<int> directions(at(texts.empty() ? 0 : view.x.cols()), 0);
  const std::vector<std::string> names = texts.empty() ? std::vector<std::string>() : view.x.names();
  for (const std::string& text : texts) {
    const auto colon = text.rfind(':');
    const std::string sign(trim(colon == std::string::npos ? "" : std::string_view(text).substr(colon + 1)));
    if (sign != "+1" && sign != "1" && sign != "-1")
      option_error("bad_option", "{}: monotone takes COLUMN:+1 or COLUMN:-1, got '{}'", trees_name, text);
    const std::string name(trim(std::string_view(text).substr(0, colon)));
    auto found = std::ranges::find(names, text.substr(0, colon));  // a name may begin or end with a space
    if (found == names.end()) found = std::ranges::find(names, name);
    if (found == names.end() && !strict) continue;
    if (found == names.end()) {
      const std::string near = did_you_mean(name, names);
      data_error("missing_column", "{}: monotone names a column '{}', which it is not given{}", trees_name, name,
                 near.empty() ? "" : fmt::format("; did you mean '{}'?", near));
    }
    const Index column = found - names.begin();
    if (std::ranges::find(view.categories, column) != view.categories.end())
      option_error("bad_option", "{}: column '{}' has categories, so nothing rises with it", trees_name, *found);
    if (directions[at(column)] != 0)
      option_error("bad_option", "{}: monotone names column '{}' twice", trees_name, *found);
    directions[at(column)] = sign == "-1" ? -1 : 1;
  }
  return directions;
}

/// Options that were given and have nothing to do.
void warn_unused(const TreesOptions& options, const Context& context) {
  const TreesOptions usual;
  const auto warn = [&](bool idle, const char* name, const char* with) {
    if (idle) context.warn("unused_option", "{}: {} applies only with {}", trees_name, name, with);
  };
  const bool judged = options.splits == SplitRule::agree || options.splits == SplitRule::vote;
  warn(options.tau != usual.tau && options.loss != TreesLoss::quantile, "tau", "loss=quantile");
  warn(options.rho != usual.rho && options.splits != SplitRule::steady, "rho", "splits=steady");
  warn(options.agree != usual.agree && !judged, "agree", "splits=agree and splits=vote");
  warn(options.stop != usual.stop && !options.rounds.is_auto() && !options.leaves.is_auto(), "stop",
       "rounds=auto or leaves=auto");
}

void refuse_together(bool clash, const char* one, const char* other) {
  if (clash) option_error("bad_option", "{}: {} cannot be used with {}", trees_name, one, other);
}

}  // namespace

TreeLabels tree_labels(const TrainView& view, const TreesOptions& options, const Context& context) {
  check_loss(view, options);
  TreeLabels labels;
  labels.loss = loss_for(view, options);
  labels.tau = options.tau;
  if (view.y.task == Task::classify) {
    require_two_classes(trees_name, view);
    labels.classes = std::ssize(view.y.classes);
    labels.y = Vector(view.labelled());
    for (Index i = 0; i < labels.y.size(); ++i) labels.y[i] = view.y.index[at(i)];
  } else {
    require_finite_labels(trees_name, view.y);
    labels.y = view.y.value;
  }
  require_counts(labels, view);
  labels.weight = tree_weights(view, options.domain_weights);
  require_summable(trees_name, labels, options.gamma);
  check_weights(view, labels, context);
  warn_labels_span(trees_name, "use loss=absolute", labels, context);
  if (!can_start(labels)) data_error("one_class", "{}: loss=poisson needs a label above 0, and all are 0", trees_name);
  warn_unused(options, context);
  return labels;
}

void require_counts(const TreeLabels& labels, const TrainView& view) {
  if (labels.loss != TreeLoss::poisson) return;
  for (Index i = 0; i < labels.y.size(); ++i)
    if (labels.y[i] < 0)
      data_error("negative_label", "{}: loss=poisson needs labels of at least 0, got {} in row {}", trees_name,
                 labels.y[i], origin_of(view.origin, i) + 1);
}

void require_summable(const char* who, const TreeLabels& labels, double gamma) {
  const bool numbers = labels.loss == TreeLoss::squared || labels.loss == TreeLoss::poisson;
  double farthest = 1, largest = 0;
  if (numbers)
    for (const double y : labels.y) farthest = std::max(farthest, 2 * std::abs(y));
  for (Index i = 0; i < labels.y.size(); ++i) largest = std::max(largest, labels.weight_of(i) * farthest);
  if (largest * static_cast<double>(labels.y.size()) * std::max(1.0, gamma) <= largest_sum) return;
  data_error("too_large", "{}: the labels times the weights are too large to be summed; divide labels or weights", who);
}

void warn_labels_span(const char* who, const char* advice, const TreeLabels& labels, const Context& context) {
  if (labels.loss != TreeLoss::squared) return;
  std::vector<double> y;
  double sum = 0, total = 0, farthest = 0;
  for (Index i = 0; i < labels.y.size(); ++i) {
    if (!(labels.weight_of(i) > 0)) continue;
    y.push_back(labels.y[i]);
    sum += labels.weight_of(i) * labels.y[i];
    total += labels.weight_of(i);
  }
  if (y.empty()) return;
  for (const double value : y) farthest = std::max(farthest, std::abs(value - sum / total));
  const auto quartile = [&](std::ptrdiff_t number) {
    const auto place = y.begin() + number * (std::ssize(y) - 1) / 4;
    std::ranges::nth_element(y, place);
    return *place;
  };
  const double low = quartile(1), within = quartile(3) - low;
  const double unit = FixedPoint::of(farthest).unit();
  if (!(within > 0) || unit <= coarsest_unit * within) return;
  context.warn("labels_span",
               "{}: some labels are so large that differences of less than {:.2g} round to nothing, and half of the "
               "labels lie within {:.2g}; {}, or leave such rows out",
               who, unit, within, advice);
}

Vector tree_weights(const TrainView& view, GroupShares shares) {
  const std::vector<double> weight = boost_weights(view, shares);
  Vector result = Eigen::Map<const Vector>(weight.data(), std::ssize(weight));
  if (shares == GroupShares::pooled || !(result.sum() > 0)) return result;
  const double before = view.weight.size() == 0 ? static_cast<double>(view.labelled()) : view.weight.sum();
  return result * (before / result.sum());
}

bool can_start(const TreeLabels& labels) {
  const bool classes =
      labels.loss == TreeLoss::logistic || labels.loss == TreeLoss::softmax || labels.loss == TreeLoss::probit;
  Vector mass = Vector::Zero(classes ? labels.classes : 1);
  for (Index i = 0; i < labels.y.size(); ++i)
    mass[classes ? static_cast<Index>(labels.y[i]) : 0] +=
        labels.weight_of(i) * (labels.loss == TreeLoss::poisson ? labels.y[i] : 1);
  return mass.minCoeff() > 0;
}

void note_rare_levels(const char* who, const std::vector<TreeColumn>& columns, const Features& x,
                      const Context& context) {
  for (std::size_t j = 0; j < columns.size(); ++j)
    if (columns[j].rare > 0)
      context.note("{}: of column '{}' the {} most frequent categories are kept; {} rarer one{} as missing", who,
                   x.name(static_cast<Index>(j)), most_tree_bins, columns[j].rare,
                   columns[j].rare == 1 ? " counts" : "s count");
}

TreeOptions growth_of(const TreesOptions& options, const TrainView& view, bool strict) {
  TreeOptions growth;
  growth.shape = options.shape;
  growth.rate = options.rate;
  growth.depth = options.depth;
  growth.lam = options.lam;
  growth.min_rows = options.min_rows;
  growth.min_hessian = std::max(options.min_hessian, least_hessian);
  growth.min_gain = options.min_gain;
  growth.min_domains = options.min_domains;
  growth.splits = options.splits;
  growth.rho = options.rho;
  growth.agree = options.agree;
  growth.cat_one_hot = options.cat_one_hot;
  growth.cat_smooth = options.cat_smooth;
  growth.cat_min_rows = options.cat_min_rows;
  growth.cat_lam = options.cat_lam;
  growth.cat_most = options.cat_most;
  growth.rows = options.rows;
  growth.cols = options.cols;
  growth.gamma = options.gamma;
  growth.monotone = directions_of(options.monotone, view, strict);
  const bool by_domain = DomainSplits::needed(growth), symmetric = options.shape == TreeShape::symmetric;
  const bool monotone = !growth.monotone.empty(), anchored = options.gamma != 1;
  refuse_together(by_domain && symmetric, "splits and min_domains", "shape=symmetric");
  refuse_together(monotone && symmetric, "monotone", "shape=symmetric");
  refuse_together(monotone && by_domain, "monotone", "splits and min_domains");
  refuse_together(monotone && anchored, "monotone", "gamma");
  refuse_together(monotone && (options.loss == TreesLoss::absolute || options.loss == TreesLoss::quantile), "monotone",
                  "loss=absolute and loss=quantile");
  refuse_together(monotone && view.y.classes.size() > 2, "monotone", "more than two classes");
  return growth;
}

}  // namespace ecotone
