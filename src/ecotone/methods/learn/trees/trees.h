#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ecotone/methods/method.h"
#include "ecotone/solve/paths/means.h"
#include "ecotone/solve/trees/boosted.h"

namespace ecotone {

/// What trees minimise; automatic: logistic or softmax for classes, squared errors for numbers.
/// The others are those of TreeLoss, in the same order.
enum class TreesLoss { automatic, logistic, softmax, probit, squared, poisson, absolute, quantile };
/// What is left out to choose rounds and leaves; automatic: domains where there are at least ten.
enum class TreesStop { automatic, rows, domains };

/// Options of trees.
struct TreesOptions {
  AutoNumber rounds;
  AutoNumber leaves;
  double rate = 0.1;
  TreeShape shape = TreeShape::leafwise;
  int depth = 0;
  double lam = 1;
  int min_rows = 10;
  TreesLoss loss = TreesLoss::automatic;
  double tau = 0.5;
  TreesStop stop = TreesStop::automatic;
  std::vector<std::string> monotone;
  SplitRule splits = SplitRule::pooled;
  double agree = 0.75;
  double rho = 0.5;
  int min_domains = 1;
  double gamma = 1;
  GroupShares domain_weights = GroupShares::pooled;
  double rows = 1;
  double cols = 1;
  double min_hessian = 1e-3;
  double min_gain = 0;
  int max_bins = most_tree_bins;
  int cat_one_hot = 4;
  double cat_smooth = 10;
  int cat_min_rows = 10;
  double cat_lam = 10;
  int cat_most = 32;

  static constexpr auto fields() {
    using O = TreesOptions;
    constexpr double many = 1e9;
    return std::tuple{
        field("rounds", &O::rounds, "Rounds of trees; auto: where the loss on left-out rows is least, at most 300",
              between(1, 1e6)),
        field("leaves", &O::leaves,
              "Leaves of a tree; auto: 4 or 15 (symmetric: 16), whichever has the lower loss on left-out rows",
              between(2, 65536)),
        field("rate", &O::rate, "Factor of every leaf's value: smaller ones need more rounds", between(1e-6, 1)),
        field("shape", &O::shape,
              "leafwise: the leaf that gains most is split next; symmetric: one split for all leaves of a level",
              one_of("leafwise", "symmetric")),
        field("depth", &O::depth, "Most splits above a leaf; 0: no limit", between(0, 1000)),
        field("lam", &O::lam, "Penalty of a leaf's value: added to the sum of second derivatives", at_least(0.0)),
        field("min_rows", &O::min_rows, "Fewest rows of a leaf", between(1, many)),
        field("loss", &O::loss,
              "auto: logistic for two classes, softmax for more, squared for numbers; probit is for two classes, "
              "poisson, "
              "absolute and quantile are for numbers",
              one_of("auto", "logistic", "softmax", "probit", "squared", "poisson", "absolute", "quantile")),
        field("tau", &O::tau, "loss=quantile: the share of labels below the prediction", between(0.001, 0.999)),
        field("stop", &O::stop,
              "What is left out to choose rounds and leaves: rows, or whole domains; auto: domains if there are ten",
              one_of("auto", "rows", "domains")),
        field("monotone", &O::monotone, "Columns that scores must rise or fall with, such as age:+1,dose:-1",
              shown_as("COLUMN:+1,..")),
        field("splits", &O::splits,
              "How domains judge a split. pooled: not at all; agree: a share of them must have its sign; vote: a share "
              "must gain; steady: its gain less rho times the spread over domains",
              one_of("pooled", "agree", "vote", "steady")),
        field("agree", &O::agree, "splits=agree and vote: the share of domains", between(0.0, 1.0)),
        field("rho", &O::rho, "splits=steady: how much the spread counts", at_least(0.0)),
        field("min_domains", &O::min_domains, "Fewest domains with rows in a leaf", between(1, 1e6)),
        field("gamma", &O::gamma,
              "Anchor boosting: not 1 weighs the domains' mean gradients, so that no domain's errors point one way; "
              "for squared errors and probit",
              between(1e-6, 1e6)),
        field("domain_weights", &O::domain_weights, "Whether domains count equally or by their rows",
              one_of("equal", "pooled")),
        field("rows", &O::rows, "Share of the rows that each tree is grown on", between(0.01, 1)),
        field("cols", &O::cols, "Share of the columns that each tree may split", between(0.01, 1)),
        common_field("min_hessian", &O::min_hessian, "Smallest sum of second derivatives in a leaf", at_least(0.0)),
        common_field("min_gain", &O::min_gain, "A split must gain more than this", at_least(0.0)),
        common_field("max_bins", &O::max_bins, "Most bins of a column", between(2, most_tree_bins)),
        common_field("cat_one_hot", &O::cat_one_hot, "Up to so many categories in a node, one is split from the rest",
                     between(0, most_tree_bins)),
        common_field("cat_smooth", &O::cat_smooth, "Added to the second derivatives that sort categories",
                     at_least(0.0)),
        common_field("cat_min_rows", &O::cat_min_rows, "Fewest rows of a category that a set may hold",
                     between(1, many)),
        common_field("cat_lam", &O::cat_lam, "Added to lam in the gains of sets of categories", at_least(0.0)),
        common_field("cat_most", &O::cat_most, "Most categories of a set", between(1, most_tree_bins))};
  }
};

/// How rounds and leaves were chosen.
struct TreesChoice {
  int leaves = 15;
  Index rounds = 100;
  std::string left_out;        ///< "rows" or "domains"; empty: nothing was chosen
  Index folds = 0;             ///< that were left out in turn
  std::vector<int> tried;      ///< numbers of leaves
  std::vector<Vector> curves;  ///< of each: the loss on what was left out after every round
};

/// Boosted trees on histograms.
class Trees : public Fitted {
 public:
  static StageResult fit(const TrainView& view, const TreesOptions& options, const Context& context, FitCache& cache);
  /// The same with the stages before it refitted in the folds that choose rounds and leaves, if that is affordable.
  static StageResult fit_refitting(const TrainView& view, const Refits& refits, const TreesOptions& options,
                                   const Context& context);
  static std::shared_ptr<const Fitted> load(const StageState& state, const TreesOptions& options,
                                            const StageInput& input);

