#include "ecotone/trust/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/data/categories.h"
#include "ecotone/evaluate/adapting.h"
#include "ecotone/evaluate/messages.h"
#include "ecotone/evaluate/split_fits.h"
#include "ecotone/measure/metrics.h"
#include "ecotone/solve/linear/loss.h"
#include "ecotone/solve/ratios/density_ratio.h"
#include "ecotone/trust/disagreement.h"

namespace ecotone {
namespace {

constexpr double fewest_effective_rows = 30;
constexpr double nearly_separated = 0.95;
constexpr double clip = 1e-6;  // of the probability to be of the target
constexpr Index folds = 5;
constexpr double clear = 2;  // standard errors beyond which a part is there

bool is_labelled(const Dataset& data, Index row) {
  return !data.y->missing(row) && (data.weight.size() == 0 || data.weight[row] != 0);
}

/// Labelled rows of a data set with one target, and what a model that has not seen them loses on each.
struct LostRows {
  std::vector<Index> source, target;
  Vector source_loss, target_loss;
  Index domains = 0;
};

double loss_of(const Outcome& outcome, Index local, const Labels& y, RowLoss loss) {
  const Index row = outcome.rows[at(local)];
  if (y.task == Task::regress) return std::pow(y.value[row] - outcome.value[local], 2);
  const std::int32_t truth = y.index[at(row)];
  if (loss == RowLoss::error) return outcome.predicted[at(local)] == truth ? 0 : 1;
  const std::vector<std::int32_t> one = {truth};
  const Matrix p = outcome.probability.row(local);
  if (loss == RowLoss::log_loss) return log_losses(one, p).front();
  return brier_sums(one, p).front() / (p.cols() == 2 ? 2 : 1);
}

/// The splits whose models have not seen the rows: without every source domain in turn, or folds of rows of a single
/// one; the last is for the target.
std::vector<Split> explained_splits(const Dataset& data, const std::vector<Index>& sources,
                                    const std::vector<Index>& target, bool adapting, const Context& context) {
  std::vector<Split> splits;
  std::vector<bool> is_source(at(data.rows()), false);
  for (const Index row : sources) is_source[at(row)] = true;
  std::vector<Index> domains;
  for (const Index row : sources) domains.push_back(data.domain.index[at(row)]);
  std::ranges::sort(domains);
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  if (domains.size() > 1) {
    for (const Index domain : domains) splits.push_back(split_without(places_of(data), {domain}));
  } else {
    RowPlaces places = places_of(data);
    EvaluateOptions k_fold;
    k_fold.protocol = Protocol::k_fold;
    splits = make_splits(places, k_fold, context);
  }
  for (Split& split : splits) {
    std::erase_if(split.source, [&](Index row) { return !is_source[at(row)]; });
    std::erase_if(split.held_out, [&](Index row) { return !is_source[at(row)]; });
    if (adapting) split.target = split.held_out;
  }
  std::erase_if(splits, [](const Split& split) { return split.held_out.empty() || split.source.empty(); });
  Split whole;
  whole.name = "the target";
  whole.source = sources;
  whole.held_out = target;
  if (adapting) whole.target = target;
  splits.push_back(std::move(whole));
  return splits;
}

LostRows lost_rows(const Dataset& data, Index target, const Pipeline& pipeline, RowLoss loss, Journal* journal,
                   const Context& context) {
  std::vector<Index> sources, own;
  std::vector<bool> seen(data.domain.names.size(), false);
  for (Index row = 0; row < data.rows(); ++row) {
    if (!is_labelled(data, row)) continue;
    if (data.domain.index[at(row)] == target) own.push_back(row);
    if (data.role_of(row) == Role::source) sources.push_back(row);
  }
  LostRows rows;
  for (const Index row : sources) seen[at(data.domain.index[at(row)])] = true;
  rows.domains = std::ranges::count(seen, true);
  if (sources.empty()) data_error("no_labels", "explain: no row of a source domain has a label");
  if (own.empty())
    data_error("no_labels", "explain: no row of '{}' has a label, and without some its loss is not known",
               data.domain.names[at(target)]);
  const std::vector<Split> splits = explained_splits(data, sources, own, adapts(pipeline), context);
  EvaluateOptions options;
  options.journal = journal;
  ProgressOnly progress(context.observer(), "explain");
  auto fits =
      fit_splits(data, {{pipeline.text(), {pipeline}}}, splits, options, context.observed_by(&progress)).front();
  std::vector<std::pair<Index, double>> of_source, of_target;
  for (std::size_t s = 0; s < splits.size(); ++s) {
    if (fits[s].error) throw Error(*fits[s].error);
    const Outcome& outcome = fits[s].outcome;
    for (std::size_t i = 0; i < outcome.rows.size(); ++i)
      (s + 1 == splits.size() ? of_target : of_source)
          .emplace_back(outcome.rows[i], loss_of(outcome, static_cast<Index>(i), *data.y, loss));
  }
  const auto take = [](std::vector<std::pair<Index, double>>& from, std::vector<Index>& row, Vector& value) {
    std::ranges::sort(from);
    value.resize(std::ssize(from));
    for (std::size_t i = 0; i < from.size(); ++i) {
      row.push_back(from[i].first);
      value[static_cast<Index>(i)] = from[i].second;
    }
  };
  take(of_source, rows.source, rows.source_loss);
  take(of_target, rows.target, rows.target_loss);
  return rows;
}

/// P(target | x) of both samples by a classifier that has not seen the row, and how well it separates them.
struct Membership {
  Vector source, target;
  double auroc = 0;
};

std::optional<Membership> membership(const Dataset& compared, const LostRows& rows, const Context& context) {
  const Features x = compared_rows(compared, rows.source, compared.x.take(rows.target), context);
  const Index sources = std::ssize(rows.source);
  Groups group = take_groups(compared.group, rows.source);
  for (const std::int32_t g : take_groups(compared.group, rows.target)) group.push_back(g);
  const auto held = held_out_scores(x, sources, {.squares = true, .who = "explain", .group = group}, folds, context);
  if (!held) return std::nullopt;
  Vector pi(held->score.size());
  for (Index i = 0; i < pi.size(); ++i) pi[i] = std::clamp(sigmoid(-held->score[i]), clip, 1 - clip);
  return Membership{pi.head(sources), pi.tail(pi.size() - sources), separation(*held, sources)};
}

void refuse(Explanation& result, std::string code, std::string why) {
  result.error_code = std::move(code);
  result.error = std::move(why);
  result.divisible = false;
}

Explanation explain_one(const Dataset& data, const Dataset& compared, Index target, const Pipeline& pipeline,
                        RowLoss loss, Journal* journal, const Context& context) {
  Explanation result{.pipeline = pipeline.text(), .target = data.domain.names[at(target)], .loss = loss};
  const LostRows rows = lost_rows(data, target, pipeline, loss, journal, context);
  result.source_rows = std::ssize(rows.source);
  result.target_rows = std::ssize(rows.target);
  result.domains = rows.domains;
  const auto member = membership(compared, rows, context.observed_by(nullptr));
  if (!member) {
    refuse(result, "too_few_rows", "a sample of a single row or group cannot be compared");
    return result;
  }
  result.auroc = member->auroc;
  LossShift shift = loss_shift({member->source, rows.source_loss}, {member->target, rows.target_loss});
  if (shift.source_rows < fewest_effective_rows || shift.target_rows < fewest_effective_rows) {
    refuse(result, "no_overlap",
           fmt::format("rows that both sides could have are worth only {:.1f} rows of the sources and {:.1f} of the "
                       "target; at least {:g} of each are needed",
                       shift.source_rows, shift.target_rows, fewest_effective_rows));
    result.shift = std::move(shift);
    return result;
  }
  result.divisible = member->auroc < nearly_separated;
  result.shift = std::move(shift);
  find_disagreement(result, compared, {rows.source, rows.source_loss, result.shift->source_weight},
                    {rows.target, rows.target_loss, result.shift->target_weight});
  return result;
}

}  // namespace

LossPart Explanation::part() const {
  if (!shift || !divisible || !costs()) return LossPart::neither;
  const double x = shift->x_source_to_shared() + shift->x_shared_to_target();
  const double x_error = std::hypot(shift->x_source_to_shared_error, shift->x_shared_to_target_error);
  const double y = shift->y_given_x();
  const bool rows = x > clear * x_error, relation = y > clear * shift->y_given_x_error;
  const LossPart of_rows =
      shift->x_shared_to_target() > 2 * shift->x_source_to_shared() ? LossPart::new_rows : LossPart::rows;
  if (rows && relation) return 3 * x < y ? LossPart::relation : 3 * y < x ? of_rows : LossPart::both;
  // A part that exceeds its noise need not be most of the whole.
  if (rows) return 2 * x > shift->total() ? of_rows : LossPart::both;
  if (relation) return 2 * y > shift->total() ? LossPart::relation : LossPart::both;
  return LossPart::neither;
}

bool Explanation::costs() const { return shift && shift->total() > clear * shift->total_error; }

std::string Explanation::advice() const {
  if (!error_code.empty() || !divisible) {
    if (auroc && *auroc >= nearly_separated)
      return "Source and target can be told apart almost everywhere, so nobody can say whether other rows or another "
             "relation of labels to features cost the difference; label rows of the target.";
    return "There are too few labelled rows that both sides could have, so nobody can say whether other rows or "
           "another relation of labels to features cost the difference; label more rows of the target.";
  }
  switch (part()) {
    case LossPart::rows:
      return "Other rows explain most of it: weight source rows to the target (weight.logistic, with --guard), or "
             "collect more rows like the target's.";
    case LossPart::new_rows:
      return "Rows that the sources hardly have explain most of it, so weighting source rows cannot help: look for "
             "other "
             "units and codings first (ecotone diagnose), then label rows of the target.";
    case LossPart::relation:
      return "Most of it is that labels follow from features in another way there: label rows of the target and fit "
             "with them (ecotone label, refit). No method without labels helps.";
    case LossPart::both:
      return "Other rows and another relation both explain part of it: more rows like the target's help with one, only "
             "labels of the target with the other.";
    case LossPart::neither:
      break;
  }
  if (costs()) return "Neither part exceeds its noise; more labelled rows of the target would tell.";
  return shift->total() > 0 ? "The target does not cost anything beyond noise."
                            : "The target does not cost more than the sources.";
}

std::vector<Explanation> explain_targets(const Dataset& data, const Pipeline& pipeline, const ExplainOptions& options,
                                         const Context& context) {
  if (!pipeline.predicts())
    option_error("no_learner", "explain: \"{}\" does not end in a learner, so it loses nothing", pipeline.text());
  if (!data.y) data_error("no_labels", "explain: the data have no label column; name it with --label");
  if (!data.has_target()) data_error("no_target", "explain: name the domain that does worse with --target");
  const RowLoss asked = loss_by_name(options.loss);
  const RowLoss loss = asked != RowLoss::automatic      ? resolved(asked, data.y->task)
                       : data.y->task == Task::classify ? RowLoss::error
                                                        : RowLoss::squared;
  if (data.weight.size() > 0) context.note("explain: row weights are not used, but that rows of weight 0 are left out");
  const Dataset compared = levels_to_compare(data, context.observed_by(nullptr));
  std::vector<Explanation> results;
  for (std::size_t d = 0; d < data.domain.names.size(); ++d)
    if (data.role[d] == Role::target)
      results.push_back(explain_one(data, compared, static_cast<Index>(d), pipeline, loss, options.journal,
                                    context.derived("explain", d)));
  return results;
}

}  // namespace ecotone
