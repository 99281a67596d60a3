#include "ecotone/methods/cross_fit.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "ecotone/base/error.h"
#include "ecotone/data/groups.h"
#include "ecotone/methods/model.h"

namespace ecotone {

namespace {

/// Labelled rows of each domain.
std::vector<Index> labelled_counts(const TrainView& view) {
  std::vector<Index> counts(view.domain.names.size(), 0);
  for (Index i = 0; i < view.labelled(); ++i) ++counts[at(view.domain.index[at(i)])];
  return counts;
}

Index domains_of(const std::vector<Index>& counts) {
  return std::ranges::count_if(counts, [](Index count) { return count > 0; });
}

/// The groups of the labelled rows; empty: each row stands alone.
std::span<const std::int32_t> labelled_groups(const TrainView& view) {
  const std::span<const std::int32_t> all(view.group);
  const auto own = all.first(std::min(all.size(), at(view.labelled())));
  return share_groups(own) ? own : std::span<const std::int32_t>{};
}

/// How many parts of the labelled rows can be held out on their own.
Index part_count(const TrainView& view) {
  const auto group = labelled_groups(view);
  return group.empty() ? view.labelled() : group_count(group);
}

/// The fold of each domain; -1 for domains without labelled rows.
std::vector<Index> deal_domains(const std::vector<Index>& counts, Index folds) {
  std::vector<Index> order;
  for (std::size_t d = 0; d < counts.size(); ++d)
    if (counts[d] > 0) order.push_back(static_cast<Index>(d));
  std::vector<Index> fold(counts.size(), -1);
  if (static_cast<Index>(order.size()) <= folds) {
    for (std::size_t k = 0; k < order.size(); ++k) fold[at(order[k])] = static_cast<Index>(k);
    return fold;
  }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return counts[at(a)] > counts[at(b)]; });
  std::vector<Index> rows(at(folds), 0);
  for (const Index domain : order) {
    const auto smallest = std::min_element(rows.begin(), rows.end());
    *smallest += counts[at(domain)];
    fold[at(domain)] = smallest - rows.begin();
  }
  return fold;
}

/// The fold of each labelled row: the shuffled rows of a class go to the folds in turn, and the next class continues
/// where the last one stopped. Groups are dealt whole.
std::vector<Index> deal_rows(const TrainView& view, Index folds, const Context& context) {
  const bool classes = view.y.task == Task::classify;
  if (const auto group = labelled_groups(view); !group.empty()) {
    const std::vector<std::int32_t> one(group.size(), 0);
    return deal_groups(group, classes ? view.y.index : one, folds, context.random("inner-folds of groups"));
  }
  std::vector<std::vector<Index>> strata(classes ? view.y.classes.size() : 1);
  for (Index i = 0; i < view.labelled(); ++i) strata[classes ? at(view.y.index[at(i)]) : 0].push_back(i);
  std::vector<Index> fold(at(view.labelled()));
  Index next = 0;
  for (std::size_t c = 0; c < strata.size(); ++c) {
    Random random = context.random("inner-folds", c);
    for (const Index k : random.permutation(static_cast<Index>(strata[c].size()))) {
      fold[at(strata[c][at(k)])] = next++ % folds;
    }
  }
  return fold;
}

/// `partner_fold`: the fold of each row's partner, for which the row is not used in training; -1 or empty: none.
std::vector<InnerFold> folds_of(const std::vector<Index>& fold_of, Index folds,
                                const std::vector<Index>& partner_fold = {}) {
  std::vector<InnerFold> result(at(folds));
  for (std::size_t i = 0; i < fold_of.size(); ++i) {
    for (Index f = 0; f < folds; ++f) {
      InnerFold& fold = result[at(f)];
      if (f == fold_of[i]) {
        fold.held.push_back(static_cast<Index>(i));
      } else if (partner_fold.empty() || partner_fold[i] != f) {
        fold.train.push_back(static_cast<Index>(i));
      }
    }
  }
  return result;
}

}  // namespace

Index inner_fold_count(const TrainView& view, Index most) {
  const Index domains = domains_of(labelled_counts(view));
  if (domains > 1) return std::min(most, domains);
  const Index parts = part_count(view);
  return parts < 2 ? 0 : std::min({most, parts, most_row_folds});
}