  Prediction predict(const Batch& batch, const Context& context) const override;
  Matrix contributions(const Batch& batch, const Context& context) const override;
  std::shared_ptr<const Fitted> refitted(const TrainView& view, double strength, const Context& context) const override;
  StageState save() const override;

 private:
  TreeLoss loss_ = TreeLoss::squared;
  double rate_ = 0.1;
  bool monotone_ = false;  ///< whether some column is
  BoostedTrees model_;
  std::vector<TreeColumn> columns_;  ///< levels of categories; the edges of numbers are in the trees
  TreesChoice choice_;
  Vector importance_;         ///< sums of gains by column
  Matrix domain_importance_;  ///< by domain and column
  std::vector<std::string> domains_;
};

/// The labels of a view as trees learn them. Data errors `one_class`, `needs_numbers`, `needs_classes`,
/// `negative_label` and `zero_weights`.
TreeLabels tree_labels(const TrainView& view, const TreesOptions& options, const Context& context);

/// The weights of the labelled rows; empty: all 1. equal: domains have the same total, and all together what they had.
Vector tree_weights(const TrainView& view, GroupShares shares);

/// Data error `negative_label` for a Poisson loss.
void require_counts(const TreeLabels& labels, const TrainView& view);

/// Data error `too_large` where sums of derivatives, which `gamma` may multiply, or their squares may not be finite.
void require_summable(const char* who, const TreeLabels& labels, double gamma = 1);

/// Warns (`labels_span`) of squared errors where a few labels are so far from the others that the integers of the
/// derivatives do not tell the others apart. Rows of weight 0 do not count.
void warn_labels_span(const char* who, const char* advice, const TreeLabels& labels, const Context& context);

/// Whether there is something to learn from: every class has weight, and some count of a Poisson model is above 0.
bool can_start(const TreeLabels& labels);

/// Notes columns of so many categories that rarer ones may count as missing.
void note_rare_levels(const char* who, const std::vector<TreeColumn>& columns, const Features& x,
                      const Context& context);

/// What the options say of a tree's growth, for the columns of a view. `strict`: a column of `monotone` must be there;
/// in a fold it may not be.
TreeOptions growth_of(const TreesOptions& options, const TrainView& view, bool strict = true);

/// The round after which a curve is least, counted from 1; ties: the first.
Index least_round(const Vector& curve);

/// Chooses what is `auto` by the loss on left-out rows.
TreesChoice choose_trees(const TrainView& view, const TreeLabels& labels, const Refits& refits,
                         const TreesOptions& options, const Context& context);

}  // namespace ecotone