std::vector<InnerFold> inner_folds(const TrainView& view, const Context& context, Index most) {
  if (most < 2) internal_error("{} inner folds hold nothing out", most);
  const std::vector<Index> counts = labelled_counts(view);
  const Index folds = inner_fold_count(view, most);
  if (folds == 0) return {};
  if (domains_of(counts) == 1) return folds_of(deal_rows(view, folds, context), folds);
  const std::vector<Index> of_domain = deal_domains(counts, folds);
  std::vector<Index> fold_of, partner_fold;
  for (Index i = 0; i < view.labelled(); ++i) {
    fold_of.push_back(of_domain[at(view.domain.index[at(i)])]);
    const std::int32_t partner = view.domain.partner_of(i);
    partner_fold.push_back(partner < 0 ? -1 : of_domain[at(partner)]);
  }
  std::vector<InnerFold> result = folds_of(fold_of, folds, partner_fold);
  const auto group = labelled_groups(view);
  for (InnerFold& fold : result) fold.train = without_groups_of(fold.held, std::move(fold.train), group);
  return result;
}

std::vector<InnerFold> row_folds(const TrainView& view, Index folds, const Context& context) {
  if (folds < 2) internal_error("{} folds of rows hold nothing out", folds);
  const Index parts = part_count(view);
  if (parts < 2) return {};
  folds = std::min(folds, parts);
  return folds_of(deal_rows(view, folds, context), folds);
}

TrainView view_of_rows(const TrainView& view, std::span<const Index> labelled_rows) {
  std::vector<Index> targets(at(view.x.rows() - view.labelled()));
  std::iota(targets.begin(), targets.end(), view.labelled());
  return view_of_rows(view, labelled_rows, targets);
}

TrainView view_of_rows(const TrainView& view, std::span<const Index> labelled_rows,
                       std::span<const Index> unlabelled_rows) {
  std::vector<Index> rows(labelled_rows.begin(), labelled_rows.end());
  for (const Index row : rows) {
    if (row < 0 || row >= view.labelled()) internal_error("row {} of {} labelled rows", row, view.labelled());
  }
  TrainView result;
  result.y = view.y.take(rows);
  drop_unused_classes(result.y);
  if (view.weight.size() > 0) {
    result.weight.resize(static_cast<Index>(rows.size()));
    for (std::size_t i = 0; i < rows.size(); ++i) result.weight[static_cast<Index>(i)] = view.weight[rows[i]];
  }
  const std::size_t labelled = rows.size();
  rows.insert(rows.end(), unlabelled_rows.begin(), unlabelled_rows.end());
  result.x = view.x.take(rows);
  result.origin = take_origin(view.origin, rows);
  result.group = take_groups(view.group, rows);
  result.domain = view.domain.take(rows);
  result.role.assign(result.domain.names.size(), Role::target);
  for (std::size_t i = 0; i < labelled; ++i) result.role[at(result.domain.index[i])] = Role::source;
  result.kernel_coordinates = view.kernel_coordinates;
  result.categories = view.categories;
  return result;
}

std::vector<Index> weighted_rows(const TrainView& view) {
  std::vector<Index> rows;
  for (Index i = 0; i < view.labelled(); ++i)
    if (view.weight_of(i) != 0) rows.push_back(i);
  return rows;
}

TrainView rows_with_weight(const char* who, const TrainView& view) {
  const std::vector<Index> kept = weighted_rows(view);
  if (kept.empty() && view.labelled() > 0) data_error("zero_weights", "{}: all rows have weight 0", who);
  return std::ssize(kept) == view.labelled() ? view : view_of_rows(view, kept);
}

TrainView with_schema_names(TrainView view, const Schema& schema, const Context& context) {
  std::vector<std::string> names = schema.feature_names();
  if (schema.columns.empty() || view.x.names() == names) return view;
  std::vector<Index> columns(at(view.x.cols()));
  std::iota(columns.begin(), columns.end(), 0);
  view.x = view.x.columns(columns, std::move(names), context);
  return view;
}

namespace {

/// Names what a fold holds out, for messages: "domain 'a'", "domains 'a', 'b'", "fold 2 of 5".
std::string held_text(const TrainView& view, const InnerFold& fold, std::size_t number, std::size_t folds,
                      bool by_domain) {
  if (!by_domain) return fmt::format("fold {} of {}", number + 1, folds);
  const std::vector<std::string> names = view.domain.take(fold.held).names;
  return fmt::format("{} '{}'", names.size() == 1 ? "domain" : "domains", fmt::join(names, "', '"));
}

/// Whether the rows of positive weight have at least two classes.
bool has_two_classes(const TrainView& view) {
  std::set<std::int32_t> classes;
  for (Index i = 0; i < view.labelled(); ++i)
    if (view.weight_of(i) > 0) classes.insert(view.y.index[at(i)]);
  return classes.size() >= 2;
}

/// Small data are refitted on all threads at once; of large data one fit at a time is in memory.
constexpr double small_values = 2e6;

/// Out-of-fold results of all labelled rows, filled fold by fold.
class CrossFitter {
 public:
  CrossFitter(const Upstream& upstream, std::string_view who, const Context& context, const CrossFitOptions& options)
      : upstream_(upstream),
        who_(who),
        context_(context),
        options_(options),
        view_(with_schema_names(upstream.view, upstream.schema, context)) {
    const Index rows = view_.labelled();
    all_.fold.assign(at(rows), -1);
    if (!classes()) {
      all_.value = Vector::Zero(rows);
      all_.variance = Vector::Zero(rows);
      return;
    }
    const auto classes = view_.y.classes.size();
    all_.score = Matrix::Zero(rows, score_columns(classes));
    all_.probability = Matrix::Zero(rows, static_cast<Index>(classes));
    all_.known = CrossFit::Known::Constant(rows, static_cast<Index>(classes), false);
    all_.predicted.assign(at(rows), 0);
  }

  CrossFit run() {
    const Index domains = domains_of(labelled_counts(view_));
    const Index most = options_.most_folds == 0 ? std::max<Index>(2, domains) : options_.most_folds;
    all_.by_domain = domains > 1;
    std::vector<Fold> folds;
    std::vector<InnerFold> parts = inner_folds(view_, context_, most);
    for (std::size_t f = 0; f < parts.size(); ++f) {
      std::string held = held_text(view_, parts[f], f, parts.size(), all_.by_domain);
      Fold fold{std::move(parts[f]), f, std::move(held)};
      if (can_fit(fold)) folds.push_back(std::move(fold));
    }
    Progress progress(context_.observer(), "cross-fit", std::ssize(folds));
    std::vector<FoldFit> fits(folds.size());
    const double values = static_cast<double>(view_.x.rows()) * static_cast<double>(view_.x.cols());
    const auto fit_one = [&](Index f) {
      fits[at(f)] = fit(folds[at(f)]);
      progress.advance();
    };
    context_.parallel(std::ssize(folds), fit_one, values <= small_values ? 0 : 1);
    for (std::size_t f = 0; f < folds.size(); ++f) place(fits[f], folds[f].rows.held, static_cast<Index>(f));
    all_.folds = std::ssize(folds);
    report(fits);
    return rows_with_results();
  }

 private:
  struct Fold {
    InnerFold rows;
    std::size_t number;
    std::string held;
  };
  struct FoldFit {
    std::shared_ptr<const Model> model;
    bool converged = true;
    std::vector<std::string> classes;
    Prediction prediction;
  };

  const Upstream& upstream_;
  std::string_view who_;
  const Context& context_;
  CrossFitOptions options_;
  TrainView view_;
  CrossFit all_;

  bool classes() const { return view_.y.task == Task::classify; }

  /// Whether the fold's training rows can be learned from; says so if not.
  bool can_fit(const Fold& fold) const {
    if (fold.rows.train.empty()) return false;
    if (!classes()) return true;
    const TrainView part = view_of_rows(view_, fold.rows.train);
    if (!has_two_classes(part)) {
      context_.warn("fold_one_class", "{}: without {} all labelled rows have one class, so its {} rows are not used",
                    who_, fold.held, fold.rows.held.size());
      return false;
    }
    if (part.y.classes.size() < view_.y.classes.size()) {
      std::vector<std::string> lacking;
      std::ranges::set_difference(sorted(view_.y.classes), sorted(part.y.classes), std::back_inserter(lacking));
      context_.warn("fold_lacks_class",
                    "{}: without {} there is no labelled row of '{}', so its {} rows say nothing about it", who_,
                    fold.held, fmt::join(lacking, "', '"), fold.rows.held.size());
    }
    return true;
  }

  FoldFit fit(const Fold& fold) const {
    context_.check_cancelled();
    const TrainView part = view_of_rows(view_, fold.rows.train);
    const Context quiet = context_.derived("cross-fit", fold.number).observed_by(nullptr);
    const Batch batch{view_.x.take(fold.rows.held), view_.domain.take(fold.rows.held)};
    try {
      // A cache of its own, because cached results belong to the rows of one fit.
      FitCache cache;
      Model model = Model::fit(upstream_.pipeline, part, upstream_.schema, quiet, cache);
      FoldFit fit{nullptr, std::ranges::all_of(model.statuses(), &Status::converged), part.y.classes,
                  model.predict(batch, quiet)};
      if (options_.keep_models) fit.model = std::make_shared<const Model>(std::move(model));
      return fit;
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::data) throw;
      throw Error(ErrorKind::data, error.code(),
                  fmt::format("{}: fitted without {}: {}", who_, fold.held, error.what()));
    }
  }

  void report(const std::vector<FoldFit>& fits) const {
    if (all_.folds == 0) {
      data_error("no_cross_fit", "{}: no rows {}remain when {} held out; label more rows, {}or drop {}", who_,
                 classes() ? "of two classes " : "", all_.by_domain ? "a domain is" : "some rows are",
                 all_.by_domain ? "omit the domain column so that rows are held out instead, " : "", who_);
    }
    const auto failed = std::ranges::count(fits, false, &FoldFit::converged);
    if (failed > 0) context_.warn("not_converged", "{}: {} of {} refits did not converge", who_, failed, all_.folds);
  }

  static std::vector<std::string> sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
  }

  /// Writes a fold's predictions to the positions of its rows and classes in the view.
  void place(FoldFit& fit, const std::vector<Index>& held, Index number) {
    for (const Index row : held) all_.fold[at(row)] = number;
    if (options_.keep_models) all_.models.push_back(std::move(fit.model));
    if (classes()) return place_classes(fit.prediction, fit.classes, held);
    const bool sure = fit.prediction.variance.size() > 0;
    for (std::size_t i = 0; i < held.size(); ++i) {
      const auto from = static_cast<Index>(i);
      all_.value[held[i]] = fit.prediction.value[from];
      if (sure && all_.variance.size() > 0) all_.variance[held[i]] = fit.prediction.variance[from];
    }
    if (!sure) all_.variance.resize(0);
  }

  void place_classes(const Prediction& prediction, const std::vector<std::string>& classes,
                     const std::vector<Index>& held) {
    Matrix score = decision_scores(prediction);
    if (score.cols() != score_columns(classes.size()))
      internal_error("{} scores of {} classes", score.cols(), classes.size());
    const bool binary = view_.y.classes.size() == 2;
    if (!binary && score.cols() == 1) {
      // Two of several classes: s_0 = -s / 2 and s_1 = s / 2, whose difference is s.
      Matrix both(score.rows(), 2);
      both << -0.5 * score, 0.5 * score;
      score = std::move(both);
    }
    std::vector<Index> column;
    for (const std::string& name : classes)
      column.push_back(std::ranges::find(view_.y.classes, name) - view_.y.classes.begin());
    for (std::size_t i = 0; i < held.size(); ++i) {
      const Index row = held[i];
      const auto from = static_cast<Index>(i);
      all_.score.row(row).setConstant(unknown_score);
      all_.predicted[at(row)] = static_cast<std::int32_t>(column[at(prediction.index[i])]);
      for (std::size_t c = 0; c < column.size(); ++c) {
        all_.known(row, column[c]) = true;
        all_.probability(row, column[c]) = prediction.probability(from, static_cast<Index>(c));
        if (!binary) all_.score(row, column[c]) = score(from, static_cast<Index>(c));
      }
      if (binary) all_.score(row, 0) = score(from, 0);
    }
  }

  CrossFit rows_with_results() {
    for (Index i = 0; i < view_.labelled(); ++i)
      if (all_.fold[at(i)] >= 0) all_.rows.push_back(i);
    if (std::ssize(all_.rows) == view_.labelled()) return std::move(all_);
    std::vector<Index> fold;
    for (const Index row : all_.rows) fold.push_back(all_.fold[at(row)]);
    all_.fold = std::move(fold);
    if (!classes()) {
      all_.value = Vector(all_.value(all_.rows));
      if (all_.variance.size() > 0) all_.variance = Vector(all_.variance(all_.rows));
      return std::move(all_);
    }
    std::vector<std::int32_t> predicted;
    for (const Index row : all_.rows) predicted.push_back(all_.predicted[at(row)]);
    all_.predicted = std::move(predicted);
    all_.score = Matrix(all_.score(all_.rows, Eigen::all));
    all_.probability = Matrix(all_.probability(all_.rows, Eigen::all));
    all_.known = CrossFit::Known(all_.known(all_.rows, Eigen::all));
    return std::move(all_);
  }
};

}  // namespace

CrossFit cross_fit(const Upstream& upstream, std::string_view who, const Context& context,
                   const CrossFitOptions& options) {
  return CrossFitter(upstream, who, context, options).run();
}

}  // namespace ecotone
